package httpapi

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/sandbox"
	"github.com/discreet-dp/discreet/internal/test/golden"
)

// TestSandbox: who tries a question out gets an answer about nobody, in every way that can say so;
// nothing is charged, and what is refused there is refused here.
func TestSandbox(t *testing.T) {
	w := newWorld(t)
	const q = `{"dataset":"hospital","sql":"SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex","epsilon":0.25,"sandbox":true}`
	w.want(w.call("POST", "/v1/query", "ana", q), 422) // there is none
	made := sandbox.New(w.db.Policy())
	t.Cleanup(func() { made.Close() })
	w.configure(func(o *Options) { o.Sandbox = made })
	before := w.want(w.call("GET", "/v1/datasets/hospital/budget", "ana", ""), 200).body
	a := w.want(w.call("POST", "/v1/query", "ana", q), 200)
	if a.get("made_up") != true || a.get("receipt", "sequence") != json.Number("0") || a.get("receipt", "hash") != "" ||
		fmt.Sprint(a.get("cost", "epsilon")) != "0.25" || !strings.HasPrefix(fmt.Sprint(a.get("notes", "0")), "made up") ||
		a.header.Get("Idempotency-Key") != "" || len(a.get("rows").([]any)) != 3 {
		t.Error(a.body)
	}
	if again := w.call("POST", "/v1/query", "ben", q); again.body != a.body {
		t.Errorf("%s\nand then\n%s", a.body, again.body)
	}
	lines := w.want(w.call("POST", "/v1/query", "ana", q, "Accept", mediaNDJSON), 200).body
	if meta, _ := parse(strings.Split(lines, "\n")[0]); (reply{json: meta}).get("meta", "made_up") != true {
		t.Error(lines)
	}
	w.want(w.call("POST", "/v1/query", "ana", q, "Accept", mediaCSV), 422)
	w.want(w.call("POST", "/v1/query", "ana", strings.Replace(q, `"sandbox"`, `"parts":true,"sandbox"`, 1)), 422)
	w.want(w.call("POST", "/v1/query", "olga", q), 403)
	refused := w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT * FROM patients","sandbox":true}`), 422)
	if refused.get("kind") != "refused" || refused.get("spent") != false {
		t.Error(refused.body)
	}
	if after := w.want(w.call("GET", "/v1/datasets/hospital/budget", "ana", ""), 200).body; after != before {
		t.Errorf("the budget was %s and is %s", before, after)
	}
	if real := w.want(w.call("POST", "/v1/query", "ana", strings.Replace(q, `,"sandbox":true`, "", 1)), 200); real.get("made_up") != nil ||
		real.get("receipt", "free") != false {
		t.Error(real.body)
	}
}

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
		if got := escapeFormula(text); got != "'"+text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	for _, text := range []string{"", "a=1", "é", "日", "\xff"} {
		if got := escapeFormula(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// TestJSON holds replies against testdata/json. A case is a user, a method and a path, with the
// members of the reply that have noise after a #, and the body in the lines below. SESSION stands
// for the session that was opened last, SAVED for the question that was saved last.
func TestJSON(t *testing.T) {
	policy, err := os.ReadFile("testdata/json/policy.yaml")
	must(t, err)
	files, err := filepath.Glob("testdata/json/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			dir := t.TempDir()
			labels, predictions := "label\n", "[0"
			for i := range 400 {
				labels += fmt.Sprintln(i % 3 / 2)
				predictions += fmt.Sprint(",", i%2)
			}
			predictions = predictions[:len(predictions)-2] + "]"
			must(t, os.WriteFile(filepath.Join(dir, "labels.csv"), []byte(labels), 0o600))
			furnish(t, dir, hospital.New(people, 1), string(policy))
			w := newWorldIn(t, dir)
			session, saved, ids := "", "", []string{}
			golden.Run(t, file, func(question string) string {
				line, body, _ := strings.Cut(question, "\n")
				line, noisy, _ := strings.Cut(line, " # ")
				words := strings.Fields(strings.ReplaceAll(line, "SESSION", session))
				got := w.call(words[1], words[2], words[0], strings.NewReplacer("PREDICTIONS", predictions, "SAVED", saved).Replace(body))
				if id, ok := got.get("id").(string); ok && strings.HasSuffix(line, "/v1/sessions") {
					session = id
				}
				if id, ok := got.get("id").(string); ok && len(id) == 32 {
					if ids = append(ids, id, "ID"); strings.HasSuffix(line, "/v1/saved") {
						saved = id
					}
				}
				text := strings.NewReplacer(ids...).Replace(got.body)
				if words[2] == "/openapi.json" {
					text = outline(t, text)
				}
				return fmt.Sprintf("%d %s\n%s", got.status, got.header.Get("Content-Type"), golden.Mask(text, strings.Fields(noisy)...))
			})
		})
	}
}

// references are those of a document to its schemas.
var references = regexp.MustCompile(`"#/components/schemas/(\w+)"`)

// outline writes the document in short: the schemas that each operation names, and each schema.
func outline(t *testing.T, text string) string {
	var document struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	must(t, json.Unmarshal([]byte(text), &document))
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(document.Paths[path])) {
			var named []string
			for _, name := range references.FindAllSubmatch(document.Paths[path][method], -1) {
				named = append(named, string(name[1]))
			}
			fmt.Fprintln(&out, method, path, slices.Compact(named))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(document.Components.Schemas)) {
		fmt.Fprintf(&out, "%s %s\n", name, document.Components.Schemas[name])
	}
	return out.String()
}

// TestFree: what is asked only where it is free is answered when it was paid for, with the bytes
// that paying for it gave, and else priced, with the bytes of an explanation; nothing is charged.
func TestFree(t *testing.T) {
	t.Parallel()
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

// TestManyAtOnce: users of all kinds at the same time, some of whom hang up. Everything is
// documented, nothing is unexpected, and the ledger is whole.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range 16 {
		all.Go(func() {
			user := []string{"ana", "ben"}[i%2]
			for j := range 8 {
				body := fmt.Sprintf(`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients WHERE age > %d","epsilon":0.01}`,
					(i*8+j)%40)
				path, method, who := "/v1/query", "POST", user
				switch j % 4 {
				case 1:
					path, method, who, body = "/v1/audit", "GET", "olga", ""
				case 2:
					path, method, body = "/v1/receipts", "GET", ""
				case 3:
					path, method, who, body = "/metrics", "GET", "olga", ""
				}
				ctx, stop := context.WithCancel(context.Background())
				r := w.request(method, path, who, body).WithContext(ctx)
				if i%5 == 4 {
					go stop()
				}
				response, err := http.DefaultClient.Do(r)
				if err == nil {
					var text []byte
					if text, err = io.ReadAll(response.Body); err == nil {
						mu.Lock()
						got := reply{status: response.StatusCode, header: response.Header, body: string(text)}
						w.honest(r, got)
						if got.status != 200 && got.status != 402 && got.status != 499 {
							t.Errorf("%s: %d %s", path, got.status, got.body)
						}
						mu.Unlock()
					}
					response.Body.Close()
				}
				if err != nil && i%5 != 4 {
					t.Error(err)
				}
				stop()
			}
		})
	}
	all.Wait()
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true {
		t.Error(got.body)
	}
	if strings.Contains(w.log.String(), "panic") {
		t.Error(w.log)
	}
}
