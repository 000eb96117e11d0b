package httpapi

import (
	"encoding/csv"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestWaysToAnswer: JSON, lines and CSV say the same.
func TestWaysToAnswer(t *testing.T) {
	w := newWorld(t)
	const q = `{"sql":"SELECT age, sex, COUNT(*) AS \"=n\" FROM patients GROUP BY age, sex"}`
	whole := w.want(w.call("POST", "/v1/query", "ana", q), 200)
	rows := whole.get("rows").([]any)
	if len(rows) != 111*3 {
		t.Fatalf("%d rows", len(rows))
	}
	streamed := w.want(w.call("POST", "/v1/query", "ana", q, "Accept", mediaNDJSON), 200)
	lines := strings.Split(strings.TrimSuffix(streamed.body, "\n"), "\n")
	if len(lines) != len(rows)+2 || streamed.header.Get("Content-Length") != "" {
		t.Fatalf("%d lines, length %q", len(lines), streamed.header.Get("Content-Length"))
	}
	meta, _ := parse(lines[0])
	if got := (reply{json: meta}); got.get("meta", "columns", "2", "name") != "=n" ||
		got.get("meta", "receipt", "hash") != whole.get("receipt", "hash") {
		t.Error(lines[0])
	}
	if lines[len(lines)-1] != fmt.Sprintf(`{"end":{"rows":%d}}`, len(rows)) {
		t.Error(lines[len(lines)-1])
	}
	table := w.want(w.call("POST", "/v1/query", "ana", q, "Accept", mediaCSV), 200)
	cells, err := csv.NewReader(strings.NewReader(table.body)).ReadAll()
	if err != nil || len(cells) != len(rows)+1 || !reflect.DeepEqual(cells[0], []string{"age", "sex", "'=n", "'=n_error"}) {
		t.Fatal(err, cells[0])
	}
	for i, row := range rows {
		v, _ := parse(lines[i+1])
		if !reflect.DeepEqual((reply{json: v}).get("row"), row) ||
			!reflect.DeepEqual((reply{json: v}).get("errors"), whole.get("errors", fmt.Sprint(i))) {
			t.Fatalf("%v: %s", row, lines[i+1])
		}
		if r := row.([]any); cells[i+1][0] != fmt.Sprint(r[0]) || cells[i+1][2] != fmt.Sprint(r[2]) {
			t.Fatalf("%v: %v", row, cells[i+1])
		}
	}
	// A problem is a problem in every way.
	for _, accept := range []string{mediaJSON, mediaNDJSON, mediaCSV} {
		w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT 1"}`, "Accept", accept), 422)
	}
}

// TestErrorColumns: error bars are columns in every way, and once.
func TestErrorColumns(t *testing.T) {
	w := newWorld(t)
	const q = `{"sql":"SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex","settings":{"dp.errors":"interval"}}`
	paid := w.want(w.call("POST", "/v1/query", "ana", strings.Replace(q, "interval", "off", 1)), 200)
	whole := w.want(w.call("POST", "/v1/query", "ana", q), 200)
	if got := fmt.Sprint(whole.get("columns")); got != "[sex n n__yhat_lower n__yhat_upper]" || whole.get("receipt", "free") != true ||
		whole.get("rows", "0", "1") != paid.get("rows", "0", "1") || paid.get("more") == nil {
		t.Error(whole.body, paid.body)
	}
	table := w.want(w.call("POST", "/v1/query", "ana", q, "Accept", mediaCSV), 200)
	if head, _, _ := strings.Cut(table.body, "\r\n"); head != "sex,n,n__yhat_lower,n__yhat_upper" {
		t.Error(table.body)
	}
	streamed := w.want(w.call("POST", "/v1/query", "ana", q, "Accept", mediaNDJSON), 200)
	if lines := strings.Split(streamed.body, "\n"); strings.Count(lines[1], ",") < 3 || !strings.Contains(lines[0], "n__yhat_upper") {
		t.Error(streamed.body)
	}
	w.want(w.call("POST", "/v1/query", "ana", strings.Replace(q, "interval", "bars", 1)), 422)
}

// TestTimestampAnswer: a moment is written as PostgreSQL writes it, in JSON and in CSV.
func TestTimestampAnswer(t *testing.T) {
	w := newWorld(t)
	const q = `{"sql":"SELECT max(seen) AS last FROM (` +
		`SELECT least(greatest(day, '2015-01-01'), '2030-01-01') + INTERVAL '90 minutes' AS seen FROM visits) AS v"}`
	whole := w.want(w.call("POST", "/v1/query", "ana", q), 200)
	at, _ := whole.get("rows", "0", "0").(string)
	if _, err := time.Parse("2006-01-02 15:04:05.999999", at); err != nil {
		t.Fatal(whole.body)
	}
	table := w.want(w.call("POST", "/v1/query", "ana", q, "Accept", mediaCSV), 200)
	if !strings.HasPrefix(table.body, "last") || !strings.Contains(table.body, "\r\n"+at) {
		t.Error(table.body)
	}
}

// TestHarmless: no text of a table is a formula, in no spreadsheet.
func TestHarmless(t *testing.T) {
	for _, text := range []string{"=1+1", "+1", "-1", "@a", "\t=1", "\r=1", "\n=1", "'", "＝1+1", "＋1", "－1", "＠a"} {
		if got := harmless(text); got != "'"+text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for _, text := range []string{"", "a=1", "é", "日", "\xff"} {
		if got := harmless(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
