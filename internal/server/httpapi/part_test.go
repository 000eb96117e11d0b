package httpapi

import (
	"fmt"
	"strings"
	"testing"
)

// TestParts: what an answer is made of is told to who asks for it, as the document says, for
// nothing more; and nobody else sees it.
func TestParts(t *testing.T) {
	w := newWorld(t)
	sql := `"dataset": "hospital", "sql": "SELECT sex, COUNT(*), AVG(age), SUM(cost) FROM patients GROUP BY sex"`
	price := w.want(w.call("POST", "/v1/explain", "ana", `{`+sql+`, "parts": true}`), 200)
	got := fmt.Sprint(price.get("makeup", "columns", "0", "values"), price.get("makeup", "columns", "2", "of"),
		price.get("makeup", "apart"))
	if got != "[F M X]average<nil>" {
		t.Errorf("it would be made of %s", got)
	}
	source, _ := price.get("makeup", "source").(string)
	plain := w.want(w.call("POST", "/v1/query", "ana", `{`+sql+`}`), 200)
	a := w.want(w.call("POST", "/v1/query", "ana", `{`+sql+`, "parts": true}`), 200)
	if a.get("receipt", "free") != true || fmt.Sprint(a.get("rows")) != fmt.Sprint(plain.get("rows")) || plain.get("parts") != nil {
		t.Errorf("%s and %s", plain.body, a.body)
	}
	if fmt.Sprint(a.get("parts", "1", "1", "sum", "value")) != fmt.Sprint(a.get("rows", "1", "1")) ||
		a.get("parts", "1", "0", "sum") != nil {
		t.Errorf("the parts are %v", a.get("parts"))
	}
	// Ben sees the same source, and of another dataset another one; neither is the ledger's
	// identity.
	ben := w.call("POST", "/v1/explain", "ben", `{`+sql+`, "parts": true}`)
	if ben.get("makeup", "source") != source || len(source) != 64 {
		t.Errorf("the source is %q and %v", source, ben.get("makeup", "source"))
	}
	clinic := w.call("POST", "/v1/explain", "ben", `{`+strings.Replace(sql, "hospital", "clinic", 1)+`, "parts": true}`)
	if other := clinic.get("makeup", "source"); other == source || other == nil {
		t.Errorf("the source of another dataset is %v", other)
	}
	for r, err := range w.db.Records(t.Context(), 0) {
		if err != nil || strings.Contains(price.body, r.Identity) {
			t.Errorf("the identity is told, %v", err)
		}
		break
	}
	for _, sql := range []string{"SELECT MEDIAN(age) FROM patients", "SELECT * FROM patients WHERE 1 = 0",
		"SELECT DISTINCT sex FROM patients"} {
		body := fmt.Sprintf(`{"dataset": "hospital", "sql": %q, "parts": true}`, sql)
		if e := w.want(w.call("POST", "/v1/explain", "ana", body), 200); e.get("makeup", "apart") == nil {
			t.Errorf("%s: %s", sql, e.body)
		}
		if a := w.want(w.call("POST", "/v1/query", "ana", body), 200); a.get("parts") != nil {
			t.Errorf("%s: %s", sql, a.body)
		}
	}
}
