package browser

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// blur hides what noise may change, the numbers of rows and of their errors, and what is random or
// a time. Keys, nulls, the shape and how many rows there are stay.
func blur(text string) string {
	text = regexp.MustCompile(`(?s)"rows":\[.*\],"errors":.*,"cost"`).ReplaceAllStringFunc(text, func(part string) string {
		return regexp.MustCompile(`([\[,])-?[0-9.e+-]+`).ReplaceAllString(part, "${1}n")
	})
	return random.ReplaceAllString(text, "…")
}

var random = regexp.MustCompile(`"hash":"[0-9a-f]{64}"|urn:discreet:request:[0-9a-f]+|"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"|/assets/[^ ]*`)

// walk is somebody who is after one person, and looks at everything that the page has. It returns
// all that was sent and all that came back, as a set: what comes first is the browser's choice.
func walk(t *testing.T, w *world) []string {
	t.Helper()
	tb := w.tab(t, "ana", refusal, "^status: 402 ")
	_, err := tb.page.EvalOnNewDocument(held) // or what is asked for hangs on how fast the browser is
	tb.must(err)
	tb.open("/ask")
	rest := func() {
		tb.settle()
		tb.eval(`() => goOn()`)
		tb.settle()
	}
	for _, sql := range []string{
		"SELECT COUNT(*) AS n FROM patients WHERE zip = '1003A' AND diagnosis = 'HIV'",
		"SELECT diagnosis, COUNT(*) AS n FROM patients WHERE zip = '1003A' GROUP BY diagnosis",
		"SELECT SUM(CASE WHEN zip = '1003A' AND diagnosis = 'HIV' THEN cost ELSE 0 END) AS s FROM patients",
		"SELECT AVG(age) AS a, SUM(1 / (age - 37)) AS s FROM patients",
	} {
		before := len(tb.exchanges("POST", "/v1/query"))
		tb.write(sql)
		rest()
		tb.click("button.primary", "^Run$")
		tb.answered(before)
		rest()
	}
	tb.until("there is a ladder", `() => !!document.querySelector('.ladder button')`)
	tb.click(".ladder button", "more")
	tb.answered(4)
	rest()
	for _, sql := range []string{"SELECT MAX(age) FROM patients", "SELECT pid FROM patients WHERE diagnosis = 'HIV'",
		"SELECT COUNT(*) FROM patients WHERE CAST(zip AS INTEGER) > 0"} {
		tb.write(sql)
		rest()
		tb.until("it is refused or priced", `() => !!document.querySelector('.refused') || !!document.querySelector('.price strong') && !document.querySelector('.price.stale')`)
	}
	for _, view := range []string{"Saved", "Streams", "Holdouts", "Models"} {
		if view == "Streams" || view == "Holdouts" { // without a link, where there are none
			tb.open("/" + strings.ToLower(view))
		} else {
			tb.click("nav a", "^"+view+"$")
		}
		tb.until("the view is there", `() => !document.querySelector('main .busy')`)
		rest()
	}
	tb.click(".who a", "ana")
	rest()
	var out []string
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		for _, x := range tb.exchanges(method, "/v1/") {
			if x.path != "/v1/signin" || x.method == "GET" { // the other has a password in it
				body := anyPort.ReplaceAllString(x.body, "") // each server has another one
				out = append(out, blur(fmt.Sprintf("%s %s %s\n  %d %s", x.method, x.path, x.sent, x.status, body)))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var anyPort = regexp.MustCompile(`"postgres_port":\d+,`)

// TestBlur: what the comparison hides is noise, and nothing else.
func TestBlur(t *testing.T) {
	const with = `{"columns":["k","n"],"rows":[["a",12],["b",-3.5e-07]],"errors":[[null,30],[null,null]],"cost":{"epsilon":0.1}}`
	for other, same := range map[string]bool{
		strings.NewReplacer("12", "-7", "-3.5e-07", "4").Replace(with): true,
		strings.Replace(with, `"b"`, `"c"`, 1):                         false,
		strings.Replace(with, `,["b",-3.5e-07]`, "", 1):                false,
		strings.Replace(with, "-3.5e-07", "null", 1):                   false,
		strings.Replace(with, "[null,null]", "[null,3]", 1):            false,
		strings.Replace(with, "0.1", "0.2", 1):                         false,
	} {
		if got := blur(with) == blur(other); got != same {
			t.Errorf("%s is the same: %v", other, got)
		}
	}
}

// TestNeighbours: what the page loads for two databases that differ in one person is the same, byte
// for byte, but for noisy numbers.
func TestNeighbours(t *testing.T) {
	t.Parallel()
	theBrowser(t)
	with := hospital.New(100, 1)
	var loaded [2][]string
	t.Run("walks", func(t *testing.T) {
		for i, h := range []*hospital.Hospital{with, with.Without(hospital.Target)} {
			t.Run([]string{"with", "without"}[i], func(t *testing.T) {
				t.Parallel()
				files := map[string]string{}
				clinic(t, files, h, "hospital", "{epsilon: 0.6, per_query: {default: 0.1, max: 0.4}}", elderly)
				loaded[i] = walk(t, newWorld(t, files))
			})
		}
	})
	answers := 0
	for i := range min(len(loaded[0]), len(loaded[1])) {
		if loaded[0][i] != loaded[1][i] {
			t.Errorf("with the person\n%s\nand without\n%s", loaded[0][i], loaded[1][i])
		}
		if strings.HasPrefix(loaded[0][i], "POST /v1/query") {
			answers++
		}
	}
	if len(loaded[0]) != len(loaded[1]) || answers < 5 {
		t.Errorf("%d and %d were loaded, %d of them answers", len(loaded[0]), len(loaded[1]), answers)
	}
}

// TestTick: what leaves on a tick leaves on it for the page too: so many answers, refusals and
// looks at what is free, one after the other, take that many ticks, however fast they are
// computed.
func TestTick(t *testing.T) {
	t.Parallel()
	const tick = 100 * time.Millisecond
	files := map[string]string{}
	clinic(t, files, hospital.New(50, 1), "hospital", "{epsilon: 2, per_query: {default: 0.1, max: 1}}", "    release: {tick: 100ms}\n")
	tb := newWorld(t, files).open(t, "/ask", "ana", "^status: 4.. POST /v1/query$")
	for _, body := range []string{
		`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'"}`,             // paid once, then remembered
		`{"dataset":"hospital","sql":"SELECT pid FROM patients"}`,                                          // refused
		`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM visits","free":true}`,                           // its price
		`{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'","free":true}`, // remembered
	} {
		took := tb.eval(`async body => {
			const ask = async () => (await fetch('/v1/query', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).text()
			await ask() // it has left on a tick
			const begin = performance.now()
			for (let i = 0; i < 4; i++) await ask()
			return performance.now() - begin
		}`, body).Num()
		if least := 3.5 * float64(tick/time.Millisecond); took < least {
			t.Errorf("four of %s took %.0f ms, and a tick is %v", body, took, tick)
		}
	}
}
