package httpapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestBudgetRequests: an analyst asks for more budget, sees what becomes of it, and nobody else's
// requests; the owner sees them all, declines one, and grants the other by a top-up; and whoever is
// to be told is told of each.
func TestBudgetRequests(t *testing.T) {
	w := troubled(t)
	key := w.ownerKey()
	var told []string
	w.configure(func(o *Options) {
		o.Notify = func(event any) {
			text, err := json.Marshal(event)
			must(t, err)
			told = append(told, string(text))
		}
	})
	const at = "/v1/datasets/hospital/requests"
	ask := func(who, epsilon string) reply {
		return w.call("POST", at, who, fmt.Sprintf(`{"epsilon": %q, "reason": "a <b>revision</b>"}`, epsilon))
	}
	first := w.want(ask("ana", "0.25"), 201).get("id").(string)
	second := w.want(ask("ana", "0.5"), 201).get("id").(string)
	third := w.want(ask("ana", "1"), 201).get("id").(string)
	if got := w.want(ask("ana", "1"), 409); got.get("kind") != "limit" {
		t.Error(got.body)
	}
	bens := w.want(ask("ben", "0.1"), 201).get("id").(string)
	w.want(ask("cy", "0.1"), 404)
	w.want(ask("olga", "0.1"), 404)
	for _, wrong := range []string{`{"epsilon":"0","reason":"x"}`, `{"epsilon":"-1","reason":"x"}`, `{"epsilon":"x","reason":"x"}`,
		`{"epsilon":"1","reason":" "}`, `{"epsilon":"1","reason":"a\nb"}`, `{"epsilon":"1"}`, `{"reason":"x"}`} {
		w.want(w.call("POST", at, "ben", wrong), 422)
	}
	for who, sees := range map[string][]string{"ana": {first, second, third}, "ben": {bens}, "cy": nil,
		"olga": {first, second, third, bens}} {
		all := w.want(w.call("GET", "/v1/requests", who, ""), 200).body
		for _, id := range []string{first, second, third, bens} {
			if strings.Contains(all, id) != strings.Contains(strings.Join(sees, " "), id) {
				t.Errorf("%s sees %s", who, all)
			}
		}
	}
	w.want(w.call("DELETE", "/v1/requests/"+bens, "ana", ""), 404)
	w.want(w.call("DELETE", "/v1/requests/"+third, "ana", ""), 204)
	w.want(w.call("POST", "/v1/requests/"+first+"/decline", "ana", `{"reason":"mine"}`), 403)
	no := w.want(w.call("POST", "/v1/requests/"+first+"/decline", "olga", `{"reason":"ask next month"}`), 200)
	if no.get("state") != "declined" || no.get("answer") != "ask next month" || no.get("closed") == nil {
		t.Error(no.body)
	}
	w.want(w.call("POST", "/v1/requests/"+first+"/decline", "olga", `{"reason":"again"}`), 409)
	w.want(w.call("POST", "/v1/requests/nothing/decline", "olga", `{"reason":"again"}`), 404)

	more := `{"analyst": "ana", "epsilon": "0.5", "reason": "granted"}`
	draft := w.call("POST", "/v1/datasets/hospital/topups/draft", "olga", more)
	if got := w.want(w.call("GET", "/v1/requests", "ana", ""), 200); strings.Contains(got.body, `"granted"`) {
		t.Error(got.body)
	}
	record := number(w.want(w.call("POST", "/v1/datasets/hospital/topups", "olga", w.sign(key, draft, more)), 201), "sequence")
	for _, r := range w.want(w.call("GET", "/v1/requests", "olga", ""), 200).get("requests").([]any) {
		is := r.(map[string]any)
		switch id := is["id"]; {
		case id == second && (is["state"] != "granted" || fmt.Sprint(is["record"]) != record || fmt.Sprint(is["granted"]) != "0.5"):
			t.Errorf("%v", is)
		case id == bens && is["state"] != "open":
			t.Errorf("%v", is)
		}
	}
	for range maxHourly - 1 { // one of Ben's is there
		for _, r := range w.want(w.call("GET", "/v1/requests", "ben", ""), 200).get("requests").([]any) {
			w.want(w.call("DELETE", "/v1/requests/"+r.(map[string]any)["id"].(string), "ben", ""), 204)
		}
		w.want(ask("ben", "0.1"), 201)
	}
	w.want(w.call("DELETE", "/v1/requests/"+bens, "olga", ""), 404)
	if got := w.want(ask("ben", "0.1"), 409); !strings.Contains(got.body, "in an hour") {
		t.Error(got.body)
	}
	if n := len(told); n != 6+maxHourly-1 || !strings.Contains(told[n-1], `"event":"budget-request"`) || !strings.Contains(told[5], `"state":"granted"`) {
		t.Errorf("told %q", told)
	}
}
