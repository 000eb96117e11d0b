package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/proto"
)

// sessionCookie is the cookie of whoever is signed in.
func (tb *tab) sessionCookie() *proto.NetworkCookie {
	tb.t.Helper()
	all, err := tb.page.Cookies(nil)
	tb.must(err)
	if len(all) != 1 || all[0].Name != "discreet_session" {
		tb.t.Fatalf("the cookies are %v", all)
	}
	return all[0]
}

// me is the status that somebody gets who sends a cookie as a browser would.
func (w *world) me(t testing.TB, cookie string) int {
	t.Helper()
	r, err := http.NewRequest("GET", w.base+"/v1/me", nil)
	must(t, err)
	r.Header.Set("Cookie", "discreet_session="+cookie)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	a, err := http.DefaultClient.Do(r)
	must(t, err)
	a.Body.Close()
	return a.StatusCode
}

// TestStolenCookie: no script can read the cookie, no other site gets it sent, and after signing
// out it opens nothing, for whoever has a copy.
func TestStolenCookie(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	tb := newTab(t, w.base)
	tb.signIn("/ask", "ana", w.passwords["ana"])
	cookie := tb.sessionCookie()
	if !cookie.HTTPOnly || cookie.SameSite != proto.NetworkCookieSameSiteStrict || !cookie.Session {
		t.Errorf("the cookie is %+v", cookie)
	}
	if seen := tb.eval(`() => document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`).Str(); strings.Contains(seen, cookie.Value) {
		t.Errorf("scripts see %s", seen)
	}
	thief := newTab(t, w.base)
	thief.must(thief.page.SetCookies([]*proto.NetworkCookieParam{{Name: cookie.Name, Value: cookie.Value, URL: w.base}}))
	thief.open("/ask")
	thief.reads("Sign out") // or the rest would show nothing
	if got := w.me(t, cookie.Value); got != 200 {
		t.Fatalf("the cookie opens nothing: %d", got)
	}
	tb.click("nav a", "^Playground$")
	tb.click("button", "^Sign out$")
	tb.reads("Password")
	tb.settle()
	if got := w.me(t, cookie.Value); got != 401 {
		t.Errorf("after signing out the cookie gets %d", got)
	}
	if left, err := tb.page.Cookies(nil); err != nil || len(left) != 0 {
		t.Errorf("the browser still has %v: %v", left, err)
	}
	thief.open("/ask")
	thief.reads("Password")
	// Going back shows nothing either.
	tb.eval(`() => { setTimeout(() => history.back()) }`)
	tb.until("it went back", `() => location.pathname === '/ask'`)
	tb.reads("Password")
}

// TestEnded: somebody whose session ended elsewhere is asked to sign in, and goes on where they
// were.
func TestEnded(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	tb := w.open(t, "/ask", "ana", "^status: 401 ", "^status: 402 POST /v1/query$")
	tb.write("SELECT COUNT(*) FROM patients WHERE age > 21")
	tb.priced()
	tb.until("the address has it", `() => location.search.includes('21')`)
	tb.settle()
	if status := tb.eval(`async () => (await fetch('/v1/signout', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })).status`).Int(); status != 204 {
		t.Fatalf("signing out elsewhere: %d", status)
	}
	tb.must(tb.page.InsertText("0"))
	tb.reads("Password")
	tb.fill("input[name=name]", "ana")
	tb.fill("input[name=password]", w.passwords["ana"])
	tb.click("button", "^Sign in$")
	tb.until("what was written is there", `() => `+inEditor+`?.innerText.includes('age > 21')`)
	tb.priced()
}

// attack is a page of somebody else, who knows the address of ours.
const attack = `<!doctype html><title>x</title>
<iframe name="f0"></iframe><iframe name="f1"></iframe><iframe name="f2"></iframe><iframe name="f3"></iframe><iframe name="f4"></iframe>
<form method=post target=f0 action="BASE/v1/query" enctype="text/plain"><input name='{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients","x":"' value='"}'></form>
<form method=post target=f1 action="BASE/v1/query"><input name=sql value="SELECT COUNT(*) FROM patients"></form>
<form method=post target=f2 action="BASE/v1/signout" enctype="text/plain"><input name='{"everywhere":true,"x":"' value='"}'></form>
<form method=post target=f3 action="BASE/v1/tokens" enctype="text/plain"><input name='{"label":"' value='"}'></form>
<form method=post target=f4 action="BASE/v1/signin" enctype="text/plain"><input name='{"name":"ben","password":"' value='"}'></form>
<script>
document.querySelectorAll('form').forEach(f => f.submit())
fetch('BASE/v1/query', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients"}' }).catch(() => {})
fetch('BASE/v1/query', { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json' }, body: '{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients"}' }).catch(() => {})
window.read = []
for (const path of ['/v1/me', '/v1/datasets', '/v1/receipts', '/']) fetch('BASE' + path, { credentials: 'include' }).then(r => r.text()).then(t => read.push(t), () => read.push(''))
</script>`

// TestOtherPages: a page of another origin, even one on the same host, to which browsers do send
// the cookie, can neither change nor read anything in the name of whoever is signed in.
func TestOtherPages(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	stranger := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/frame" {
			fmt.Fprintf(out, `<!doctype html><iframe src="%s/ask"></iframe><iframe src="%s/v1/me"></iframe>`, w.base, w.base)
			return
		}
		fmt.Fprint(out, strings.ReplaceAll(attack, "BASE", w.base))
	}))
	defer stranger.Close()
	for _, from := range []string{stranger.URL, strings.Replace(stranger.URL, "127.0.0.1", "localhost", 1)} {
		tb := w.open(t, "/ask", "ana", ".") // it complains of everything, and rightly
		cookie := tb.sessionCookie().Value
		before := tb.eval(`async () => (await fetch('/v1/datasets/hospital/budget')).text()`).Str()
		tb.settle()
		quiet := len(tb.exchanges("POST", "/v1/"))
		tb.must(tb.page.Navigate(from + "/attack"))
		tb.until("it has tried everything", `() => window.read?.length === 4`)
		tb.settle()
		for _, text := range tb.eval(`() => read`).Arr() {
			if text.Str() != "" {
				t.Errorf("%s reads %.200s", from, text.Str())
			}
		}
		tried := tb.exchanges("POST", "/v1/")[quiet:]
		for _, x := range tried {
			if x.status != 403 && !x.cut {
				t.Errorf("%s: %s %s has the status %d: %s", from, x.method, x.path, x.status, x.body)
			}
		}
		if len(tried) < 6 {
			t.Errorf("%s: only %d were tried", from, len(tried))
		}
		if w.me(t, cookie) != 200 {
			t.Errorf("%s signed somebody out", from)
		}
		tb.must(tb.page.Navigate(from + "/frame"))
		tb.until("the frames are there", `() => document.readyState === 'complete' && frames.length === 2`)
		tree, err := proto.PageGetFrameTree{}.Call(tb.page)
		tb.must(err)
		for _, f := range tree.FrameTree.ChildFrames {
			if f.Frame.UnreachableURL == "" && f.Frame.URL != "" && strings.HasSuffix(f.Frame.URL, "/ask") {
				t.Errorf("%s has the page in a frame: %+v", from, f.Frame)
			}
		}
		tb.open("/ask")
		tb.reads("Sign out")
		if after := tb.eval(`async () => (await fetch('/v1/datasets/hospital/budget')).text()`).Str(); after != before {
			t.Errorf("%s changed the budget:\n%s\n%s", from, before, after)
		}
	}
}
