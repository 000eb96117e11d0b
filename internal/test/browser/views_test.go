package browser

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

var screenshots = flag.String("screenshots", "", "write pictures of all views into this folder")

// view is a state of the page that is looked at: where it is, who sees it, and what is done before
// it is worth a look.
type view struct {
	name  string // of the picture too
	path  string
	who   string // nobody where it is empty
	do    func(*tab)
	alike bool // it looks so much like another one that there is no picture of it
	// expected are complaints that belong to the view, such as the status of a refusal.
	expected []string
}

// refusal is what the browser says where a price is asked of a question that is refused.
const refusal = "^status: 422 POST /v1/explain$"

// views are all of them. Whoever makes a view enters it here, with its empty states, its troubles
// and its longest names.
var views = []view{
	{name: "signin", path: "/signin"},
	{alike: true, name: "signin-wrong", path: "/signin", expected: []string{"^status: 401 POST /v1/signin$"}, do: func(tb *tab) {
		tb.fill("input[name=name]", "ana")
		tb.fill("input[name=password]", "guessed")
		tb.click("button", "^Sign in$")
		tb.reads("Name or password is wrong")
	}},
	{alike: true, name: "nothing", path: "/owner", who: "ana", do: func(tb *tab) { tb.reads("There is nothing at this address") }},
	{alike: true, name: "ask-none", path: "/ask", who: "cara", do: func(tb *tab) { tb.reads("You may not ask about any dataset") }},
	{name: "ask", path: "/ask?dataset=hospital", who: "ana"},
	{name: "ask-chart", path: "/ask?dataset=hospital", who: "ana", do: func(tb *tab) {
		tb.ask("SELECT diagnosis, COUNT(*) AS n FROM patients GROUP BY diagnosis")
		tb.reads("for [0-9.]+ more")
	}},
	{name: "ask-table", path: "/ask?dataset=hospital", who: "ana", do: func(tb *tab) {
		tb.ask("SELECT sex, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY sex")
		tb.click("[role=tab]", "Table")
	}},
	{name: "ask-number", path: "/ask?dataset=hospital&error=200", who: "ana", do: func(tb *tab) {
		tb.ask("SELECT COUNT(*) AS patients FROM patients WHERE smoker")
		tb.reads("noise interval") // most times it is not distinguishable from 0
	}},
	{name: "ask-elsewhere", path: "/ask?dataset=hospital", who: "ana", do: func(tb *tab) {
		tb.ask("SELECT zip, SUM(cost) AS total FROM patients GROUP BY zip")
		tb.click("button", "^Use elsewhere$")
		tb.reads("Bearer")
	}},
	{name: "ask-history", path: "/ask?dataset=hospital", who: "ana", do: func(tb *tab) {
		tb.ask("SELECT ward, SUM(cost) AS total FROM visits GROUP BY ward")
		tb.click("button", "^History$")
		tb.reads("Forget now")
	}},
	{name: "ask-refused", path: "/ask?dataset=hospital", who: "ana", expected: []string{refusal}, do: func(tb *tab) {
		tb.write("SELECT diagnose, COUNT(*) FROM patients GROUP BY diagnosis")
		tb.element(".refused button", "^Write diagnosis$")
	}},
	{name: "ask-spent", path: "/ask?dataset=spent", who: "ana", do: func(tb *tab) {
		tb.write("SELECT COUNT(*) AS n FROM patients")
		tb.priced()
		tb.click("button.primary", "^Run$")
		tb.click("dialog button", "^Ask for ε 0.1$")
		tb.reads("Your budget is used up")
		tb.write("SELECT COUNT(*) AS n FROM visits")
		tb.reads("more than you have left")
	}},
	{name: "ask-1000-groups", path: "/ask?dataset=wide", who: "ana", do: func(tb *tab) {
		tb.ask(`SELECT ` + long + `, COUNT(*) AS n FROM people GROUP BY ` + long)
		tb.reads("Show all 1000")
	}},
	{name: "ask-huge-and-tiny", path: "/ask?dataset=wide", who: "ana", do: func(tb *tab) {
		tb.ask("SELECT SUM(huge) AS huge, SUM(tiny) AS tiny FROM people")
		tb.reads("noise interval")
	}},
	{name: "save", path: "/ask?dataset=hospital", who: "ana", do: func(tb *tab) {
		tb.write("SELECT COUNT(*) FROM patients")
		tb.priced()
		tb.click("button", "^Save$")
		tb.reads("Save this question")
	}},
	{alike: true, name: "saved-none", path: "/saved", who: "cara", do: func(tb *tab) { tb.reads("Nothing is saved yet") }},
	{name: "saved", path: "/saved?dataset=hospital", who: "ana", do: func(tb *tab) {
		tb.keep("Patients by diagnosis", "SELECT diagnosis, COUNT(*) AS n FROM patients GROUP BY diagnosis")
		tb.keep(strings.Repeat("A title that is as long as a title may be, ", 4)+"and ends", "SELECT AVG(age) AS age FROM patients")
		tb.open("/saved?dataset=hospital")
		tb.reads("Patients by diagnosis")
	}},
	{name: "dashboard", path: "/saved?dataset=shared", who: "ana", expected: []string{unpaid}, do: func(tb *tab) {
		tb.board("Who comes to us")
		tb.reads("would have to be paid for")
		tb.click("button", "^Pay .* and refresh$")
		tb.until("all is paid", `() => document.querySelectorAll('.tile .chart, .tile .figures').length === 2 && !document.querySelector('main .busy')`)
	}},
	{name: "dashboard-unpaid", path: "/saved?dataset=shared", who: "ana", expected: []string{unpaid}, do: func(tb *tab) {
		tb.board("Not paid for yet")
		tb.reads("would have to be paid for")
	}},
	{alike: true, name: "streams-none", path: "/streams?dataset=spent", who: "ana"},
	{name: "streams", path: "/streams?dataset=sessions", who: "ana"},
	{alike: true, name: "holdouts-none", path: "/holdouts?dataset=spent", who: "ana"},
	{name: "holdouts", path: "/holdouts?dataset=sessions", who: "ana"},
	{name: "models", path: "/models?dataset=hospital", who: "ana"},
	{name: "owner", path: "/owner?dataset=shared", who: "olga"},
	{name: "owner-questions", path: "/owner/questions?dataset=shared", who: "olga"},
	{name: "owner-people", path: "/owner/people", who: "olga"},
	{name: "owner-failures", path: "/owner/failures?dataset=shared", who: "olga"},
	{name: "owner-ledger", path: "/owner/ledger", who: "olga"},
	{name: "owner-policy", path: "/owner/policy?dataset=shared", who: "olga"},
	{name: "account", path: "/account", who: "ana", do: func(tb *tab) { tb.reads("Discreet test") }},
	{name: "playground", path: "/playground"},
	{alike: true, name: "playground-nothing", path: "/playground/elsewhere", do: func(tb *tab) {
		tb.reads("There is nothing at this address")
	}},
	{name: "playground-noise", path: "/playground/noise", do: openTables},
	{alike: true, name: "playground-gaussian", path: "/playground/noise?kind=gaussian&epsilon=5&delta=1e-9&moves=10", do: openTables},
	{alike: true, name: "playground-exponential", path: "/playground/noise?kind=exponential&epsilon=5&lead=0", do: openTables},
	{name: "playground-composition", path: "/playground/composition", do: openTables},
	{alike: true, name: "playground-composition-most", path: "/playground/composition?epsilon=5&questions=10000&log=1", do: openTables},
	{name: "playground-survey", path: "/playground/survey", do: func(tb *tab) {
		tb.click("button", "^Yes$")
		tb.reads("What would be sent")
		openTables(tb)
	}},
	{name: "playground-holdout", path: "/playground/holdout", do: openTables},
}

// unpaid is what the browser says where a dashboard asks for what is free and gets a price.
const unpaid = "^status: 402 POST /v1/query$"

// keep saves a question, and returns its name.
func (tb *tab) keep(title, sql string) string {
	tb.t.Helper()
	return tb.send("/v1/saved", map[string]any{"title": title, "dataset": tb.dataset(), "sql": sql, "shared": true})
}

// board makes a dashboard of two questions and opens it.
func (tb *tab) board(title string) {
	tb.t.Helper()
	var tiles []map[string]any
	people := "FROM patients WHERE '" + title + "' <> ''" // another question on each of them
	for _, q := range [][2]string{{"Patients by diagnosis", "SELECT diagnosis, COUNT(*) AS n " + people + " GROUP BY diagnosis"},
		{"How old they are", "SELECT AVG(age) AS age " + people}} {
		tiles = append(tiles, map[string]any{"saved": tb.keep(q[0], q[1])})
	}
	id := tb.send("/v1/dashboards", map[string]any{"title": title, "dataset": tb.dataset(), "shared": true, "tiles": tiles})
	tb.open("/dashboards/" + id)
}

// dataset is the one that the address names.
func (tb *tab) dataset() string {
	return tb.eval(`() => new URLSearchParams(location.search).get('dataset')`).Str()
}

// send sends something that is kept, and returns under which name.
func (tb *tab) send(path string, body map[string]any) string {
	tb.t.Helper()
	id := tb.eval(`async (path, body) => { const r = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }); return r.ok ? (await r.json()).id : '' }`, path, body).Str()
	if id == "" {
		all := tb.exchanges("POST", path)
		tb.t.Fatalf("%s: %v", path, all[len(all)-1])
	}
	return id
}

// contest is a holdout on a file of labels.
const contest = `    holdouts:
      contest: {labels: labels.csv, column: label, id: patient, threshold: 0.04, noise: 0.01, answers: 200}
`

// everything is a server with whatever the views are about.
func everything(t testing.TB) *world {
	t.Helper()
	files := map[string]string{}
	clinic(t, files, hospital.New(400, 1), "hospital", "{epsilon: 20, per_query: {default: 0.1, max: 2}}", elderly)
	clinic(t, files, hospital.New(400, 3), "shared", "{epsilon: 20, per_query: {default: 0.5, max: 2}}", "")
	clinic(t, files, hospital.New(400, 4), "sessions", "{epsilon: 20, per_query: {default: 0.5, max: 2}}",
		contest+hospital.Stream(400, "0.25", "5"))
	var labels strings.Builder
	labels.WriteString("patient,label\n")
	for i := range 2000 {
		fmt.Fprintf(&labels, "%d,%d\n", i, i%2)
	}
	files["labels.csv"] = labels.String()
	clinic(t, files, hospital.New(20, 2), "spent", "{epsilon: 0.1, per_query: {default: 0.1, max: 0.1}}", "")
	wide(files)
	w := newWorld(t, files)
	w.spend(t, "ana", "shared", "SELECT COUNT(*) FROM visits", "SELECT ward, SUM(cost) FROM visits GROUP BY ward")
	w.spend(t, "ben", "shared", "SELECT MEDIAN(age) FROM patients", "SELECT zip, COUNT(*) FROM patients GROUP BY zip")
	return w
}

// screen is how a view is looked at.
type screen struct {
	name          string
	width, height int
	phone, dark   bool
}

var screens = []screen{{"desktop", 1180, 800, false, false}, {"desktop-dark", 1180, 800, false, true},
	{"phone-dark", 390, 780, true, true}, {"phone", 390, 780, true, false}}

// as makes the tab look as somebody sees it who has such a screen.
func (tb *tab) as(l screen) {
	tb.t.Helper()
	tb.must(proto.EmulationSetDeviceMetricsOverride{Width: l.width, Height: l.height, DeviceScaleFactor: 1, Mobile: l.phone}.Call(tb.page))
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	tb.must(proto.EmulationSetEmulatedMedia{Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: scheme},
		{Name: "prefers-reduced-motion", Value: "reduce"}}}.Call(tb.page))
	// Charts are drawn again where their width has changed.
	tb.eval(`() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))))`)
}

// TestViews: axe has nothing against any view, dark and light, on a desktop and on a phone, and
// none is wider than its screen. Every day axe looks at half of the views, on a light desktop and
// on one of the other screens; of those that look like another one, at a quarter.
func TestViews(t *testing.T) {
	t.Parallel()
	w := everything(t)
	var own, alike []view
	for _, v := range views {
		if v.alike {
			alike = append(alike, v)
		} else {
			own = append(own, v)
		}
	}
	if *screenshots == "" {
		own, alike = daily.Sample(t, own, len(own)/2), daily.Sample(t, alike, len(alike)/4)
	}
	for _, v := range append(own, alike...) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			tb := w.tab(t, v.who, v.expected...)
			tb.as(screens[0])
			tb.open(v.path)
			if v.do != nil {
				v.do(tb)
			}
			tb.settle()
			looked := append(daily.Sample(t, screens[1:], 1), screens[0])
			if *screenshots != "" {
				looked = screens
			}
			for _, l := range screens {
				seen := slices.Contains(looked, l)
				if l.dark && !seen { // it is as wide as without the dark
					continue
				}
				tb.as(l)
				rules := colours
				if !l.dark {
					rules = nil
				}
				if seen {
					tb.accessible(l.name, rules)
				}
				if over := tb.eval(`() => document.documentElement.scrollWidth - innerWidth`).Int(); over > 0 {
					t.Errorf("%s: %d pixels wider than the screen", l.name, over)
				}
				if *screenshots != "" && !v.alike {
					tb.picture(filepath.Join(*screenshots, v.name+"-"+l.name+".png"), l.width)
				}
			}
		})
	}
}
