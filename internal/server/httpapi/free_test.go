package httpapi

import (
	"strings"
	"testing"
)

// TestFree: what is asked only where it is free is answered when it was paid for, with the bytes
// that paying for it gave, and else priced, with the bytes of an explanation; nothing is charged.
func TestFree(t *testing.T) {
	w := newWorld(t)
	const plain = `{"dataset":"hospital","sql":"SELECT sex, COUNT(*) FROM patients GROUP BY sex"}`
	const around = `{"dataset":"hospital","sql":"SELECT SUM(n) FROM (SELECT diagnosis, COUNT(*) AS n FROM patients GROUP BY diagnosis) AS t"}`
	free := func(q string) string { return q[:len(q)-1] + `,"free":true}` }
	spent := func() string { return number(w.want(w.call("GET", "/v1/audit", "olga", ""), 200), "decisions") }
	for i, q := range []string{plain, around} {
		price := w.want(w.call("POST", "/v1/query", "ana", free(q)), 402)
		if i == 0 && (price.get("kind") != "price" || price.get("spent") != false || price.get("price", "known") != false) {
			t.Error(price.body)
		}
		explained := w.want(w.call("POST", "/v1/explain", "ana", q), 200)
		if !strings.Contains(price.body, `"price":`+strings.TrimSpace(explained.body)) {
			t.Errorf("%s\n%s", price.body, explained.body)
		}
		if n := spent(); n != []string{"0", "1"}[i] {
			t.Error("charged:", n)
		}
		paid := w.want(w.call("POST", "/v1/query", "ana", q[:len(q)-1]+[]string{`}`, `,"epsilon":0.3}`}[i]), 200)
		got := w.want(w.call("POST", "/v1/query", "ben", free(q[:len(q)-1]+[]string{`}`, `,"epsilon":0.3}`}[i])), 200)
		rows := func(body string) string {
			_, rest, _ := strings.Cut(body, `"rows":`)
			r, _, _ := strings.Cut(rest, `,"cost"`)
			return r
		}
		if rows(got.body) != rows(paid.body) || got.get("receipt", "free") != true {
			t.Error(got.body, paid.body)
		}
		if i == 0 {
			continue
		}
		lines := w.want(w.call("POST", "/v1/query", "ana", free(plain), "Accept", mediaCSV), 200)
		if !strings.HasPrefix(lines.body, "sex,") {
			t.Error(lines.body)
		}
	}
	if n := spent(); n != "2" {
		t.Error("charged:", n)
	}
	w.want(w.call("POST", "/v1/query", "ana", free(`{"dataset":"hospital","sql":"SELECT * FROM patients"}`)), 422)
	w.want(w.call("POST", "/v1/query", "olga", free(plain)), 403)
	w.want(w.call("POST", "/v1/query", "cy", free(plain)), 404)
}
