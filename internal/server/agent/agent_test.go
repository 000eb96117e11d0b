package agent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

const bySex = "SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex"

// A model has five tools, and none of them is an owner's; what costs something says so.
func TestTools(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), usual)
	a := w.as("ana")
	all, err := a.ListTools(t.Context(), nil)
	must(t, err)
	var names []string
	for _, tool := range all.Tools {
		names = append(names, tool.Name)
		if paid := tool.Name == "ask"; tool.Annotations.ReadOnlyHint == paid || tool.Description == "" ||
			paid && !*tool.Annotations.DestructiveHint {
			t.Errorf("%s: %+v", tool.Name, tool.Annotations)
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"ask", "budget", "describe", "quote", "sandbox"}) {
		t.Error(names)
	}
	if i := a.InitializeResult(); !strings.Contains(i.Instructions, "describe") || i.ServerInfo.Name != "discreet" {
		t.Errorf("%+v", i)
	}

	a.must("describe", nil, "patients", "0 .. 110", "asthma, diabetes", "pid -> patients.pid", "protects each person", "COUNT(*)")
	a.must("sandbox", sql(bySex), "MADE UP", "count", "±95%", "would cost at most epsilon 0.1")
	a.must("quote", sql(bySex), "price: epsilon 0.1; left: epsilon 2", "±95%", "left after it: epsilon 1.9")
	if n := w.charges("ana"); n != 0 {
		t.Fatalf("%d charges before anything was asked", n)
	}
	first := a.must("ask", sql(bySex), "price: epsilon 0.1; left: epsilon 1.9", "about 19 more", "receipt: record ", "±95%")
	if first.json["remaining"].(map[string]any)["epsilon"] != 1.9 || first.json["cost"].(map[string]any)["epsilon"] != 0.1 ||
		first.json["receipt"].(map[string]any)["free"] != false || len(first.json["rows"].([]any)) != 3 {
		t.Error(first.raw)
	}
	again := a.must("ask", sql(bySex), "price: free, already paid for; left: epsilon 1.9")
	if fmt.Sprint(again.json["rows"]) != fmt.Sprint(first.json["rows"]) {
		t.Errorf("%s\n%s", first.raw, again.raw)
	}
	a.must("quote", sql(bySex), "free now")
	a.must("budget", nil, "left: epsilon 1.9", "about 19 questions", "account hospital/ana: 5 %")
	if n := w.charges("ana"); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// Results are as the tools say that they are, errors too, which some clients look at by the same
// schema.
func TestOutputs(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), "{epsilon: 0.3, per_query: {default: 0.1}}\n    release: immediate")
	a := w.as("ana")
	all, err := a.ListTools(t.Context(), nil)
	must(t, err)
	calls := map[string][]any{"describe": {nil, map[string]any{"dataset": "no"}}, "budget": {nil, map[string]any{"dataset": "no"}}}
	for _, tool := range []string{"quote", "ask", "sandbox"} {
		calls[tool] = []any{sql(bySex), sql(bySex), sql("SELECT * FROM patients"), sql(""),
			sql("SELECT zip, age, COUNT(*) FROM patients GROUP BY 1, 2"), sql("SELECT COUNT(*) FROM visits", "epsilon", 0.2),
			sql(bySex, "settings", map[string]any{"dp.errors": "off"})}
	}
	for _, tool := range all.Tools {
		properties := tool.OutputSchema.(map[string]any)["properties"].(map[string]any)
		seen := map[string]bool{}
		for _, arguments := range calls[tool.Name] {
			for name, v := range a.call(tool.Name, arguments).json {
				seen[name] = true
				property, ok := properties[name].(map[string]any)
				if ok && !slices.Contains(strings.Fields(strings.Trim(fmt.Sprint(property["type"]), "[]")), kindOf(v)) {
					t.Errorf("%s: %s is %v and not %v", tool.Name, name, v, property["type"])
				}
			}
		}
		for name := range properties {
			if !seen[name] && !slices.Contains([]string{"request", "made_up", "position", "instead", "more"}, name) {
				t.Errorf("%s has never had %s", tool.Name, name)
			}
		}
	}
}

// kindOf is what JSON Schema calls a value.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return "string"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "object"
}

// Price and error can be chosen, and parameters are constants.
func TestQuestions(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), usual)
	a := w.as("ana")
	const count = "SELECT COUNT(*) FROM patients WHERE age >= $1"
	a.must("quote", sql(count, "parameters", []any{30}, "error", 10), "±95%", "epsilon 0.284", "10")
	a.must("ask", sql(count, "parameters", []any{30}, "epsilon", 0.25), "price: epsilon 0.25; left: epsilon 1.75")
	a.must("ask", sql(count, "parameters", []any{30}, "epsilon", "0.25", "confidence", 0.5), "free", "±50%")
	a.must("ask", sql(count, "parameters", []any{31}, "epsilon", 0.25), "left: epsilon 1.5")
	a.must("ask", sql("SELECT COUNT(*) FROM patients WHERE sex = ANY ($1)", "parameters", []any{[]any{"F", "X"}},
		"settings", map[string]any{"dp.counts": "nonnegative"}), "left: epsilon 1.4")
	a.fails("ask", sql(count), "refused", "spent: nothing")
	a.fails("ask", sql(count, "parameters", []any{30}, "epsilon", 0.1, "error", 5), "invalid", "only one of them")
	a.fails("ask", sql(count, "parameters", []any{30}, "epsilon", 7), "refused", "at most 1")
	a.fails("ask", sql(count, "parameters", []any{30}, "epsilon", 0), "invalid")
	a.fails("ask", sql(count, "parameters", []any{30}, "error", "much"), "invalid")
	a.fails("ask", sql(count, "parameters", "30"), "invalid", "parameters must be array, not string")
	a.fails("ask", map[string]any{"sql": 7}, "invalid", "sql must be string, not number")
	a.fails("ask", sql(count, "parameters", []any{30}, "settings", map[string]any{"dp.nothing": 1}), "invalid", "dp.nothing")
	star := a.fails("ask", sql("SELECT * FROM patients"), "refused", "would show rows", "instead: name aggregates", "byte 7",
		"spent: nothing")
	if star.json["position"] != 7.0 || star.json["spent"] != false || star.json["instead"] == nil {
		t.Error(star.raw)
	}
	if n := w.charges("ana"); n != 3 {
		t.Errorf("%d charges", n)
	}
}

// The sandbox is free for ever, says that it is made up whatever it says, and writes nothing.
func TestSandbox(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), "{epsilon: 0.1}\n    release: immediate")
	a := w.as("ana")
	for range 5 {
		got := a.must("sandbox", sql(bySex), "MADE UP")
		if got.json["made_up"] != true || got.json["receipt"] != nil || got.json["remaining"] != nil || got.json["would_cost"] == nil {
			t.Error(got.raw)
		}
	}
	got := a.fails("sandbox", sql("SELECT * FROM patients"), "refused", "MADE UP", "would show rows", "byte 7")
	if got.json["made_up"] != true {
		t.Error(got.raw)
	}
	a.fails("sandbox", sql(bySex, "request", "x"), "invalid")
	a.must("budget", nil, "left: epsilon 0.1")
	if n := w.charges("ana"); n != 0 {
		t.Errorf("%d charges", n)
	}
}

// What the sandbox says a question would cost is what it costs, with either kind of budget.
func TestSandboxPrices(t *testing.T) {
	for _, budget := range []string{usual, "{epsilon: 1, delta: 1e-6, per_query: {default: 0.05, max: 1}}\n    release: immediate"} {
		a := newWorld(t, hospital.New(people, 1), budget).as("ana")
		for _, q := range []map[string]any{sql(bySex), sql("SELECT COUNT(*) FROM visits"), sql("SELECT MEDIAN(age) FROM patients"),
			sql("SELECT ward, SUM(cost), STDDEV(cost) FROM visits GROUP BY ward", "epsilon", 0.4),
			sql("SELECT COUNT(*) FROM patients WHERE smoker", "error", 20),
			sql("SELECT zip FROM patients GROUP BY zip ORDER BY COUNT(*) DESC LIMIT 2")} {
			price, tried := a.must("quote", q).json["cost"], a.must("sandbox", q).json["would_cost"]
			if fmt.Sprint(price) != fmt.Sprint(tried) {
				t.Errorf("%s: %v costs %v, and %v in the sandbox", budget, q, price, tried)
			}
		}
	}
}

// A long answer is told in part, and the way to the rest that it names is free, at the same price,
// and has the other rows, whatever the order.
func TestManyRows(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), usual)
	a := w.as("ana")
	const many = "SELECT zip, age, COUNT(*) AS n FROM patients GROUP BY zip, age"
	for _, order := range []string{"", " ORDER BY n DESC", " ORDER BY age, zip"} {
		seen := map[string]bool{}
		for _, tool := range []string{"sandbox", "ask"} {
			got := a.must(tool, sql(many+order, "epsilon", 0.05), "55 more rows", "SELECT * FROM (the question) AS t LIMIT 500 OFFSET 500")
			if n := len(got.json["rows"].([]any)); n != 500 {
				t.Errorf("%s: %d rows", tool, n)
			}
			if tool == "ask" {
				got.rows(seen)
			}
		}
		a.must("ask", sql("SELECT * FROM ("+many+order+") AS t LIMIT 500 OFFSET 500", "epsilon", 0.05), "free").rows(seen)
		if len(seen) != 555 {
			t.Errorf("%s: %d rows in all", order, len(seen))
		}
	}
	if n := w.charges("ana"); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// rows adds the rows of an answer to a set.
func (s said) rows(to map[string]bool) {
	for _, row := range s.json["rows"].([]any) {
		to[fmt.Sprint(row)] = true
	}
}

// Two agents have quotas of their own. One that is at its end is told so, and keeps what it paid
// for; the other goes on.
func TestTwoAgents(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), "{epsilon: 1, per_query: {default: 0.2, max: 1}}\n    release: immediate")
	ana, ben := w.as("ana"), w.as("ben")
	question := func(i int) map[string]any {
		return sql("SELECT COUNT(*) FROM patients WHERE age >= $1", "parameters", []any{i})
	}
	paid := 0
	for i := range 5 { // of which half the budget pays two and a half
		got := ben.call("ask", question(i))
		switch {
		case !got.failed:
			paid++
		case got.json["kind"] != "budget" || got.json["spent"] != false || !strings.Contains(got.text, "left epsilon 0.1"):
			t.Error(got.text)
		}
	}
	if paid != 2 || w.charges("ben") != 2 {
		t.Errorf("%d answers, %d charges", paid, w.charges("ben"))
	}
	ben.must("ask", question(0), "free")
	ben.must("budget", nil, "left: epsilon 0.1", "about 0 questions")
	ben.must("sandbox", question(9), "MADE UP")
	ben.must("quote", question(9), "more than what is left")
	ana.must("ask", question(9), "left: epsilon 0.4")
	ana.must("ask", question(1), "free") // which a colleague paid for
	if w.charges("ana") != 1 {
		t.Errorf("%d charges", w.charges("ana"))
	}
}

// A call that is made again is one request, however its arguments are written; a name that was used
// for something else is refused; and where the data has changed it is another question.
func TestAskedAgain(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), usual)
	a := w.as("ana")
	first := a.must("ask", sql("SELECT COUNT(*) FROM visits", "epsilon", 0.5), "left: epsilon 1.5")
	name := first.json["request"].(string)
	if other := a.must("ask", sql("SELECT COUNT(*) FROM visits", "epsilon", "0.5"), "free"); other.json["request"] != name {
		t.Errorf("%v and %v", name, other.json["request"])
	}
	if b := w.as("ben").must("ask", sql("SELECT COUNT(*) FROM visits", "epsilon", 0.5), "free"); b.json["request"] == name {
		t.Error("two analysts have one name for a request")
	}
	a.must("ask", sql("SELECT COUNT(*) FROM patients", "request", "mine"), "left: epsilon 1.4")
	a.must("ask", sql("SELECT COUNT(*) FROM patients", "request", "mine"), "free")
	got := a.fails("ask", sql("SELECT COUNT(*) FROM patients WHERE age > 3", "request", "mine"), "request",
		"this request was charged before", "spent: nothing")
	if strings.Contains(got.text, "Idempotency") {
		t.Error(got.text)
	}
	a.fails("ask", sql("SELECT COUNT(*) FROM patients", "request", "two words"), "invalid")
	must(t, hospital.New(people, 2).Write(filepath.Join(w.dir, "data")))
	changed := a.must("ask", sql("SELECT COUNT(*) FROM visits", "epsilon", 0.5), "left: epsilon 0.9", "data version 2")
	if changed.json["request"] == name {
		t.Error("what was asked of other data has the same name")
	}
	if n := w.charges("ana"); n != 3 {
		t.Errorf("%d charges", n)
	}
}

// Who cancels before the turn of a question comes has paid nothing, and the session goes on.
func TestCancel(t *testing.T) {
	t.Parallel() // it waits
	w := newWorld(t, hospital.New(people, 1), "{epsilon: 2, per_query: {default: 0.1, max: 1}}\n    release: {tick: 2s}")
	a := w.as("ana")
	// Just after a tick, so that the question waits for the next.
	a.must("ask", sql("SELECT COUNT(*) FROM patients"))
	ctx, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	_, err := a.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: sql("SELECT COUNT(*) FROM visits")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	// The same by a client of an older version, which hangs up.
	r, err := http.NewRequestWithContext(ctx, "POST", w.address+"/mcp", strings.NewReader(
		`{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {"sql": "SELECT COUNT(*) FROM visits"}}}`))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	short, cancel := context.WithTimeout(t.Context(), 250*time.Millisecond)
	defer cancel()
	if _, err := bearer(w.tokens["ana"]).RoundTrip(r.WithContext(short)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	a.must("quote", sql("SELECT COUNT(*) FROM visits"), "price: epsilon 0.1; left: epsilon 1.9") // some ticks later
	if n := w.charges("ana"); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// Several at once, of two agents, are all answered, and each question is paid for once.
func TestAtOnce(t *testing.T) {
	w := newWorld(t, hospital.New(people, 1), "{epsilon: 10, per_query: {default: 0.1, max: 1}}\n    release: immediate")
	ana, ben := w.as("ana"), w.as("ben")
	const each = 12
	done := make(chan error, 2*each)
	for i := range each {
		for _, a := range []model{ana, ben} {
			go func() {
				r, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: sql(
					"SELECT COUNT(*) FROM patients WHERE age >= $1", "parameters", []any{i})})
				if err == nil && r.IsError {
					err = errors.New(r.Content[0].(*mcp.TextContent).Text)
				}
				done <- err
			}()
		}
	}
	for range 2 * each {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := w.charges("ana") + w.charges("ben"); n != each {
		t.Errorf("%d charges", n)
	}
}

// The tools say the same, to the byte, about data that differs in one person: all but what was paid
// for, whose numbers are noise.
func TestNeighbours(t *testing.T) {
	with := hospital.New(people, 1)
	one, two := newWorld(t, with, usual), newWorld(t, with.Without(hospital.Target), usual)
	calls := []struct {
		tool string
		with any
	}{
		{"describe", nil}, {"describe", map[string]any{"dataset": "hospital"}}, {"describe", map[string]any{"dataset": "other"}},
		{"sandbox", sql(bySex)}, {"sandbox", sql("SELECT ward, COUNT(*), SUM(cost) FROM visits GROUP BY ward")},
		{"sandbox", sql("SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV' AND zip = '1003A'")},
		{"sandbox", sql("SELECT p.sex, AVG(v.cost) FROM patients p JOIN visits v ON p.pid = v.pid GROUP BY p.sex")},
		{"sandbox", sql("SELECT MEDIAN(age) FROM patients")}, {"sandbox", sql("SELECT pid FROM patients")},
		{"sandbox", sql("DROP TABLE patients")}, {"sandbox", sql("SELECT 1/0 FROM patients")},
		{"quote", sql(bySex)}, {"quote", sql("SELECT pid FROM patients")},
		{"ask", sql("SELECT * FROM patients")}, {"ask", sql("SELECT zip FROM patients WHERE 1/(age-45) > 0")}, {"ask", sql("")},
		{"ask", sql(bySex, "epsilon", 2)}, {"ask", sql(strings.Repeat("(", 10_000))}, {"budget", nil},
	}
	a, b := one.as("ana"), two.as("ana")
	for _, c := range calls {
		x, y := a.call(c.tool, c.with), b.call(c.tool, c.with)
		if x.text != y.text || x.raw != y.raw || x.failed != y.failed {
			t.Errorf("%s %v:\n%s%s\n%s%s", c.tool, c.with, x.text, x.raw, y.text, y.raw)
		}
	}
	// What is paid for differs in its numbers and its hash alone.
	for _, q := range []map[string]any{sql(bySex), sql("SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV' AND zip = '1003A'")} {
		x, y := a.must("ask", q), b.must("ask", q)
		for _, member := range []string{"columns", "cost", "remaining", "limits", "confidence", "notes", "data_version", "more"} {
			if fmt.Sprint(x.json[member]) != fmt.Sprint(y.json[member]) {
				t.Errorf("%s: %v and %v", member, x.json[member], y.json[member])
			}
		}
	}
	if x, y := a.must("budget", nil), b.must("budget", nil); x.raw != y.raw {
		t.Errorf("%s\n%s", x.raw, y.raw)
	}
}

// A server that ends leaves nothing of its sandbox behind.
func TestNothingIsLeft(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Run("server", func(t *testing.T) {
		newWorld(t, hospital.New(people, 1), usual).as("ana").must("sandbox", sql(bySex))
		if made, err := filepath.Glob(filepath.Join(temp, "discreet-sandbox-*")); err != nil || len(made) != 0 {
			t.Error(made, err) // not even while it runs, so that nothing is left by one that is killed
		}
	})
	left, err := os.ReadDir(temp)
	must(t, err)
	for _, f := range left {
		if strings.HasPrefix(f.Name(), "discreet-sandbox-") {
			t.Errorf("%s is left", f.Name())
		}
	}
}
