package httpapi

import (
	"strings"
	"testing"
)

// TestSessions: a session is paid for once, is asked until it is used up, and is its owner's alone.
func TestSessions(t *testing.T) {
	w := newWorld(t)
	made := w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"sparse","epsilon":2,"above":2,"values":true}`, "Idempotency-Key", "s1"),
		201)
	if made.get("kind") != "sparse" || made.get("dataset") != "hospital" || number(made, "cost", "epsilon") != "2" ||
		number(made, "left") != "2" {
		t.Error(made.body)
	}
	at := "/v1/sessions/" + made.get("id").(string)
	if got := w.want(w.call("GET", at, "ana", ""), 200); got.body != made.body {
		t.Errorf("%s\n%s", got.body, made.body)
	}
	if got := w.want(w.call("GET", "/v1/sessions", "ana", ""), 200); got.get("sessions", "0", "id") != made.get("id") ||
		got.get("sessions", "1") != nil {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/receipts/"+number(made, "receipt"), "ana", ""), 200); got.get("request") != "s1" {
		t.Error(got.body)
	}
	// The noise of the first is gone, so the same key opens no second one.
	if got := w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"sparse","epsilon":2,"above":2,"values":true}`, "Idempotency-Key",
		"s1"), 422); got.get("kind") != "refused" {
		t.Error(got.body)
	}
	ask := func(sql, threshold string) reply {
		return w.call("POST", at+"/ask", "ana", `{"sql":"`+sql+`","threshold":`+threshold+`}`)
	}
	for range 3 {
		if got := w.want(ask("SELECT COUNT(*) FROM patients", "100000"), 200); got.get("above") != false || number(got, "left") != "2" ||
			got.get("value") != nil {
			t.Error(got.body)
		}
	}
	for _, bad := range [][2]string{{"SELECT sex, COUNT(*) FROM patients GROUP BY sex", "1"}, {"SELECT COUNT(*) FROM visits", "1"},
		{"SELECT COUNT(*) FROM patients", `"x"`}, {"nonsense", "1"}} {
		if got := w.want(ask(bad[0], bad[1]), 422); got.get("kind") != "refused" || got.get("spent") != false {
			t.Error(got.body)
		}
	}
	if got := w.want(ask("SELECT COUNT(*) FROM patients", "-100000"), 200); got.get("above") != true || number(got, "left") != "1" ||
		got.get("value") == nil {
		t.Error(got.body)
	}
	if got := w.want(ask("SELECT COUNT(*) FROM patients", `"-100000"`), 200); got.get("above") != true || number(got, "left") != "0" {
		t.Error(got.body)
	}
	if got := ask("SELECT COUNT(*) FROM patients", "1"); got.status != 404 && got.status != 410 {
		t.Error(got.body)
	}
	other := w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"sparse"}`), 201).get("id").(string)
	w.want(w.call("DELETE", "/v1/sessions/"+other, "ana", ""), 204)
	w.want(w.call("GET", "/v1/sessions/"+other, "ana", ""), 404)
	if got := w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"sparse","epsilon":9}`), 402); got.get("kind") != "budget" {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true || number(got, "decisions") != "2" {
		t.Error(got.body)
	}
}

// number returns a number of a reply as it is written.
func number(r reply, names ...string) string {
	n, ok := r.get(names...).(interface{ String() string })
	if !ok {
		return ""
	}
	return n.String()
}

// TestParameters: values go in beside the text, whatever they hold.
func TestParameters(t *testing.T) {
	w := newWorld(t)
	ask := func(sql, parameters string) reply {
		return w.call("POST", "/v1/query", "ana", `{"sql":"`+sql+`","parameters":`+parameters+`,"epsilon":0.25}`)
	}
	bound := w.want(ask("SELECT COUNT(*) FROM patients WHERE age > $1 AND sex = $2 AND smoker = $3", `[30,"F",true]`), 200)
	written := w.want(w.call("POST", "/v1/query", "ana",
		`{"sql":"SELECT COUNT(*) FROM patients WHERE age > 30 AND sex = 'F' AND smoker = true","epsilon":0.25}`), 200)
	if written.get("receipt", "free") != true || number(written, "rows", "0", "0") != number(bound, "rows", "0", "0") {
		t.Errorf("%s\n%s", bound.body, written.body)
	}
	w.want(ask("SELECT COUNT(*) FROM visits WHERE day > $1 AND cost < $2", `[{"kind":"date","value":"2025-06-01"},10.5]`), 200)
	w.want(ask("SELECT COUNT(*) FROM patients WHERE sex = $1", `["F' OR 'x'='x"]`), 200)
	for _, bad := range []string{`[]`, `[1,2]`, `[{"kind":"date","value":"tomorrow"}]`, `["x"]`} {
		if got := w.want(ask("SELECT COUNT(*) FROM patients WHERE age > $1", bad), 422); got.get("kind") != "refused" ||
			!strings.Contains(got.body, `"spent":false`) {
			t.Error(got.body)
		}
	}
}
