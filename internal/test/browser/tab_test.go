package browser

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// patience is how long something may take that has to happen. Nothing takes this long on a machine
// that has anything else to do.
const patience = 30 * time.Second

// tab is a tab of a browser that knows nobody yet, at a server. It watches everything, and the test
// fails at its end if there was anything to complain about.
type tab struct {
	t    testing.TB
	page *rod.Page
	base string

	mu       sync.Mutex
	troubles []string
	expected []*regexp.Regexp
	sent     []*exchange
	by       map[proto.NetworkRequestID]*exchange
	bodies   sync.WaitGroup
}

// exchange is a request of the page, and what came of it.
type exchange struct {
	method, path, sent string
	status             int
	body               string
	cut                bool // the page no longer wanted it
}

// watch reports what the content security policy forbids, from the first moment of a document on.
const watch = `addEventListener('securitypolicyviolation', e => forbidden(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile + ' ' + e.sample), true)`

// newTab opens an empty tab with cookies and storage of its own. What the expressions describe may
// be complained about: they are there because the test is about it.
func newTab(t testing.TB, base string, expected ...string) *tab {
	t.Helper()
	profile, err := theBrowser(t).Incognito()
	must(t, err)
	page, err := profile.Page(proto.TargetCreateTarget{})
	must(t, err)
	tb := &tab{t: t, base: base, by: map[proto.NetworkRequestID]*exchange{}}
	for _, e := range expected {
		tb.expected = append(tb.expected, regexp.MustCompile(e))
	}
	ctx, cancel := context.WithCancel(context.Background())
	tb.page = page.Context(ctx)
	listen := tb.page.EachEvent(tb.onConsole, tb.onException, tb.onLog, tb.onForbidden, tb.onRequest, tb.onResponse, tb.onFailed,
		tb.onFinished, tb.onNavigated)
	go listen()
	tb.must(proto.RuntimeAddBinding{Name: "forbidden"}.Call(tb.page))
	tb.must(proto.EmulationSetFocusEmulationEnabled{Enabled: true}.Call(tb.page)) // several tabs are looked at at once
	_, err = tb.page.EvalOnNewDocument(watch)
	tb.must(err)
	t.Cleanup(func() {
		tb.settle()
		tb.bodies.Wait()
		cancel()
		if err := profile.Close(); err != nil {
			t.Error(err)
		}
		for _, s := range tb.complaints() {
			t.Error("the browser complains: ", s)
		}
	})
	return tb
}

func (tb *tab) must(err error) {
	tb.t.Helper()
	if err != nil {
		tb.t.Fatal(err)
	}
}

func (tb *tab) complain(format string, args ...any) {
	said := fmt.Sprintf(format, args...)
	tb.mu.Lock()
	defer tb.mu.Unlock()
	if !slices.ContainsFunc(tb.expected, func(e *regexp.Regexp) bool { return e.MatchString(said) }) {
		tb.troubles = append(tb.troubles, said)
	}
}

func (tb *tab) complaints() []string {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return slices.Clone(tb.troubles)
}

// forget forgets what there was to complain about: it was planted, and seen.
func (tb *tab) forget() {
	tb.settle()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.troubles = nil
}

func (tb *tab) onConsole(e *proto.RuntimeConsoleAPICalled) {
	if e.Type == proto.RuntimeConsoleAPICalledTypeError || e.Type == proto.RuntimeConsoleAPICalledTypeWarning ||
		e.Type == proto.RuntimeConsoleAPICalledTypeAssert {
		var words []string
		for _, a := range e.Args {
			words = append(words, a.Value.String()+a.Description)
		}
		tb.complain("console: %s", strings.Join(words, " "))
	}
}

func (tb *tab) onException(e *proto.RuntimeExceptionThrown) {
	said := e.ExceptionDetails.Text
	if e.ExceptionDetails.Exception != nil {
		said += " " + e.ExceptionDetails.Exception.Description
	}
	tb.complain("exception: %s", said)
}

// onLog hears what the browser itself says. That a response has a bad status it says too, and
// onResponse has said so.
func (tb *tab) onLog(e *proto.LogEntryAdded) {
	if e.Entry.Source == proto.LogLogEntrySourceNetwork && strings.Contains(e.Entry.Text, "the server responded with a status of") {
		return
	}
	if e.Entry.Level == proto.LogLogEntryLevelError || e.Entry.Level == proto.LogLogEntryLevelWarning {
		tb.complain("log: %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
	}
}

func (tb *tab) onForbidden(e *proto.RuntimeBindingCalled) {
	if e.Name == "forbidden" {
		tb.complain("content security policy: %s", e.Payload)
	}
}

func (tb *tab) onRequest(e *proto.NetworkRequestWillBeSent) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || u.Scheme != "data" && u.Scheme != "blob" && u.Scheme+"://"+u.Host != tb.base {
		tb.complain("a request goes elsewhere: %s", e.Request.URL)
		return
	}
	x := &exchange{method: e.Request.Method, path: u.RequestURI(), sent: e.Request.PostData}
	tb.mu.Lock()
	defer tb.mu.Unlock()
	tb.sent = append(tb.sent, x)
	tb.by[e.RequestID] = x
}

func (tb *tab) of(id proto.NetworkRequestID) *exchange {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	return tb.by[id]
}

func (tb *tab) onResponse(e *proto.NetworkResponseReceived) {
	x := tb.of(e.RequestID)
	if x == nil {
		return
	}
	tb.mu.Lock()
	x.status = e.Response.Status
	tb.mu.Unlock()
	if x.status >= 400 {
		tb.complain("status: %d %s %s", x.status, x.method, x.path)
	}
}

func (tb *tab) onFailed(e *proto.NetworkLoadingFailed) {
	x := tb.of(e.RequestID)
	if x == nil {
		return
	}
	tb.mu.Lock()
	x.cut = true
	tb.mu.Unlock()
	if !e.Canceled {
		tb.complain("a request failed: %s %s: %s %s", x.method, x.path, e.ErrorText, e.BlockedReason)
	}
}

// onNavigated forgets what a document still waited for that is gone.
func (tb *tab) onNavigated(e *proto.PageFrameNavigated) {
	tb.mu.Lock()
	defer tb.mu.Unlock()
	for _, x := range tb.sent {
		if e.Frame.ParentID == "" && x.status == 0 && strings.HasPrefix(x.path, "/v1/") {
			x.cut = true
		}
	}
}

// onFinished keeps the body of what the server said about data.
func (tb *tab) onFinished(e *proto.NetworkLoadingFinished) {
	x := tb.of(e.RequestID)
	if x == nil || !strings.HasPrefix(x.path, "/v1/") {
		return
	}
	tb.bodies.Add(1)
	go func() { // what is asked in a listener is never answered
		defer tb.bodies.Done()
		if r, err := (proto.NetworkGetResponseBody{RequestID: e.RequestID}).Call(tb.page); err == nil {
			tb.mu.Lock()
			x.body = r.Body
			tb.mu.Unlock()
		}
	}()
}

// exchanges are those so far whose path begins so.
func (tb *tab) exchanges(method, path string) []exchange {
	tb.bodies.Wait()
	tb.mu.Lock()
	defer tb.mu.Unlock()
	var out []exchange
	for _, x := range tb.sent {
		if x.method == method && strings.HasPrefix(x.path, path) {
			out = append(out, *x)
		}
	}
	return out
}

// open goes to a path of the server.
func (tb *tab) open(path string) {
	tb.t.Helper()
	tb.must(tb.page.Timeout(patience).Navigate(tb.base + path))
	tb.until("the page is there", `() => document.readyState === 'complete' && !!document.querySelector('main') && !document.querySelector('main .busy')`)
}

// signIn signs in by the form, wherever the tab is.
func (tb *tab) signIn(path, name, password string) {
	tb.t.Helper()
	tb.open(path)
	tb.fill("input[name=name]", name)
	tb.fill("input[name=password]", password)
	tb.click("button", "^Sign in$")
	tb.until("somebody is signed in", `n => document.querySelector('.who')?.textContent.includes(n) && !document.querySelector('main .busy')`, name)
}

// eval runs a function in the page and returns what it returns.
func (tb *tab) eval(js string, args ...any) gson.JSON {
	tb.t.Helper()
	r, err := tb.page.Timeout(patience).Eval(js, args...)
	if err != nil {
		tb.t.Fatalf("%s: %v", js, err)
	}
	return r.Value
}

// until waits until a function in the page says true.
func (tb *tab) until(what, js string, args ...any) {
	tb.t.Helper()
	var last error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(15 * time.Millisecond) {
		r, err := tb.page.Timeout(patience).Eval(js, args...)
		if last = err; err == nil && r.Value.Bool() {
			return
		}
	}
	if *screenshots != "" {
		tb.picture(filepath.Join(*screenshots, "failed.png"), 1180)
	}
	tb.t.Fatalf("never: %s (%v); the page says:\n%s", what, last, tb.text())
}

// text is what somebody reads who sees the whole page.
func (tb *tab) text() string {
	r, err := tb.page.Timeout(patience).Eval(`() => document.body.innerText`)
	if err != nil {
		return err.Error()
	}
	return r.Value.Str()
}

// reads waits until the page has a text, as an expression.
func (tb *tab) reads(expression string) {
	tb.t.Helper()
	tb.until("the page has "+expression, `e => new RegExp(e, 's').test(document.body.innerText)`, expression)
}

// element waits for the first element of a kind whose text is as an expression has it.
func (tb *tab) element(selector, text string) *rod.Element {
	tb.t.Helper()
	find := `(s, t) => [...document.querySelectorAll(s)].find(e => e.checkVisibility() && new RegExp(t).test(e.innerText ?? ''))`
	tb.until(selector+" "+text, `(s, t) => !!(`+find+`)(s, t)`, selector, text)
	e, err := tb.page.Timeout(patience).ElementByJS(rod.Eval(find, selector, text))
	if err != nil {
		tb.t.Fatalf("%s %s: %v", selector, text, err)
	}
	return e
}

// click clicks with the mouse on the first element of a kind with such a text, once more where the
// page drew itself anew under the mouse.
func (tb *tab) click(selector, text string) {
	tb.t.Helper()
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		e := tb.element(selector, text)
		_, err = e.Eval(`() => { window.missed = true; this.addEventListener('click', () => { window.missed = false }, { once: true, capture: true }) }`)
		if err != nil {
			continue
		}
		if err = e.Click(proto.InputMouseButtonLeft, 1); err != nil {
			continue
		}
		// A click that leads to another page leaves nothing of this one.
		if r, err := tb.page.Timeout(patience).Eval(`() => window.missed === true`); err != nil || !r.Value.Bool() {
			return
		}
	}
	tb.t.Fatalf("%s %s: the mouse does not reach it (%v)", selector, text, err)
}

// fill writes into a field, in the place of what is there.
func (tb *tab) fill(selector, text string) {
	tb.t.Helper()
	e := tb.element(selector, "")
	tb.must(e.SelectAllText())
	tb.must(e.Input(text))
}

// press presses a key, with others held down.
func (tb *tab) press(key input.Key, held ...input.Key) {
	tb.t.Helper()
	keys := tb.page.Timeout(patience).KeyActions()
	tb.must(keys.Press(held...).Type(key).Release(held...).Do())
}

// inEditor is an expression for the editor, which has a shadow root of its own.
const inEditor = `document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')`

// write writes a question into the editor, in the place of what is there, with the keyboard.
func (tb *tab) write(sql string) {
	tb.t.Helper()
	tb.until("the editor is there", `() => !!`+inEditor)
	tb.eval(`() => ` + inEditor + `.focus()`)
	tb.press(input.KeyA, input.ControlLeft)
	tb.must(tb.page.Timeout(patience).InsertText(sql))
	tb.until("the editor has it", `want => `+inEditor+`.innerText.replace(/\s+/g, ' ').trim() === want.replace(/\s+/g, ' ').trim()`, sql)
}

// ask writes a question, runs it and waits for its answer.
func (tb *tab) ask(sql string) {
	tb.t.Helper()
	before := len(tb.exchanges("POST", "/v1/query"))
	tb.write(sql)
	tb.priced()
	tb.click("button.primary", "^Run$")
	tb.answered(before)
}

// priced waits for the price of what is in the editor.
func (tb *tab) priced() {
	tb.t.Helper()
	tb.until("there is a price", `() => !!document.querySelector('.price strong') && !document.querySelector('.price.stale')`)
}

// answered waits until one more question than before was answered, and its answer is shown.
func (tb *tab) answered(before int) {
	tb.t.Helper()
	for end := time.Now().Add(patience); len(tb.exchanges("POST", "/v1/query")) <= before; time.Sleep(15 * time.Millisecond) {
		if time.Now().After(end) {
			tb.t.Fatalf("nothing was asked; the page says:\n%s", tb.text())
		}
	}
	tb.until("there is an answer", `() => !!document.querySelector('.result') && !document.querySelector('.work .busy')`)
}

// settle waits until the page waits for nothing from the server, and has drawn what came: what it
// does next it does after that.
func (tb *tab) settle() {
	quiet := 0
	for end := time.Now().Add(patience); quiet < 3 && time.Now().Before(end); {
		_, _ = tb.page.Timeout(time.Second).Eval(`() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 10)))`)
		tb.mu.Lock()
		waits := slices.ContainsFunc(tb.sent, func(x *exchange) bool {
			return x.status == 0 && !x.cut && strings.HasPrefix(x.path, "/v1/")
		})
		tb.mu.Unlock()
		if quiet++; waits {
			quiet = 0
		}
	}
}
