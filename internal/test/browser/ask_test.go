package browser

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod/lib/input"
)

// paid is what matters here of an answer.
type paid struct {
	Cost      struct{ Epsilon float64 }
	Remaining struct{ Epsilon float64 }
	Receipt   struct{ Free bool }
	Rows      [][]any
	Errors    [][]*float64
}

// last is what the last question was answered with.
func (tb *tab) last() paid {
	tb.t.Helper()
	all := tb.exchanges("POST", "/v1/query")
	// The page may have drawn it before this test hears of it.
	for end := time.Now().Add(patience); all[len(all)-1].body == "" && time.Now().Before(end); time.Sleep(15 * time.Millisecond) {
		all = tb.exchanges("POST", "/v1/query")
	}
	var a paid
	if err := json.Unmarshal([]byte(all[len(all)-1].body), &a); err != nil {
		tb.t.Fatalf("%v: %+v", err, all[len(all)-1])
	}
	return a
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// TestAsk: what the view promises to those who ask, each in a tab of its own.
func TestAsk(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	for name, test := range map[string]func(*testing.T, *world){
		"again": again, "ladder": climb, "history": remembered, "refused": refused, "average": average, "address": address,
		"slider": slider, "chart": charted, "keyboard": keyboard,
		"price": pricedOnce, "elsewhere": elsewhere, "files": files, "old price": late,
		"address is late": behind, "newcomer": newcomer, "back": back, "dear": dear, "books": books,
		"limits": chooses, "made up": madeUp, "taken": taken, "lettered": lettered, "along": along, "sure": sure,
		"table": tabular, "unlisted": unlisted,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, w)
		})
	}
}

// again: Ctrl-Enter runs, the price was what stood at the button, and the same question is free.
func again(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana")
	tb.write("SELECT COUNT(*) AS n FROM patients WHERE age > 11")
	tb.priced()
	if got := tb.element(".price", "").MustText(); !strings.Contains(got, "ε 0.1") || !strings.Contains(got, "±30") {
		t.Errorf("the price is %q", got)
	}
	tb.press(input.Enter, input.ControlLeft)
	tb.answered(0)
	first := tb.last()
	if !near(first.Cost.Epsilon, 0.1) || first.Receipt.Free {
		t.Errorf("paid %+v", first)
	}
	tb.reads("Paid ε 0.1")
	tb.element(".price.free", "^free") // grey, and says why
	tb.reads("already paid for")
	tb.press(input.Enter, input.ControlLeft)
	tb.answered(1)
	if second := tb.last(); second.Cost.Epsilon != 0 || !second.Receipt.Free || fmt.Sprint(second.Rows) != fmt.Sprint(first.Rows) {
		t.Errorf("the second time %+v", second)
	}
	tb.reads("Free: already paid for")
	if n := len(tb.exchanges("POST", "/v1/query")); n != 2 {
		t.Errorf("%d questions were asked", n)
	}
}

// tabular: a table with three noisy columns fits a laptop's screen. One that does not fit scrolls
// by itself, and the page stays where it is.
func tabular(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana")
	tb.as(screen{"laptop", 1280, 800, false, false})
	tb.ask("SELECT diagnosis, COUNT(*) AS number_of_patients, SUM(cost) AS total_cost_of_them, AVG(age) AS average_age_of_them " +
		"FROM patients GROUP BY diagnosis")
	tb.click("button", "^Table$")
	over := func(of string) int {
		return tb.eval(`of => { const e = document.querySelector(of); return e.scrollWidth - e.clientWidth }`, of).Int()
	}
	if n := over(".result .rows"); n > 0 {
		t.Errorf("the table is %d pixels too wide", n)
	}
	tb.as(screen{"half", 640, 800, false, false})
	if table, page := over(".result .rows"), over("html"); table <= 0 || page > 0 {
		t.Errorf("on half a screen the table is %d pixels wider, and the page %d", table, page)
	}
}

// unlisted: a constant that is none of the listed keys is named before anything is paid.
func unlisted(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana")
	tb.write("SELECT COUNT(*) FROM patients WHERE sex = 'Female'")
	tb.priced()
	tb.reads("'Female' is none of the keys that the policy lists for sex")
}

// climb: a rung of the ladder says what it costs, and costs that.
func climb(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana")
	tb.ask("SELECT COUNT(*) AS n FROM patients WHERE age > 12")
	tb.reads(`±30 paid.*±15 for 0\.1 more.*±7 for 0\.3 more`)
	tb.click(".ladder button", "for 0.1 more")
	tb.answered(1)
	if a := tb.last(); !near(a.Cost.Epsilon, 0.1) || *a.Errors[0][0] > 16 {
		t.Errorf("the difference cost %+v", a)
	}
	tb.reads(`±15 paid.*±7 for 0\.2 more`)
	tb.click("button", "^Use elsewhere$")
	tb.reads(`released with ε = 0\.2;`) // of which 0.1 was paid before
}

// remembered: what was asked is in the history of this browser, is written back by a click, and is
// gone when somebody signs out.
func remembered(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana", "^status: 401 POST /v1/explain$") // a price that is asked for as she signs out
	sql := "SELECT COUNT(*) AS n FROM patients WHERE age > 13"
	tb.ask(sql)
	tb.write("SELECT COUNT(*) FROM patients")
	tb.click("button", "^History$")
	tb.click("dialog .history button", "age > 13")
	tb.until("it is written back", `want => `+inEditor+`.innerText.trim() === want`, sql)
	tb.click("button", "^Sign out$")
	tb.reads("Password")
	if left := tb.eval(`() => JSON.stringify({ ...localStorage, ...sessionStorage })`).Str(); strings.Contains(left, "age > 13") {
		t.Errorf("somebody else finds %s", left)
	}
}

// refused: a refusal is marked at its place, keeps Run from being pressed, and has a button that
// writes what was meant.
func refused(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana", refusal)
	tb.write("SELECT COUNT(*) AS n, 'ä€😀' AS x FROM patient")
	tb.reads("There is no table")
	tb.until("the place is marked", `() => document.querySelector('.editor').shadowRoot.querySelector('.cm-lintRange-error')?.innerText === 'patient'`)
	if off, err := tb.element("button.primary", "^Run$").Disabled(); err != nil || !off {
		t.Error("what is refused can be run")
	}
	tb.click(".refused button", "^Write patients$")
	tb.until("it is written", `() => `+inEditor+`.innerText.trim().endsWith('FROM patients')`)
	tb.priced()
	tb.until("the mark is gone", `() => !document.querySelector('.editor').shadowRoot.querySelector('.cm-lintRange-error')`)
	tb.write("SELECT * FROM patients")
	tb.click(".refused button", `^Write SELECT (\w+), COUNT\(\*\) FROM patients GROUP BY (\w+)$`)
	tb.until("another question is written", `() => `+inEditor+`.innerText.trim().includes('GROUP BY')`)
	tb.priced()
	for _, c := range [][3]string{
		{"SELECT cuont(*) FROM patients", "^Write COUNT$", "SELECT COUNT(*) FROM patients"},
		{`SELECT COUNT(*) FROM patients WHERE age > "50"`, "^Write 50$", "SELECT COUNT(*) FROM patients WHERE age > 50"},
	} {
		tb.write(c[0])
		tb.click(".refused button", c[1])
		tb.until("one word is written", `want => `+inEditor+`.innerText.trim() === want`, c[2])
		tb.priced()
	}
}

// average: an average has a price and an expected error, for as many values as somebody says or an
// answer has, and an error can be asked for; that of another question is forgotten.
func average(t *testing.T, w *world) {
	tb := w.open(t, "/ask?error=25", "ana", refusal)
	tb.write("SELECT sex, AVG(age) AS mean FROM patients WHERE age > 3 GROUP BY sex")
	tb.until("the error is of the average", `() => /≈ ±[\d,.]+ on avg\(age\)/.test(document.querySelector('.price').innerText) && !document.querySelector('input[type=range]').disabled`)
	tb.reads("How exact an average is depends on how many values")
	at := `() => document.querySelector('.scale.above span:nth-child(3)').innerText`
	tb.until("there is a scale", at+`.startsWith('±') && !/SET dp/.test(document.body.innerText)`)
	before := tb.eval(at).Str()
	tb.fill(`input[aria-label="Values in a group"]`, "1")
	tb.until("no error is wider than the bounds leave", `() => [...document.querySelectorAll('.scale.above span')].slice(0, 3).every(s => s.innerText === '±55') &&
		/≈ ±55 on avg\(age\)/.test(document.querySelector('.price').innerText)`)
	tb.must(tb.element("input[type=range]", "").Focus())
	tb.press(input.ArrowRight)
	tb.reads(`SET dp\.epsilon = [0-9.]+`)
	tb.click("button", "^usual price$")
	tb.priced()
	tb.fill(`input[aria-label="Values in a group"]`, "500")
	tb.until("the scale is of as many", `old => (`+at+`)() !== old && (`+at+`)() !== '±55'`, before)
	tb.must(tb.element("input[type=range]", "").Focus())
	tb.press(input.ArrowRight)
	tb.reads(`SET dp\.error = [0-9.]+; SET dp\.values = 500`)
	tb.until("the address says so", `() => location.search.includes('values=500')`)
	tb.click("label", "by price")
	tb.reads(`SET dp\.epsilon = [0-9.]+`)
	tb.click("button", "^usual price$")
	tb.priced()
	tb.click("button.primary", "^Run$")
	tb.until("the ladder has the widest error of the answer", `() => /^up to ±[\d.,]+ paid/.test(document.querySelector('.ladder')?.innerText ?? '')`)
	tb.open("/ask?epsilon=2")
	tb.ask("SELECT AVG(age) AS mean FROM patients WHERE age > 3")
	tb.reads("as the smallest in the answer below has")
}

// newcomer: on data that is not the hospital, everything that is proposed can be asked, and an
// answer says what it leaves out and draws nothing that cannot be.
func newcomer(t *testing.T, w *world) {
	tb := w.open(t, "/ask?dataset=trips", "ana", refusal, "^status: 429 POST /v1/signin$")
	tb.until("the editor proposes a question to this data", `() => `+inEditor+`?.querySelector('.cm-placeholder')?.innerText.endsWith('FROM trips GROUP BY origin')`)
	if got := tb.element(".examples", "").MustText(); strings.Contains(got, "month") || !strings.Contains(got, "SUM(distance)") {
		t.Errorf("the examples are %s", got)
	}
	if got := tb.element(".schema", "").MustText(); !strings.Contains(got, "late\nboolean\nkey (2)") {
		t.Errorf("the columns are %s", got)
	}
	if got := tb.element("nav", "").MustText(); strings.Contains(got, "Streams") || strings.Contains(got, "Holdouts") {
		t.Errorf("there is %s, and the policy declares none", got)
	}
	tb.write("SELECT * FROM trips")
	tb.element(".refused button", `^Write SELECT carrier, COUNT\(\*\) FROM trips GROUP BY carrier$`)
	tb.ask("SELECT origin, carrier, AVG(dep_delay) AS delay FROM trips GROUP BY origin, carrier")
	tb.reads(`Of each person at most 10 rows in each of at most 2 groups count\. The noise intervals do not contain`)
	drawn := tb.eval(`() => { const c = document.querySelector('.chart'); return [Math.min(...[...c.querySelectorAll('.axis text')].map(e => Number(e.textContent.replace('−', '-')))), [...c.querySelectorAll('.point text')].map(e => e.textContent).join()] }`).Arr()
	if drawn[0].Num() < -100 || !strings.Contains(drawn[1].Str(), "ATL · AA") || strings.Contains(drawn[1].Str(), "…") {
		t.Errorf("the axis begins at %v, and the groups are %v", drawn[0], drawn[1])
	}
	tb.click("[role=tab]", "^Table$")
	tb.reads(`Of each person at most 10 rows`)
	tb.reads(`[1-9]\d*% used, enough for about \d+ questions (?:like this|at the usual price) \(ε [\d.]+ of ε 5 left\)`)
	tb.ask("SELECT COUNT(DISTINCT person) AS people FROM trips")
	if tb.eval(`() => /Of each person/.test(document.body.innerText)`).Bool() {
		t.Error("everybody is counted once, and it says that somebody is left out")
	}
	tb.click("button", "^Save$")
	tb.fill("input[name=title]", "People")
	tb.click("dialog button.primary", "^Save$")
	tb.reads("Saved: see all")
	tb.until("the dialog is closed", `() => !document.querySelector('dialog[open]')`)
	tb.write("SELECT fee, COUNT(*) FROM trips GROUP BY fee")
	tb.until("a name keeps its letters", `() => document.querySelector('.refused')?.innerText.startsWith('fee has no public keys')`)
	tb.click("button", "^Sign out$")
	tb.eval(`() => { const real = fetch; window.fetch = (path, how) => path === '/v1/signin' ? Promise.resolve(new Response('{"kind":"limit","detail":"too many","instead":"wait as long as Retry-After says"}', { status: 429, headers: { 'Retry-After': '90' } })) : real(path, how) }`)
	tb.fill("input[name=name]", "ana")
	tb.fill("input[name=password]", "guessed")
	tb.click("button", "^Sign in$")
	tb.reads("Wait 90 seconds")
}

// chooses: limits choose themselves where somebody wants that, within the price at the button; and
// what then is known to be cut is not shown with a tight interval alone.
func chooses(t *testing.T, w *world) {
	tb := w.open(t, "/ask?dataset=trips&epsilon=0.5", "ben")
	tb.write("SELECT COUNT(*) AS n FROM trips")
	tb.priced()
	tb.click(".choose input", "")
	tb.until("the address says so", `() => location.search.includes('auto=limits')`)
	tb.reads("limits are chosen for a price, and nobody knows the error before they are")
	tb.must(tb.element("input[type=range]", "").Focus())
	tb.press(input.Home)
	tb.until("the lowest price of the scale can be paid", `() => /^ε 0[.]0\d+, enough/.test(document.querySelector('.run .price')?.innerText)`)
	tb.open("/ask?dataset=trips&epsilon=0.5&auto=limits")
	tb.write("SELECT COUNT(*) AS n FROM trips")
	tb.until("nobody knows the error yet", `() => /^ε 0.5, enough/.test(document.querySelector('.run .price')?.innerText)`)
	tb.click("button", "^Run$")
	tb.reads("[Mm]ax_rows [0-9]+ chosen for the least error")
	tb.reads(`The count that limits were chosen from cost epsilon 0\.\d+ of the price, once \(record \d+\)`)
	tb.until("it is free from then on", `() => /^free/.test(document.querySelector('.run .price')?.innerText)`)
	tb.click(".choose input", "")
	tb.until("the usual limits are back, and what was paid counts", `() => /^ε 0[.][0-9]+ ±/.test(document.querySelector('.run .price')?.innerText)`)
	tb.click("button", "^Run$")
	tb.until("it warns", `() => /of the rows count/.test(document.querySelector('.result.little .notice.bad.cut')?.innerText)`)
	tb.until("both intervals are there", `() => /with what is cut/.test(document.querySelector('.figure')?.innerText)`)
	tb.open("/ask?dataset=trips&epsilon=0.1") // others have to be paid for, too
	tb.write("SELECT origin, COUNT(*) AS n, SUM(distance) AS s FROM trips GROUP BY origin")
	tb.priced()
	tb.click("button", "^Run$")
	tb.until("both are drawn, too", `() => document.querySelectorAll('.chart .point path.whole').length === 6 && /Thin lines include what limits cut/.test(document.querySelector('.chart')?.innerText)`)
}

// madeUp: who tries a question out on people who do not exist is told so, pays nothing, and has no
// numbers to take along.
func madeUp(t *testing.T, w *world) {
	tb := w.open(t, "/ask?dataset=trips&epsilon=0.15", "ben")
	tb.write("SELECT origin, COUNT(*) AS n FROM trips WHERE distance > 77 GROUP BY origin")
	tb.priced()
	tb.click("button", "^Try on made-up people$")
	tb.reads("Made up. These people do not exist.*On the data this would cost at most ε 0.15")
	tb.until("nothing of it can be taken along", `() => !!document.querySelector('.result.made-up svg') && !document.querySelector('.result .ways, .result .receipt, .result .take, .ladder')`)
	if n := len(tb.exchanges("POST", "/v1/query")); n != 1 {
		t.Errorf("%d questions were asked", n)
	}
	tb.click("button.primary", "^Run$")
	tb.until("and then the real one", `() => !!document.querySelector('.result:not(.made-up) .receipt')`)
}

// back: who goes back comes to the question before, with its answer, and pays nothing.
func back(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana", "^status: 402 POST /v1/query$")
	tb.ask("SELECT COUNT(*) AS n FROM patients WHERE age > 31")
	first := tb.last()
	tb.ask("SELECT COUNT(*) AS n FROM patients WHERE age > 32")
	tb.settle()
	tb.eval(`() => history.back()`)
	tb.until("the question before is there", `() => `+inEditor+`?.innerText.trim().endsWith('age > 31') && location.search.includes('31')`)
	tb.until("and its answer", `n => document.querySelector('.figure .value')?.innerText === n`, fmt.Sprint(first.Rows[0][0]))
	tb.settle()
	if a := tb.last(); a.Cost.Epsilon != 0 {
		t.Errorf("to go back cost %v", a.Cost.Epsilon)
	}
	tb.eval(`() => history.forward()`)
	tb.until("and the next one", `() => `+inEditor+`?.innerText.trim().endsWith('age > 32')`)
}

// dear: a click that would take most of what is left asks first.
func dear(t *testing.T, w *world) {
	tb := w.open(t, "/ask?dataset=small", "ana")
	tb.write("SELECT COUNT(*) AS n FROM patients")
	tb.priced()
	tb.click("button.primary", "^Run$")
	tb.reads("This takes most of what you have left.*ε 0.6")
	tb.click("dialog button", "^Do not ask$")
	tb.settle()
	if n := len(tb.exchanges("POST", "/v1/query")); n != 0 {
		t.Errorf("%d questions were asked", n)
	}
	tb.click("button.primary", "^Run$")
	tb.click("dialog button", "^Ask for ε 0.6$")
	tb.answered(0)
}

// books: the owner sees what a question cost where the budget has a delta, and the kind of its
// noise; on a phone how much of each account is used.
func books(t *testing.T, w *world) {
	w.spend(t, "ana", "trips", "SELECT month, COUNT(*) FROM trips GROUP BY month")
	tb := w.open(t, "/owner/questions?dataset=trips", "olga")
	tb.until("the charge is there", `() => [...document.querySelectorAll('tbody tr')].some(r => r.cells[3].innerText === 'ε 0.25' && r.cells[4].innerText === 'gaussian')`)
	tb.as(screens[3])
	tb.open("/owner?dataset=trips")
	tb.until("the axis has what the title says", `() => { const c = document.querySelector('.chart'); const of = /in (\w+)$/.exec(c?.querySelector('figcaption')?.innerText)?.[1];
		return of && [...c.querySelectorAll('text')].some(t => t.textContent === of + ' spent') }`)
	tb.until("how much is used is on the screen", `() => { const m = document.querySelector('td meter'); return !!m && m.parentElement.getBoundingClientRect().right <= innerWidth }`)
}

// address: the address holds the question and the wish, and shows the answer to whoever opens it,
// as long as that is free; and else its price.
func address(t *testing.T, w *world) {
	sql := "SELECT sex, COUNT(*) AS n FROM patients WHERE age > 14 GROUP BY sex"
	path := "/ask?" + url.Values{"dataset": {"hospital"}, "q": {sql}, "error": {"25"}}.Encode()
	tb := w.open(t, path, "ana", "^status: 402 POST /v1/query$")
	tb.priced()
	tb.until("the editor has what the address says", `want => `+inEditor+`?.innerText.trim() === want`, sql)
	if tb.eval(`() => !!document.querySelector('.result')`).Bool() {
		t.Error("an answer is shown before somebody asked")
	}
	tb.reads(`SET dp\.error = 25`)
	tb.click("button.primary", "^Run$")
	tb.until("there is an answer", `() => !!document.querySelector('.result .ladder')`)
	shown := tb.element(".result", "").MustText()
	tb.until("the address has it", `want => new URLSearchParams(location.search).get('q') === want`, sql)
	tb.must(tb.page.Reload())
	tb.until("there is the answer", `() => !!document.querySelector('.result .ladder') && !document.querySelector('.work .busy')`)
	numbers := func(s string) string { s, _, _ = strings.Cut(s, "±25 paid"); return s }
	if got := tb.element(".result", "").MustText(); numbers(got) != numbers(shown) {
		t.Errorf("it showed\n%s\nand shows\n%s", shown, got)
	}
	if a := tb.last(); a.Cost.Epsilon != 0 {
		t.Errorf("to look again cost %v", a.Cost.Epsilon)
	}
}

// slider: the knob writes an error at first and a price where that is preferred, both scales have
// numbers, and what it writes is what is asked.
func slider(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana")
	tb.write("SELECT COUNT(*) AS n FROM patients WHERE age > 15")
	tb.priced()
	tb.until("there are two scales", `() => document.querySelectorAll('.scale.above span').length === 5 && [...document.querySelectorAll('.scale span')].every(s => s.innerText !== '')`)
	tb.must(tb.element("input[type=range]", "").Focus())
	for range 15 {
		tb.press(input.ArrowRight)
	}
	tb.reads(`SET dp\.error = [0-9.]+`)
	tb.until("the address has it", `() => Number(new URLSearchParams(location.search).get('error')) > 0`)
	tb.click("label", "by price")
	tb.reads(`SET dp\.epsilon = [0-9.]+`)
	tb.priced()
	tb.settle()
	wanted := tb.eval(`() => Number(/SET dp.epsilon = ([0-9.]+)/.exec(document.body.innerText)[1])`).Num()
	tb.click("button.primary", "^Run$")
	tb.answered(0)
	if a := tb.last(); !near(a.Cost.Epsilon, wanted) || wanted <= 0.1 {
		t.Errorf("the slider says %v, and it cost %v", wanted, a.Cost.Epsilon)
	}
	tb.click("button", "^usual price$")
	tb.until("the usual price is back", `() => !/SET dp/.test(document.querySelector('.slider').innerText)`)
}

// charted: groups are dots with intervals and never bars, the same numbers are in the table, and
// what the noise swamps says so.
func charted(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana")
	tb.ask("SELECT diagnosis, COUNT(*) AS n FROM patients WHERE age > 16 GROUP BY diagnosis")
	shown := tb.eval(`() => { const c = document.querySelector('.chart'); return [c.querySelectorAll('circle').length, c.querySelectorAll('line.whisker').length, c.querySelectorAll('rect').length, c.querySelectorAll('.point.lost').length] }`).Arr()
	tb.click("[role=tab]", "^Table$")
	table := tb.element(".result table", "").MustText()
	a, lost := tb.last(), 0
	for i, row := range a.Rows {
		if !strings.Contains(table, fmt.Sprintf("%v\t%v ± %v", row[0], row[1], *a.Errors[i][1])) {
			t.Errorf("%v ± %v is not in %s", row, *a.Errors[i][1], table)
		}
		if math.Abs(row[1].(float64)) <= *a.Errors[i][1] {
			lost++
		}
	}
	if shown[0].Int() != 6 || shown[1].Int() != 6 || shown[2].Int() != 0 || shown[3].Int() != lost {
		t.Errorf("dots, intervals, bars and what is lost (%d): %v", lost, shown)
	}
	if n := strings.Count(table, "not distinguishable from 0"); n != lost {
		t.Errorf("%d of %d say so", n, lost)
	}
	tb.ask("SELECT date_trunc('month', day) AS month, COUNT(*) AS n FROM visits " +
		"WHERE day >= '2025-01-01' AND day < '2025-07-01' GROUP BY month")
	tb.until("times have a band", `() => !!document.querySelector('.chart path.band') && !document.querySelector('.chart rect')`)
}

// keyboard: somebody without a mouse comes from the form to an answer and to its table.
func keyboard(t *testing.T, w *world) {
	tb := newTab(t, w.base, refusal) // of what is not typed to its end, on a machine that is slow
	tb.as(screens[0])
	tb.open("/")
	tb.until("the name has the focus", `() => document.activeElement.name === 'name'`)
	keys := tb.page.Timeout(patience).Keyboard
	typed := func(text string) {
		for _, c := range text {
			tb.must(keys.Type(input.Key(c)))
		}
	}
	typed("ana")
	tb.press(input.Tab)
	typed(w.passwords["ana"])
	tb.press(input.Enter)
	tb.until("the editor has the focus", `() => document.activeElement?.shadowRoot?.activeElement?.classList.contains('cm-content')`)
	// Completion knows what a question can have, and proposes no word that is there.
	const proposed = `[...document.activeElement.shadowRoot.querySelectorAll('.cm-completionLabel')].map(e => e.textContent)`
	typed("SELECT me")
	tb.until("the median is proposed", `() => { const all = `+proposed+`; return all.includes('MEDIAN') && !all.includes('MERGE') }`)
	typed("dian")
	tb.until("nothing is proposed for the whole word", `() => `+proposed+`.length === 0`)
	tb.press(input.KeyA, input.ControlLeft)
	tb.press(input.Backspace)
	typed("SELECT sex, COUNT(*) FROM patients WHERE age > 17 GROUP BY sex ")
	tb.press(input.Escape) // what completion proposes
	tb.priced()
	tb.press(input.Enter, input.ControlLeft)
	tb.answered(0)
	for range 60 { // Tab leaves the editor, and comes to everything
		if tb.eval(`() => document.activeElement.getAttribute('role') === 'tab'`).Bool() {
			break
		}
		tb.press(input.Tab)
		if !tb.eval(`() => { const e = document.activeElement; return e === document.body || e.matches('.editor') || e.matches(':focus-visible') && (getComputedStyle(e).outlineStyle !== 'none' || getComputedStyle(e).boxShadow !== 'none') }`).Bool() {
			t.Errorf("nobody sees where the focus is: %s", tb.eval(`() => document.activeElement.outerHTML.slice(0, 200)`).Str())
		}
	}
	tb.press(input.ArrowRight)
	tb.until("the table is there", `() => document.querySelectorAll('.result tbody tr').length === 3`)
}

// held is a clock that stands until it is told to go on: what the page wants done later is kept.
// The editor's own times are shorter, and go on.
const held = `(() => {
	const real = setTimeout, stop = clearTimeout, waiting = new Map()
	let n = 1e6, stands = true
	window.setTimeout = (f, ms, ...args) => stands && ms > 100 && ms <= 500 ? (waiting.set(++n, { f, ms, args }), n) : real(f, ms, ...args)
	window.clearTimeout = id => waiting.delete(id) || stop(id)
	window.waits = () => [...waiting.values()].map(w => w.ms)
	window.goOn = () => { const all = [...waiting.values()]; waiting.clear(); all.forEach(w => w.f(...w.args)) }
	window.stand = yes => { stands = yes }
})()`

// pricedOnce: while somebody types nothing is asked; when they stop, the price of what stands
// there is asked for once, after a time that leaves the rest of 200 ms to the server. The clock
// stands, so that this does not hang on how busy the machine is.
func pricedOnce(t *testing.T, w *world) {
	tb := w.tab(t, "ana")
	_, err := tb.page.EvalOnNewDocument(held)
	tb.must(err)
	tb.open("/ask")
	tb.until("the editor is there", `() => !!`+inEditor)
	tb.eval(`() => ` + inEditor + `.focus()`)
	sql := "SELECT COUNT(*) FROM patients WHERE age > 18"
	for _, c := range sql {
		tb.must(tb.page.Keyboard.Type(input.Key(c)))
	}
	tb.until("it is typed", `want => `+inEditor+`.innerText.trim() === want`, strings.TrimSpace(sql))
	if n := len(tb.exchanges("POST", "/v1/explain")); n != 0 {
		t.Errorf("%d prices were asked for while somebody typed", n)
	}
	tb.until("after the last key one thing is waited for", `() => waits().filter(ms => ms <= 150).length === 1`)
	tb.eval(`() => { stand(false); goOn() }`) // a page that draws itself anew meanwhile waits once more
	tb.priced()
	tb.settle()
	tb.eval(`() => stand(true)`)
	var question struct {
		SQL      string
		Settings map[string]any
	}
	asked := tb.exchanges("POST", "/v1/explain")
	if err := json.Unmarshal([]byte(asked[0].sent), &question); err != nil || question.SQL != sql || len(question.Settings) > 0 {
		t.Errorf("the price of %+v was asked for: %v", question, err)
	}
	for _, x := range asked[1:] { // the others are for the scale of the slider
		if !strings.Contains(x.sent, `"dp.epsilon"`) {
			t.Errorf("one more: %s", x.sent)
		}
	}
	tb.must(tb.page.Keyboard.Type('A'))
	tb.must(tb.page.Keyboard.Type(input.Space))
	tb.until("it is typed", `want => `+inEditor+`.innerText.trim() === want`, sql+"A")
	if n := len(tb.exchanges("POST", "/v1/explain")); n != len(asked) {
		t.Errorf("%d more were asked for at the next key", n-len(asked))
	}
	if len(asked) != 6 || len(tb.exchanges("POST", "/v1/query")) != 0 {
		t.Errorf("%d prices were asked for", len(asked))
	}
}

// late: an old price that comes late is not shown for what was typed since.
func late(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana", refusal)
	tb.write("SELECT sex, COUNT(*) FROM patients WHERE age > 19 GROUP BY sex")
	tb.must(tb.page.InsertText(" HAVING nonsense"))
	tb.reads("nonsense")
	tb.until("no price stands there", `() => !document.querySelector('.price strong')`)
	tb.settle()
	if tb.eval(`() => !!document.querySelector('.price strong')`).Bool() {
		t.Error("what is refused has a price")
	}
}

// behind: an address that follows while somebody types on does not write the old question back. The
// next letter is drawn, and what follows from it not yet done, when the clock of the address is up.
func behind(t *testing.T, w *world) {
	tb := w.tab(t, "ana")
	_, err := tb.page.EvalOnNewDocument(held)
	tb.must(err)
	tb.open("/ask")
	tb.write("SELECT COUNT(*) FROM patients WHERE age > 1")
	tb.until("the address waits", `() => waits().includes(300)`)
	tb.eval(`async () => {
		document.execCommand('insertText', false, '9')
		for (let i = 0; i < 20; i++) await Promise.resolve()
		goOn()
	}`)
	tb.until("the address is there", `() => new URLSearchParams(location.search).get('q')?.includes('age > 1')`)
	tb.settle()
	if got := tb.eval(`() => ` + inEditor + `.innerText.trim()`).Str(); !strings.HasSuffix(got, "age > 19") {
		t.Errorf("the editor has %q", got)
	}
}

// files: an answer is saved as CSV, with the errors, and as JSON.
func files(t *testing.T, w *world) {
	tb := w.open(t, "/ask", "ana")
	tb.ask("SELECT sex AS \"=sex, of all\", COUNT(*) AS n FROM patients WHERE age > 20 GROUP BY sex")
	a := tb.last()
	text := tb.saves("^CSV$")
	want := "\"'=sex, of all\",n,n_error\r\n"
	for i, row := range a.Rows {
		want += fmt.Sprintf("%v,%v,%v\r\n", row[0], row[1], *a.Errors[i][1])
	}
	if text != want {
		t.Errorf("CSV is %q and not %q", text, want)
	}
	var b paid
	if err := json.Unmarshal([]byte(tb.saves("^JSON$")), &b); err != nil || fmt.Sprint(b.Rows) != fmt.Sprint(a.Rows) {
		t.Errorf("JSON has %v: %v", b.Rows, err)
	}
}

// saving: the browser says that a file was saved, and not from which tab.
var saving sync.Mutex

// saves clicks on a button and returns the file that it saves.
func (tb *tab) saves(button string) string {
	tb.t.Helper()
	saving.Lock()
	defer saving.Unlock()
	dir := tb.t.TempDir()
	wait := tb.page.Browser().Timeout(patience).WaitDownload(dir)
	tb.click("button", button)
	return read(tb.t, dir, wait())
}
