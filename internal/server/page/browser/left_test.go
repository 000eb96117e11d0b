package browser

import (
	"strings"
	"testing"
)

// after: who signs in after somebody whose session ended by itself finds nothing of theirs, not
// even in the address; who comes back finds everything.
func after(t *testing.T, w *world) {
	const sql = "SELECT COUNT(*) AS n FROM patients WHERE age > 14"
	tb := w.open(t, "/ask", "ana")
	ended := func() {
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

// markup: whatever others write into titles and names is text, wherever it is shown.
func markup(t *testing.T, w *world) {
	const bad = `<img src=x onerror=window.broken=1><script>window.broken=1</script>`
	tb := w.open(t, "/ask", "ben")
	at := tb.eval(`async bad => {
		const post = async (path, body) => (await (await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' },
			body: JSON.stringify(body) })).json())
		const sql = 'SELECT sex AS "' + bad.slice(0, 40) + '", COUNT(*) AS "javascript:alert(1)" FROM patients GROUP BY sex'
		await post('/v1/query', { dataset: 'hospital', sql })
		const saved = await post('/v1/saved', { dataset: 'hospital', shared: true, title: bad, sql })
		return (await post('/v1/dashboards', { dataset: 'hospital', shared: true, title: bad, tiles: [{ saved: saved.id,
			place: { x: 0, y: 0, width: 12, height: 1 } }, { question: { title: bad, sql, chart: { kind: 'table' } },
			place: { x: 0, y: 1, width: 12, height: 1 } }] })).id
	}`, bad).Str()
	other := w.open(t, "/dashboards/"+at, "ana")
	other.reads("onerror=window.broken=1")
	other.until("both are answered", `() => document.querySelectorAll('.tile .hint').length >= 2 && !document.querySelector('.busy')`)
	other.click(".tile h2 a", "onerror")
	other.reads("already paid for")
	other.click("a", "^Saved$")
	other.reads("onerror")
	if other.eval(`() => window.broken === 1 || document.querySelector('main img[src="x"], main script') !== null`).Bool() {
		t.Error("what somebody wrote was run")
	}
}

// TestLeftBehind: what others leave behind, and what they write.
func TestLeftBehind(t *testing.T) {
	w := ordinary(t)
	t.Run("after", func(t *testing.T) { after(t, w) })
	t.Run("markup", func(t *testing.T) { markup(t, w) })
}

// TestStreamCSV: no value of a synthetic table is a formula for who opens it in a spreadsheet.
func TestStreamCSV(t *testing.T) {
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
	tb := w.open(t, "/streams?dataset=people", "ana")
	text := tb.saves("^CSV$")
	if !strings.HasPrefix(text, "plan,people\r\n") || !strings.Contains(text, "\n'=1+1,") || !strings.Contains(text, "\n\"say \"\"a\"\", b\",") {
		t.Errorf("it is %q", text)
	}
}
