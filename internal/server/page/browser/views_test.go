package browser

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/go-rod/rod/lib/proto"

	"github.com/discreet-dp/discreet/internal/hospital"
)

var screenshots = flag.String("screenshots", "", "write pictures of all views into this folder")

// view is a state of the page that is looked at: where it is, who sees it, and what is done before
// it is worth a look.
type view struct {
	name string // of the picture too
	path string
	who  string // nobody where it is empty
	do   func(*tab)
	// expected are complaints that belong to the view, such as the status of a refusal.
	expected []string
}

// refusal is what the browser says where a price is asked of a question that is refused.
const refusal = "^status: 422 POST /v1/explain$"

// views are all of them. Whoever makes a view enters it here, with its empty states, its troubles
// and its longest names.
var views = []view{
	{name: "signin", path: "/signin"},
	{name: "signin-wrong", path: "/signin", expected: []string{"^status: 401 POST /v1/signin$"}, do: func(tb *tab) {
		tb.fill("input[name=name]", "ana")
		tb.fill("input[name=password]", "guessed")
		tb.click("button", "^Sign in$")
		tb.reads("Name or password is wrong")
	}},
	{name: "nothing", path: "/owner", who: "ana", do: func(tb *tab) { tb.reads("There is nothing at this address") }},
	{name: "ask-none", path: "/ask", who: "cara", do: func(tb *tab) { tb.reads("No dataset is open to you") }},
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
		tb.reads("not distinguishable from 0")
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
		tb.ask("SELECT COUNT(*) AS n FROM patients")
		tb.reads("Your budget is spent")
		tb.write("SELECT COUNT(*) AS n FROM visits")
		tb.reads("more than what is left")
	}},
	{name: "ask-1000-groups", path: "/ask?dataset=wide", who: "ana", do: func(tb *tab) {
		tb.ask(`SELECT ` + long + `, COUNT(*) AS n FROM people GROUP BY ` + long)
		tb.reads("Show all 1000")
	}},
	{name: "ask-huge-and-tiny", path: "/ask?dataset=wide", who: "ana", do: func(tb *tab) {
		tb.ask("SELECT SUM(huge) AS huge, SUM(tiny) AS tiny FROM people")
		tb.reads("noise interval")
	}},
	{name: "saved", path: "/saved", who: "ana"},
	{name: "streams", path: "/streams", who: "ana"},
	{name: "holdouts", path: "/holdouts", who: "ana"},
	{name: "models", path: "/models", who: "ana"},
	{name: "owner", path: "/owner", who: "olga"},
	{name: "account", path: "/account", who: "ana"},
	{name: "playground", path: "/playground"},
}

// everything is a server with whatever the views are about.
func everything(t testing.TB) *world {
	t.Helper()
	files := map[string]string{}
	clinic(t, files, hospital.New(400, 1), "hospital", "{epsilon: 20, per_query: {default: 0.1, max: 2}}", elderly)
	clinic(t, files, hospital.New(20, 2), "spent", "{epsilon: 0.1, per_query: {default: 0.1, max: 0.1}}", "")
	wide(files)
	return newWorld(t, files)
}

// look is how a view is looked at.
type look struct {
	name          string
	width, height int
	phone, dark   bool
}

var looks = []look{{"desktop", 1180, 800, false, false}, {"desktop-dark", 1180, 800, false, true},
	{"phone-dark", 390, 780, true, true}, {"phone", 390, 780, true, false}}

// as makes the tab look as somebody sees it who has such a screen.
func (tb *tab) as(l look) {
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
// none is wider than its screen.
func TestViews(t *testing.T) {
	w := everything(t)
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			tb := newTab(t, w.base, v.expected...)
			tb.as(looks[0])
			if v.who == "" {
				tb.open(v.path)
			} else {
				tb.signIn(v.path, v.who, w.passwords[v.who])
			}
			if v.do != nil {
				v.do(tb)
			}
			tb.settle()
			for _, l := range looks {
				tb.as(l)
				rules := colours
				if !l.dark {
					rules = nil
				}
				tb.accessible(l.name, rules)
				if over := tb.eval(`() => document.documentElement.scrollWidth - innerWidth`).Int(); over > 0 {
					t.Errorf("%s: %d pixels wider than the screen", l.name, over)
				}
				if *screenshots != "" {
					tb.picture(filepath.Join(*screenshots, v.name+"-"+l.name+".png"), l.width)
				}
			}
		})
	}
}
