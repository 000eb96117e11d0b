package httpapi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
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
	t.Parallel()
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

// rows is how many labels the holdout of these tests has.
const rows = 4000

// labels says whether a row is a cat: every third.
func labels(i int) string {
	if i%3 == 0 {
		return "1"
	}
	return "0"
}

// judged writes a world with a holdout of labels and one of a table. The noise of the labels is
// small, so that what is confirmed and what is not is certain.
func judged(t *testing.T, budget string) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Replace(policyText(budget), "  clinic:\n", `    holdouts:
      cats: {labels: cats.csv, column: label, threshold: 0.1, noise: 0.001, answers: 3}
      ages: {table: patients, size: 300, threshold: 0.2, noise: 0.1, answers: 2}
  clinic:
`, 1)
	furnish(t, dir, hospital.New(people, 1), text)
	var b strings.Builder
	b.WriteString("label\n")
	for i := range rows {
		b.WriteString(labels(i) + "\n")
	}
	must(t, os.WriteFile(filepath.Join(dir, "cats.csv"), []byte(b.String()), 0o600))
	return dir
}

// submission is the body of a question with predictions, of which the first so many are wrong.
func submission(wrong int, more string) string {
	predictions := make([]int, rows)
	for i := range predictions {
		if predictions[i] = 0; (labels(i) == "1") != (i < wrong) {
			predictions[i] = 1
		}
	}
	b, _ := json.Marshal(predictions)
	return `{"predictions":` + string(b) + more + `}`
}

// TestHoldouts: predictions are scored, the score of an honest one is confirmed and that of an
// overfitted one is corrected, the board has both, and all of it is there after a restart.
func TestHoldouts(t *testing.T) {
	t.Parallel()
	dir := judged(t, "{epsilon: 100}")
	w := newWorldIn(t, dir)
	all := w.want(w.call("GET", "/v1/datasets/hospital/holdouts", "ana", ""), 200)
	if all.get("holdouts", "0", "name") != "cats" || number(all, "holdouts", "0", "size") != fmt.Sprint(rows) ||
		all.get("holdouts", "0", "labels") != true || all.get("holdouts", "1", "table") != "patients" ||
		strings.Contains(all.body, ".csv") {
		t.Error(all.body)
	}
	open := func(user, body string, status int) reply {
		t.Helper()
		return w.want(w.call("POST", "/v1/sessions", user, body), status)
	}
	if got := open("ana", `{"kind":"holdout","dataset":"hospital"}`, 422); got.get("kind") != "refused" || got.get("spent") != false ||
		!strings.Contains(got.body, "cats, ages") {
		t.Error(got.body)
	}
	open("ana", `{"kind":"holdout","name":"dogs"}`, 422)
	made := open("ana", `{"kind":"holdout","name":"cats"}`, 201)
	if made.get("kind") != "holdout" || made.get("name") != "cats" || number(made, "left") != "3" ||
		number(made, "cost", "epsilon") != "0" || made.get("receipt") != nil {
		t.Error(made.body)
	}
	at := "/v1/sessions/" + made.get("id").(string)
	ask := func(body string, status int) reply {
		t.Helper()
		return w.want(w.call("POST", at+"/ask", "ana", body), status)
	}
	// Bad input: nothing is charged.
	for _, bad := range []string{
		`{"predictions":[1,0],"training":0.5}`, submission(0, ``), submission(0, `,"training":1.5`), submission(0, `,"training":"x"`),
		`{"sql":"age > 30","training":0.5}`,
		`{"predictions":[],"training":0.5}`, submission(0, `,"training":1,"ids":["a"]`),
		submission(0, `,"training":1,"name":"`+strings.Repeat("n", 64)+`"`),
	} {
		if got := ask(bad, 422); got.get("kind") != "refused" || got.get("spent") != false {
			t.Errorf("%.60s: %s", bad, got.body)
		}
	}
	for _, bad := range []string{submission(0, `,"threshold":1`), submission(0, `,"where":{}`), submission(0, `,"sql":"x"`)} {
		if got := ask(bad, 422); got.get("kind") != "invalid" {
			t.Errorf("%.60s: %s", bad, got.body)
		}
	}
	if got := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200); got.get("receipts", "0") != nil {
		t.Errorf("something was charged: %s", got.body)
	}
	// An honest claim is confirmed. The first score pays for its round.
	honest := ask(submission(rows/10, `,"training":0.9,"name":"honest tree"`), 200)
	if honest.get("score") != "0.9" || honest.get("spent") != false || honest.get("free") != false ||
		number(honest, "cost", "epsilon") == "0" || number(honest, "left") != "3" {
		t.Error(honest.body)
	}
	// One that knows its training data by heart is corrected.
	proud := ask(submission(rows/2, `,"training":1,"name":"proud tree"`), 200)
	if score := proud.get("score").(string); proud.get("spent") != true || proud.get("free") != true || number(proud, "left") != "2" ||
		score < "0.3" || score > "0.7" {
		t.Error(proud.body)
	}
	again := ask(submission(rows/2, `,"training":1,"name":"proud tree"`), 200)
	if again.get("score") != proud.get("score") || again.get("again") != true || again.get("free") != true || number(again, "left") != "2" {
		t.Error(again.body)
	}
	now := w.want(w.call("GET", at, "ana", ""), 200)
	if number(now, "left") != "2" || number(now, "cost", "epsilon") != number(honest, "cost", "epsilon") {
		t.Error(now.body)
	}
	w.want(w.call("GET", "/v1/receipts/"+number(honest, "receipt", "sequence"), "ana", ""), 200)
	// A stream's fields and prices are not for holdouts.
	w.want(w.call("POST", at+"/explain", "ana", `{"sql":"x"}`), 422)

	// The board is for all who may ask, with the names that were chosen. Whose they are is the
	// owner's to know.
	board := func(user string) reply {
		t.Helper()
		return w.want(w.call("GET", "/v1/datasets/hospital/holdouts/cats/board", user, ""), 200)
	}
	for user, sees := range map[string]bool{"ana": true, "ben": false, "olga": true} {
		got := board(user)
		if got.get("lines", "0", "name") != "honest tree" || got.get("lines", "1", "score") != proud.get("score") ||
			got.get("lines", "2") != nil || strings.Contains(got.body, `"ana"`) != sees ||
			got.get("lines", "0", "mine") != (user == "ana") {
			t.Errorf("%s sees %s", user, got.body)
		}
	}
	w.want(w.call("GET", "/v1/datasets/hospital/holdouts/cats/board", "cy", ""), 404)
	w.want(w.call("GET", "/v1/datasets/hospital/holdouts/dogs/board", "ana", ""), 404)

	// Ben shares the holdout: what Ana asked is free for him, and the answers are the same ones.
	w.want(w.call("POST", at+"/ask", "ben", submission(0, `,"training":1`)), 404)
	his := "/v1/sessions/" + open("ben", `{"kind":"holdout","dataset":"hospital","name":"cats"}`, 201).get("id").(string)
	if got := w.want(w.call("POST", his+"/ask", "ben", submission(rows/2, `,"training":1`)), 200); got.get("score") != proud.get("score") ||
		got.get("free") != true {
		t.Error(got.body)
	}
	spent := number(w.want(w.call("GET", "/v1/datasets/hospital/budget", "olga", ""), 200), "accounts", "0", "spent", "epsilon")
	before := board("olga").body

	// The server is started again: the session is gone, and the holdout goes on where it was.
	w.end()
	w = newWorldIn(t, dir)
	w.want(w.call("POST", at+"/ask", "ana", submission(0, `,"training":1`)), 404)
	made = open("ana", `{"kind":"holdout","name":"cats"}`, 201)
	if number(made, "left") != "2" {
		t.Error(made.body)
	}
	at = "/v1/sessions/" + made.get("id").(string)
	if got := ask(submission(rows/2, `,"training":1,"name":"proud tree"`), 200); got.get("score") != proud.get("score") ||
		got.get("free") != true {
		t.Error(got.body)
	}
	if got := board("olga").body; got != before {
		t.Errorf("the board was\n%s and is\n%s", before, got)
	}
	if got := number(w.want(w.call("GET", "/v1/datasets/hospital/budget", "olga", ""), 200), "accounts", "0", "spent",
		"epsilon"); got != spent {
		t.Errorf("spent was %s and is %s", spent, got)
	}
	// It is used up, and then refuses what is new.
	for i := range 2 {
		if got := ask(submission(rows/2+10*i+10, `,"training":1`), 200); got.get("spent") != true ||
			number(got, "left") != fmt.Sprint(1-i) {
			t.Error(got.body)
		}
	}
	if got := ask(submission(rows/2+30, `,"training":1`), 422); got.get("kind") != "refused" || got.get("spent") != false {
		t.Error(got.body)
	}
	if got := ask(submission(rows/2, `,"training":1`), 200); got.get("score") != proud.get("score") {
		t.Error(got.body)
	}
	// The ledger shows that there are notes, and nothing of what is in them.
	got := w.want(w.call("GET", "/v1/ledger?limit=1000", "olga", ""), 200)
	if !strings.Contains(got.body, `"kind":"note"`) || strings.Contains(got.body, "tree") || strings.Contains(got.body, "score") {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true {
		t.Error(got.body)
	}
}

// TestHoldoutOfTable: an expression is scored, by session and by SQL, for the same price.
func TestHoldoutOfTable(t *testing.T) {
	w := newWorldIn(t, judged(t, "{epsilon: 100}"))
	made := w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"holdout","name":"ages"}`), 201)
	at := "/v1/sessions/" + made.get("id").(string)
	got := w.want(w.call("POST", at+"/ask", "ana", `{"sql":"age >= 30","training":0.9}`), 200)
	if got.get("free") != false {
		t.Error(got.body)
	}
	same := w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT holdout_mean(age >= 30, 0.9) FROM patients"}`), 200)
	if number(same, "rows", "0", "0") != got.get("score") || same.get("receipt", "free") != true {
		t.Errorf("%s\n%s", got.body, same.body)
	}
	for _, bad := range []string{`{"sql":"age","training":0.5}`, `{"sql":"age >= 30"}`, `{"sql":"nonsense(","training":0.5}`,
		`{"predictions":[1],"training":0.5}`} {
		if got := w.want(w.call("POST", at+"/ask", "ana", bad), 422); got.get("kind") != "refused" || got.get("spent") != false {
			t.Error(got.body)
		}
	}
}

// TestHoldoutWithoutBudget: a round that cannot be paid for is a 402, and nothing is spent.
func TestHoldoutWithoutBudget(t *testing.T) {
	w := newWorldIn(t, judged(t, "{epsilon: 0.001, per_query: {default: 0.001, max: 0.001}}"))
	made := w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"holdout","name":"cats"}`), 201)
	if got := w.want(w.call("POST", "/v1/sessions/"+made.get("id").(string)+"/ask", "ana", submission(0, `,"training":1`)),
		402); got.get("kind") != "budget" || got.get("spent") != false {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200); got.get("receipts", "0") != nil {
		t.Error(got.body)
	}
}
