package browser

import (
	"strings"
	"testing"
)

// TestLeftBehind: who signs in after somebody whose session ended by itself finds nothing of
// theirs, not even in the address; who comes back finds everything.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	const sql = "SELECT COUNT(*) AS n FROM patients WHERE age > 14"
	tb := w.open(t, "/ask", "ana", "^status: 401 ") // what was on its way when the session ended
	ended := func() {
		tb.settle()
		tb.eval(`async () => { await fetch('/v1/signout', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' }) }`)
		tb.open("/ask?dataset=hospital&q=" + strings.ReplaceAll(sql, " ", "+"))
		tb.reads("Password")
	}
	back := func(name string) {
		tb.fill("input[name=name]", name)
		tb.fill("input[name=password]", w.passwords[name])
		tb.click("button", "^Sign in$")
		tb.until("somebody is signed in", `n => document.querySelector('.who')?.textContent.includes(n) && !document.querySelector('main .busy')`, name)
	}
	left := func() string {
		return tb.eval(`() => JSON.stringify({ ...localStorage, ...sessionStorage }) + decodeURIComponent(location.href)`).Str()
	}
	tb.ask(sql)
	ended()
	back("ana")
	if got := left(); !strings.Contains(got, "age > 14") {
		t.Errorf("Ana finds %s", got)
	}
	ended()
	back("ben")
	if got := left(); strings.Contains(got, "WHERE") {
		t.Errorf("Ben finds %s", got)
	}
}

// TestStreamCSV: no value of a synthetic table is a formula for who opens it in a spreadsheet.
func TestStreamCSV(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{
		"people/people.csv": "id,plan\n1,=1+1\n2,a\n",
		"policy.yaml": `datasets:
  people:
    engine: duckdb
    source: people
    unit: people.id
    release: immediate
    budget: {epsilon: 100}
    analysts: {ana: {share: 1}}
    tables:
      people:
        unique: id
        columns:
          plan: {type: text, keys: ["=1+1", 'say "a", b']}
    streams:
      plans: {table: people, columns: {plan: }, size: 300, alpha: 0.4, beta: 0.01, queries: 100}
`})
	tb := w.open(t, "/ask?dataset=people", "ana")
	tb.click("nav a", "^Streams$") // the policy declares one
	tb.reads("Nothing is known yet")
	text := tb.saves("^CSV$")
	if !strings.HasPrefix(text, "plan,people\r\n") ||
		!strings.Contains(text, "\n'=1+1,") || !strings.Contains(text, "\n\"say \"\"a\"\", b\",") {
		t.Errorf("it is %q", text)
	}
}
