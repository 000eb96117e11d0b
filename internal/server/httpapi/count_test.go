package httpapi

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/server/admission"
)

// Requests are counted by their length before they are read, also those that wait for no turn: who
// sends long ones all the time is told when to come again, and nobody else is. An owner never is.
func TestRequestsAreCounted(t *testing.T) {
	w := newWorld(t)
	w.door.Dispatcher = admission.New(w.db, admission.Options{Patience: -1})
	rows := `{"rows": [` + strings.Repeat(`{"a": 1}, `, 90_000) + `{"a": 1}]}`
	for _, user := range []string{"ana", "olga"} {
		statuses := map[int]int{}
		for range 8 {
			got := w.call("POST", "/v1/models/none/predict", user, rows)
			statuses[got.status]++
			if got.status == 429 && (got.get("kind") != "limit" || got.get("spent") != false || got.header.Get("Retry-After") == "") {
				t.Error(got.body)
			}
		}
		if limited := statuses[429] > 0; limited != (user == "ana") || statuses[404] == 0 || len(statuses) > 2 {
			t.Errorf("%s: %v", user, statuses)
		}
	}
	w.want(w.call("GET", "/v1/datasets", "ben", ""), 200)
}
