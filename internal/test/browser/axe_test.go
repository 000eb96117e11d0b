package browser

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// axe looks for what is in the way of people who do not see, or do not use a mouse. Its version is
// in the lock file of the page, which has nothing of it.
//
//go:embed testdata/axe/axe.min.js
var axe string

// runAxe returns what is wrong, each with the first places where it is.
const runAxe = `async rules => {
	const found = await axe.run(document, { resultTypes: ['violations'], preload: false, ...(rules ? { runOnly: { type: 'rule', values: rules } } : {}) })
	return found.violations.map(v => v.id + ': ' + v.help + v.nodes.slice(0, 3).map(n => '\n    ' + n.target.join(' ') + ': ' + n.html.slice(0, 200) + '\n      ' + n.failureSummary.replaceAll('\n', ' ')).join(''))
}`

// colours are the rules that dark and light can break.
var colours = []string{"color-contrast", "link-in-text-block"}

// accessible fails where axe finds anything, by all rules or by some.
func (tb *tab) accessible(what string, rules []string) {
	tb.t.Helper()
	for _, v := range tb.axe(rules) {
		tb.t.Errorf("%s: %s", what, v)
	}
}

func (tb *tab) axe(rules []string) []string {
	tb.t.Helper()
	if !tb.eval(`() => typeof axe === 'object'`).Bool() {
		r, err := proto.RuntimeEvaluate{Expression: axe}.Call(tb.page.Timeout(patience))
		tb.must(err)
		if r.ExceptionDetails != nil {
			tb.t.Fatal(r.ExceptionDetails.Text)
		}
	}
	var out []string
	for _, v := range tb.eval(runAxe, rules).Arr() {
		out = append(out, v.Str())
	}
	return out
}

// TestTroubleIsSeen plants everything that the other tests take for granted that they would see.
func TestTroubleIsSeen(t *testing.T) {
	t.Parallel()
	tb := newTab(t, ordinary(t).base)
	tb.open("/playground")
	for what, js := range map[string]string{
		"console: planted":                       `() => { console.error('planted') }`,
		"exception: Uncaught Error: planted":     `() => { setTimeout(() => { throw new Error('planted') }) }`,
		"exception: Uncaught (in promise) Error": `() => { Promise.reject(new Error('planted')) }`,
		"content security policy: script-src":    `() => { document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' })) }`,
		"content security policy: style-src":     `() => { const d = document.createElement('div'); d.innerHTML = '<b style="color: red">x</b>'; document.body.append(d) }`,
		"content security policy: img-src":       `() => { new Image().src = 'https://example.org/x.png' }`,
		"content security policy: connect-src":   `() => { fetch('https://example.org/').catch(() => {}) }`,
		"status: 401 GET /v1/datasets":           `() => { fetch('/v1/datasets/x') }`,
	} {
		tb.eval(js)
		for range 200 {
			tb.settle()
			if strings.Contains(strings.Join(tb.complaints(), "\n"), what) {
				break
			}
		}
		if got := fmt.Sprint(tb.complaints()); !strings.Contains(got, what) {
			t.Errorf("%s is not seen: %s", what, got)
		}
		if tb.eval(`() => 'ran' in window`).Bool() {
			t.Errorf("%s: it ran", what)
		}
		tb.forget()
	}
	tb.eval(`() => { document.querySelector('main').insertAdjacentHTML('beforeend', '<img src="/icon.svg"><p class="faint">x</p><input>') }`)
	got := strings.Join(tb.axe(nil), "\n")
	if !strings.Contains(got, "image-alt") || !strings.Contains(got, "label: ") {
		t.Errorf("axe does not see it: %s", got)
	}
	tb.forget()
}
