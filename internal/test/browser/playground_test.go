package browser

import (
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
)

// openTables shows the numbers of all charts.
func openTables(tb *tab) {
	tb.eval(`() => document.querySelectorAll('main details').forEach(d => { d.open = true })`)
}

// TestPlayground: whoever comes may play, and what they do stays with them.
func TestPlayground(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	for name, test := range map[string]func(*testing.T, *tab){
		"sliders": knobs, "draws": draws, "survey": deniable, "motion": motion, "no motion": waitUntilStill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tb := newTab(t, w.base)
			test(t, tb)
			for _, x := range tb.exchanges("GET", "/v1/") {
				if x.path != "/v1/signin" && x.path != "/v1/me" {
					t.Errorf("it asks the server: %s", x.path)
				}
			}
			if n := len(tb.exchanges("POST", "/")); n > 0 {
				t.Errorf("it sent something to the server, %d times", n)
			}
		})
	}
}

// knob takes the keyboard to a slider.
func (tb *tab) knob(label string) {
	tb.t.Helper()
	tb.element("label", label)
	tb.eval(`l => document.getElementById([...document.querySelectorAll('label')].find(e => e.innerText === l).htmlFor).focus()`, label)
}

// address waits until the place in the address is as it should be.
func (tb *tab) address(want string) {
	tb.t.Helper()
	tb.until("the address is "+want, `w => location.pathname + location.search === w`, want)
}

// knobs: an address has every slider, the keyboard moves them, and the address follows.
func knobs(_ *testing.T, tb *tab) {
	tb.open("/playground/composition?epsilon=0.1&questions=100")
	tb.reads(`100 questions of ε 0\.1 together are worth at most ε 4\.775, and not 10`)
	for _, row := range []string{"simple.*10", `advanced.*6\.308`, `zero-concentrated.*5\.219`, `Rényi.*5\.073`, `optimal.*4\.775`} {
		tb.element("tr", strings.ReplaceAll(row, ".*", `[^]*`))
	}
	tb.knob("Questions")
	tb.press(input.ArrowRight)
	tb.address("/playground/composition?epsilon=0.1&questions=150")
	tb.reads("After 150 questions")
	tb.click("button", "^Usual values$")
	tb.address("/playground/composition")
	tb.reads("After 1,000 questions")
	tb.open("/playground/composition?epsilon=-1&questions=1e99&delta=x") // what is no value is the usual one
	tb.reads("1,000 questions of ε 0.01")
}

// draws: a law that changes is drawn anew, and its numbers are those of the server's accounting.
func draws(_ *testing.T, tb *tab) {
	tb.open("/playground/noise?kind=gaussian&epsilon=1&delta=0.00001")
	tb.reads(`Deviation of the noise\s+3\.73`)
	tb.reads("1,000 answers of each were drawn")
	tb.click("button", "^Draw 1,000$")
	tb.reads("2,000 answers of each were drawn")
	tb.knob("ε")
	tb.press(input.ArrowRight)
	tb.reads("1,000 answers of each were drawn")
	tb.click("button", "^Keep drawing$")
	tb.until("more are drawn", `() => Number(/([0-9,]+) answers/.exec(document.body.innerText)[1].replace(',', '')) > 1500`)
	tb.click("button", "^Pause$")
	tb.click("[role=tab]", "^Exponential$")
	tb.reads("Which illness is the most common")
}

// deniable: what somebody says is in no address and in no storage, and so are the coins.
func deniable(t *testing.T, tb *tab) {
	tb.open("/playground/survey?epsilon=5")
	for _, said := range []string{"Yes", "No"} {
		tb.click("button", "^"+said+"$")
		tb.reads(`You say\s+` + said)
		tb.reads(`What would be sent\s+(Yes|No)`)
	}
	time.Sleep(400 * time.Millisecond) // sliders have written theirs by now
	tb.address("/playground/survey?epsilon=5")
	if kept := tb.eval(`() => JSON.stringify([localStorage, sessionStorage, document.cookie, history.state])`).Str(); kept != `[{},{},"",null]` {
		t.Errorf("kept: %s", kept)
	}
}

const shownDots = `document.querySelectorAll('.scene circle').length`

// motion: the holdouts are played, can be paused, and go on.
func motion(_ *testing.T, tb *tab) {
	tb.open("/playground/holdout")
	tb.click("button", "^Pause$")
	tb.until("some are shown, and stay", `async () => {
		const n = `+shownDots+`
		await new Promise(done => setTimeout(done, 300))
		return n > 0 && n < 51 && n === `+shownDots+`
	}`)
	tb.click("button", "^Go on$")
	tb.until("all are shown", `() => `+shownDots+` === 51`)
	tb.element("button", "^Play again$")
}

// waitUntilStill: where motion is not wanted, everything is there at once.
func waitUntilStill(t *testing.T, tb *tab) {
	reduce := []*proto.EmulationMediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}}
	tb.must(proto.EmulationSetEmulatedMedia{Features: reduce}.Call(tb.page))
	tb.open("/playground/holdout")
	tb.element("button", "^Play again$")
	if n := tb.eval(`() => ` + shownDots).Int(); n != 51 {
		t.Errorf("%d of 51 are shown", n)
	}
}
