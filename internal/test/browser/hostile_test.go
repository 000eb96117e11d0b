package browser

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"
)

// What somebody calls tables and columns who wants more than to be read. Names have at most 63
// bytes and no double quotes.
var (
	hostileTable   = `<img src=x onerror=hurt()>`
	hostileColumns = []string{`<script>hurt()</script>`, `'); hurt(); ('`, `${hurt()}{{hurt()}}`, `עברית <b>מודגש</b>`, strings.Repeat("w", 63)}
	hostileKeys    = []string{`"><svg onload=hurt()>`, `<iframe srcdoc="<script>parent.hurt()</script>">`, `javascript:hurt()`,
		`=HYPERLINK("http://x","y")`, "\u202egnp.exe", "&lt;b&gt;", `</title></style></script><script>hurt()</script>`,
		strings.Repeat("very long ", 99) + "end"}
)

// hostile is a server whose owner was handed a policy by somebody else.
func hostile(t testing.TB) *world {
	t.Helper()
	var data strings.Builder
	c := csv.NewWriter(&data)
	must(t, c.Write(append([]string{"id"}, hostileColumns...)))
	for i := range 40 {
		must(t, c.Write([]string{fmt.Sprint(i), hostileKeys[i%len(hostileKeys)], "1", "2", hostileKeys[1], "5"}))
	}
	c.Flush()
	quoted := func(v any) string { // JSON is YAML
		text, err := json.Marshal(v)
		must(t, err)
		return string(text)
	}
	policy := fmt.Sprintf(`datasets:
  hostile:
    engine: duckdb
    source: data
    unit: %s
    release: immediate
    budget: {epsilon: 20, per_query: {default: 1, max: 2}}
    analysts: {ana: {share: 1}}
    tables:
      %s:
        unique: id
        columns:
          %s: {type: text, keys: %s}
          %s: {type: integer, bounds: [0, 10]}
          %s: {type: integer, bounds: [0, 10]}
          %s: {type: text, keys: %s}
          %s: {type: integer, bounds: [0, 10]}
`, quoted(hostileTable+".id"), quoted(hostileTable), quoted(hostileColumns[0]), quoted(hostileKeys), quoted(hostileColumns[1]),
		quoted(hostileColumns[2]), quoted(hostileColumns[3]), quoted(hostileKeys[1:2]), quoted(hostileColumns[4]))
	return newWorld(t, map[string]string{"policy.yaml": policy, "data/" + hostileTable + ".csv": data.String()})
}

// harmless opens a tab in which it is seen whether anything of all this ran.
func (w *world) harmless(t testing.TB, path string, expected ...string) *tab {
	t.Helper()
	tb := w.tab(t, "ana", expected...)
	_, err := tb.page.EvalOnNewDocument(`window.hurt = () => forbidden('it ran')`)
	tb.must(err)
	tb.open(path)
	return tb
}

// shows fails where a text is not to be read in the page, letter by letter.
func (tb *tab) shows(where string, texts ...string) {
	tb.t.Helper()
	got := tb.eval(`() => document.body.textContent`).Str()
	for _, text := range texts {
		if !strings.Contains(got, text) {
			tb.t.Errorf("%s: %.80q is not shown as it is", where, text)
		}
	}
}

// TestHostileNames: names and keys are text wherever they are shown, and nothing of them runs.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	w := hostile(t)
	tb := w.harmless(t, "/ask", refusal)
	tb.shows("the schema", append([]string{hostileTable}, hostileColumns...)...)
	tb.shows("an example", `"`+hostileTable+`"`)
	column := `"` + hostileColumns[0] + `"`
	tb.ask("SELECT " + column + ", COUNT(*) AS \"<img src=y onerror=hurt()>\" FROM \"" + hostileTable + "\" GROUP BY " + column)
	tb.shows("the chart", hostileKeys[0], hostileKeys[1], hostileKeys[4], hostileKeys[6], hostileKeys[7], "<img src=y onerror=hurt()>")
	saved := strings.ReplaceAll(opened(t, tb.saves("^SVG$")).texts, "\n", " ")
	for _, key := range append([]string{"<img src=y onerror=hurt()>", hostileTable}, hostileKeys...) {
		if !strings.Contains(saved, key) {
			t.Errorf("%.80q is not as it is in what is saved", key)
		}
	}
	tb.click("[role=tab]", "^Table$")
	tb.shows("the table", hostileKeys...)
	tb.click("button", "^Use elsewhere$")
	tb.reads("Bearer")
	tb.shows("what is copied", hostileTable)
	tb.press(input.Escape)
	tb.until("Escape closes it", `() => !document.querySelector('dialog[open]')`)
	tb.click("button", "^History$")
	tb.reads("Forget now")
	tb.shows("the history", hostileTable)
	tb.press(input.Escape)
	tb.until("Escape closes it", `() => !document.querySelector('dialog[open]')`)
	tb.accessible("hostile names", nil)
	tb.as(screens[3])
	if over := tb.eval(`() => document.documentElement.scrollWidth - innerWidth`).Int(); over > 0 {
		t.Errorf("%d pixels wider than a phone", over)
	}
	// A refusal repeats what was written, in the page and at its place in the text.
	tb.write(`SELECT "` + hostileKeys[2] + `<img src=z onerror=hurt()>" FROM "` + hostileTable + `"`)
	tb.reads("There is no column")
	tb.shows("the refusal", `<img src=z onerror=hurt()>`)
	if n := tb.eval(`() => document.querySelectorAll('img:not([src="/icon.svg"]), iframe, script:not([src^="/assets/"])').length`).Int(); n != 0 {
		t.Errorf("%d elements were made of text", n)
	}
}

// TestHostileTitles: titles of what was saved, by whomever, are text.
func TestHostileTitles(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	titles := append([]string{hostileTable, hostileColumns[0], hostileColumns[3], strings.Repeat("w", 200)}, hostileKeys[:4]...)
	ben := w.open(t, "/saved?dataset=hospital", "ben")
	var tiles []map[string]any
	for _, title := range titles {
		tiles = append(tiles, map[string]any{"saved": ben.keep(title, "SELECT COUNT(*) AS n FROM patients")})
	}
	board := ben.send("/v1/dashboards", map[string]any{"title": hostileTable, "dataset": "hospital", "shared": true, "tiles": tiles})
	tb := w.harmless(t, "/saved?dataset=hospital", unpaid)
	tb.reads("onerror")
	tb.shows("what is saved", titles...)
	tb.open("/dashboards/" + board)
	tb.settle()
	tb.shows("the dashboard", titles...)
	for _, l := range screens {
		tb.as(l)
		if over := tb.eval(`() => document.documentElement.scrollWidth - innerWidth`).Int(); over > 0 {
			t.Errorf("%s: %d pixels wider than the screen", l.name, over)
		}
	}
	tb.accessible("the dashboard", nil)
}

// TestHostileAddress: whatever stands in an address, of this or of a view that there is not,
// nothing of it runs.
func TestHostileAddress(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	markup := url.QueryEscape(`<img src=x onerror=hurt()>`)
	tb := w.harmless(t, "/ask?q="+markup+"&error="+markup+"&epsilon=javascript:hurt()", "^status: 4.. ")
	tb.until("it is in the editor", `() => `+inEditor+`?.innerText.includes('<img src=x')`)
	tb.reads("syntax|cannot be read|not SQL|error")
	tb.settle()
	for _, path := range []string{"/ask?dataset=" + markup, "/signin?failed=" + markup, "/dashboards/" + markup, "/saved?id=" + markup,
		"/streams?stream=" + markup, "/playground/" + markup, "/account?" + markup + "=" + markup} {
		tb.open(path)
		tb.settle()
	}
}
