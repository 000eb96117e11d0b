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
	limited := 0
	for i := range 300 { // short ones count too, after some dozens
		if got := w.call("GET", "/v1/datasets", "ben", ""); got.status == 429 {
			limited++
		} else if got.status != 200 {
			t.Errorf("request %d: %d", i, got.status)
		}
		if i < 150 && limited > 0 {
			t.Fatalf("request %d was one too many", i)
		}
	}
	if limited == 0 {
		t.Error("nobody was told to wait")
	}
}
