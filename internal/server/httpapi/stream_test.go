package httpapi

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// streaming writes a world with a stream over few columns, on which answers are cheap.
func streaming(t testing.TB, h *hospital.Hospital, budget, more string) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Replace(policyText(budget), "  clinic:\n", `    streams:
      patients: {table: patients, columns: {sex: , smoker: , age: {width: 10}}, size: 300, alpha: 0.4, beta: 0.01, queries: 100`+more+`}
  clinic:
`, 1)
	furnish(t, dir, h, text)
	return dir
}

// TestStreams: a session on a stream is opened free, answers with counts that are free where they
// could be predicted, and goes on after a restart.
func TestStreams(t *testing.T) {
	t.Parallel()
	dir := streaming(t, hospital.New(people, 1), "{epsilon: 100}", "")
	w := newWorldIn(t, dir)
	all := w.want(w.call("GET", "/v1/datasets/hospital/streams", "ana", ""), 200)
	if all.get("streams", "0", "name") != "patients" || number(all, "streams", "0", "error") != "120" ||
		all.get("streams", "0", "attributes", "2", "values", "3") != "30..39" || all.get("streams", "1") != nil {
		t.Error(all.body)
	}
	open := func(user, body string, status int) reply {
		t.Helper()
		return w.want(w.call("POST", "/v1/sessions", user, body), status)
	}
	for _, bad := range []string{`{"kind":"stream","name":"other"}`} {
		if got := open("ana", bad, 422); got.get("kind") != "refused" || got.get("spent") != false ||
			!strings.Contains(got.body, "name one of patients") {
			t.Error(got.body)
		}
	}
	made := open("ana", `{"kind":"stream"}`, 201)
	if made.get("kind") != "stream" || made.get("name") != "patients" || made.get("dataset") != "hospital" || made.get("left") != nil ||
		made.get("receipt") != nil || number(made, "cost", "epsilon") != "0" {
		t.Error(made.body)
	}
	at := "/v1/sessions/" + made.get("id").(string)
	ask := func(body string, status int) reply {
		t.Helper()
		return w.want(w.call("POST", at+"/ask", "ana", body), status)
	}
	// Bad input costs nothing, and says what to write.
	for _, bad := range []string{
		`{"sql":"age > 35"}`, `{"sql":"zip = '1003A'"}`, `{"sql":"nonsense("}`, `{"sql":"SELECT SUM(age) FROM patients"}`,
		`{"sql":"pid = 37"}`,
		`{"where":{"zip":["1003A"]}}`, `{"where":{"sex":["Q"]}}`, `{"where":{"age":["35"]}}`, `{"sql":"SELECT COUNT(*) FROM visits"}`,
	} {
		got := ask(bad, 422)
		if got.get("kind") != "refused" || got.get("spent") != false {
			t.Errorf("%s: %s", bad, got.body)
		}
		if got := w.want(w.call("POST", at+"/explain", "ana", bad), 422); got.get("kind") != "refused" {
			t.Errorf("%s: %s", bad, got.body)
		}
	}
	for _, bad := range []string{`{"sql":"sex = 'F'","where":{"sex":["F"]}}`, `{"sql":"sex = 'F'","threshold":1}`,
		`{"sql":"sex = 'F'","name":"x"}`, `{}`} {
		if got := ask(bad, 422); got.get("kind") != "invalid" {
			t.Errorf("%s: %s", bad, got.body)
		}
	}
	price := w.want(w.call("POST", at+"/explain", "ana", `{"sql":"sex = 'F' AND age >= 30"}`), 200)
	if number(price, "most", "epsilon") == "0" || number(price, "error") != "120" {
		t.Error(price.body)
	}
	if got := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200); got.get("receipts", "0") != nil {
		t.Errorf("something was charged: %s", got.body)
	}
	first := ask(`{"sql":"sex = 'F' AND age >= 30"}`, 200)
	if first.get("free") != false || number(first, "error") != "120" || number(first, "cost", "epsilon") == "0" {
		t.Error(first.body)
	}
	receipt := w.want(w.call("GET", "/v1/receipts/"+number(first, "receipt", "sequence"), "ana", ""), 200)
	if receipt.get("hash") != first.get("receipt", "hash") {
		t.Error(receipt.body)
	}
	if got := w.want(w.call("GET", at, "ana", ""), 200); number(got, "cost", "epsilon") != number(first, "cost", "epsilon") {
		t.Error(got.body)
	}
	// The same in other words is free: as SQL, as labels, as a SELECT in a session, and at another
	// listener.
	for _, again := range []string{
		`{"sql":"age >= 30 AND sex IN ('F')"}`, `{"sql":"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age > 29"}`,
		`{"where":{"sex":["F"],"age":["30..39","40..49","50..59","60..69","70..79","80..89","90..99","100..109","110"]}}`,
	} {
		if got := ask(again, 200); number(got, "value") != number(first, "value") || got.get("way") != "cached" ||
			got.get("free") != true || number(got, "receipt", "sequence") != "0" {
			t.Errorf("%s: %s", again, got.body)
		}
	}
	same := w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age >= 30"}`), 200)
	if number(same, "rows", "0", "0") != number(first, "value") || same.get("receipt", "free") != true {
		t.Errorf("%s\n%s", first.body, same.body)
	}
	everybody := ask(`{"where":{}}`, 200)
	if number(everybody, "value") == "" {
		t.Error(everybody.body)
	}
	// It is shared: what Ana paid for is free for Ben, whose session is his own.
	w.want(w.call("POST", at+"/ask", "ben", `{"sql":"sex = 'F'"}`), 404)
	w.want(w.call("POST", at+"/explain", "ben", `{"sql":"sex = 'F'"}`), 404)
	his := "/v1/sessions/" + open("ben", `{"kind":"stream","dataset":"hospital","name":"patients"}`, 201).get("id").(string)
	if got := w.want(w.call("POST", his+"/ask", "ben", `{"sql":"sex = 'F' AND age >= 30"}`), 200); number(got, "value") != number(first,
		"value") || got.get("free") != true {
		t.Error(got.body)
	}
	// Tables and accounts.
	table := w.want(w.call("GET", "/v1/datasets/hospital/streams/patients/synthetic", "ana", ""), 200)
	if table.get("columns", "0") != "sex" || table.get("rows", "0", "values", "2") == nil || number(table, "total") == "" {
		t.Errorf("%.300s", table.body)
	}
	sheet := w.want(w.call("GET", "/v1/datasets/hospital/streams/patients/synthetic", "ben", "", "Accept", "text/csv"), 200)
	if !strings.HasPrefix(sheet.body, "sex,smoker,age,count\r\n") || strings.Count(sheet.body, "\n") < 3 {
		t.Errorf("%.300s", sheet.body)
	}
	for _, user := range []string{"cy", "ana"} {
		path := "/v1/datasets/hospital/streams/other/synthetic"
		if user == "cy" {
			path = "/v1/datasets/hospital/streams/patients/synthetic"
		}
		w.want(w.call("GET", path, user, ""), 404)
	}
	w.want(w.call("GET", "/v1/datasets/hospital/streams/patients/synthetic", "olga", ""), 403)
	w.want(w.call("GET", "/v1/datasets/hospital/streams/patients/report", "ana", ""), 403)
	w.want(w.call("GET", "/v1/datasets/hospital/streams/other/report", "olga", ""), 404)
	report := w.want(w.call("GET", "/v1/datasets/hospital/streams/patients/report", "olga", ""), 200)
	if number(report, "asked") == "0" || number(report, "spent", "epsilon") == "0" {
		t.Error(report.body)
	}
	spent := number(w.want(w.call("GET", "/v1/datasets/hospital/budget", "olga", ""), 200), "accounts", "0", "spent", "epsilon")

	// After a restart the session is gone and the stream goes on: the same answers, free.
	w.end()
	w = newWorldIn(t, dir)
	ask(`{"sql":"sex = 'F'"}`, 404)
	at = "/v1/sessions/" + open("ana", `{"kind":"stream"}`, 201).get("id").(string)
	if got := ask(`{"sql":"sex = 'F' AND age >= 30"}`, 200); number(got, "value") != number(first, "value") || got.get("way") != "cached" ||
		got.get("free") != true {
		t.Error(got.body)
	}
	if got := ask(`{"where":{}}`, 200); number(got, "value") != number(everybody, "value") {
		t.Error(got.body)
	}
	if got := number(w.want(w.call("GET", "/v1/datasets/hospital/budget", "olga", ""), 200), "accounts", "0", "spent",
		"epsilon"); got != spent {
		t.Errorf("spent was %s and is %s", spent, got)
	}
	if got := w.want(w.call("GET", "/v1/datasets/hospital/streams/patients/synthetic", "ana", ""), 200); got.body != table.body {
		t.Error("the synthetic table is another after a restart")
	}
	// The ledger shows that there are notes, and nothing of what is in them.
	got := w.want(w.call("GET", "/v1/ledger?limit=1000", "olga", ""), 200)
	if !strings.Contains(got.body, `"kind":"note"`) || regexp.MustCompile(`secret|threshold|"value"`).MatchString(got.body) {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true {
		t.Error(got.body)
	}
	w.want(w.call("DELETE", at, "ana", ""), 204)
	ask(`{"sql":"sex = 'F'"}`, 404)
}

// TestStreamRevoked: who is revoked is out with the next request, and their question is not
// charged.
func TestStreamRevoked(t *testing.T) {
	w := newWorldIn(t, streaming(t, hospital.New(people, 1), "{epsilon: 100}", ""))
	at := "/v1/sessions/" + w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"stream"}`), 201).get("id").(string)
	must(t, w.users.Revoke(t.Context(), "ana"))
	w.want(w.call("POST", at+"/ask", "ana", `{"sql":"sex = 'F'"}`), 401)
	if got := w.want(w.call("GET", "/v1/receipts", "olga", ""), 200); got.get("receipts", "0") != nil {
		t.Error(got.body)
	}
}

// TestStreamWithoutBudget: what an analyst or a dataset cannot pay for is a 402, what the stream
// may not spend is refused or unchecked, and nothing is spent by either.
func TestStreamWithoutBudget(t *testing.T) {
	t.Parallel()
	w := newWorldIn(t, streaming(t, hospital.New(people, 1), "{epsilon: 1, per_query: {default: 0.1, max: 1}}", ", budget: 1"))
	w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT SUM(age) FROM patients","epsilon":1}`), 200)
	at := "/v1/sessions/" + w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"stream"}`), 201).get("id").(string)
	for _, q := range []string{"sex = 'F'", "smoker = true", "sex = 'M' AND smoker = false AND age < 40"} {
		got := w.call("POST", at+"/ask", "ana", fmt.Sprintf(`{"sql":%q}`, q))
		switch got.status {
		case 402:
			if got.get("kind") != "budget" || got.get("spent") != false {
				t.Error(got.body)
			}
		case 422:
			if got.get("kind") != "refused" || got.get("spent") != false {
				t.Error(got.body)
			}
		case 200:
			if got.get("way") != "unchecked" || got.get("error") != nil || got.get("free") != true {
				t.Error(got.body)
			}
		default:
			t.Error(got.body)
		}
	}
	if got := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200); got.get("receipts", "1") != nil {
		t.Error(got.body)
	}
}

// TestStreamNeighbours: on databases that differ in one person, refusals, prices and shapes are the
// same to the last byte; only noisy values and what follows from them differ.
func TestStreamNeighbours(t *testing.T) {
	t.Parallel()
	with := hospital.New(people, 1)
	budget := "{epsilon: 4, per_query: {default: 0.1, max: 1}}"
	a, b := newWorldIn(t, streaming(t, with, budget, "")), newWorldIn(t, streaming(t, with.Without(hospital.Target), budget, ""))
	ats := [2]string{}
	for i, w := range []*world{a, b} {
		ats[i] = "/v1/sessions/" + w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"stream"}`), 201).get("id").(string)
	}
	for _, body := range []string{
		`{"sql":"age > 35"}`, `{"sql":"zip = '1003A' AND diagnosis = 'HIV'"}`, `{"sql":"1/(age-37) > 0"}`, `{"where":{"sex":["F","Q"]}}`,
		`{"sql":"sex = 'F' AND age >= 30 AND age < 40"}`, `{"sql":"SELECT COUNT(*) FROM patients"}`,
	} {
		x, y := a.call("POST", ats[0]+"/explain", "ana", body), b.call("POST", ats[1]+"/explain", "ana", body)
		same(t, body, x, y)
	}
	// What is refused on one is refused on the other, in the same words, and nothing fails on
	// either.
	for _, q := range []string{"age > 35", "CAST(sex AS INTEGER) = 1", "age / 0 = 1", "1 / (age - 37) > 0", "sex = 'F'",
		"age >= 30", "smoker = true"} {
		body := fmt.Sprintf(`{"sql":%q}`, q)
		x, y := a.call("POST", ats[0]+"/ask", "ana", body), b.call("POST", ats[1]+"/ask", "ana", body)
		if x.status != y.status || x.status != 200 && x.body != y.body || x.status != 200 && x.status != 422 {
			t.Errorf("%s:\n%s%s", q, x.body, y.body)
		}
	}
}
