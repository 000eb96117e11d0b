package httpapi

import (
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestNothingBeforeAuthentication: without a user every address answers the same bytes, whether
// there is something or not.
func TestNothingBeforeAuthentication(t *testing.T) {
	w := newWorld(t)
	first := w.want(w.call("GET", "/v1/me", "", ""), 401)
	if got := first.header.Values("WWW-Authenticate"); len(got) != 2 || !strings.HasPrefix(got[0], "Bearer") ||
		!strings.HasPrefix(got[1], "Basic") {
		t.Error(got)
	}
	for _, pattern := range append(slices.Clone(w.api.router.patterns), "GET /", "GET /nothing", "PUT /v1/me", "OPTIONS /v1/query",
		"GET //v1/me", "GET /docs", "GET /schemas/Me.json", "TRACE /v1/me", "GET /healthz/", "GET /healthz/../v1/me") {
		method, path, _ := strings.Cut(pattern, " ")
		if publicPaths[path] {
			continue
		}
		path = strings.NewReplacer("{name}", "hospital", "{sequence}", "2", "{id}", "x").Replace(path)
		r := w.request(method, path, "", "")
		r.URL.Opaque = path
		if strings.HasPrefix(path, "//") {
			r.URL.Opaque = ""
		}
		got := w.want(w.send(r), 401)
		if got.body != first.body {
			t.Errorf("%s: %s", pattern, got.body)
		}
	}
	w.want(w.call("GET", "/healthz", "", ""), 200)
	if got := w.want(w.call("GET", "/readyz", "", ""), 200); got.body != `{"status":"ok"}`+"\n" {
		t.Error(got.body)
	}
	w.configure(func(o *Options) { o.Ready = func() error { return http.ErrServerClosed } })
	if got := w.want(w.call("GET", "/readyz", "", ""), 503); got.body != `{"status":"not ready","reason":"http: Server closed"}`+"\n" {
		t.Error(got.body)
	}
}

func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}

// TestWhoComesIn: passwords, tokens, and everything that is neither.
func TestWhoComesIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := context.Background()
	past, _, err := w.users.NewToken(ctx, "ana", "short", time.Now().Add(time.Hour))
	must(t, err)
	good := w.tokens["ana"]
	for _, c := range []struct {
		header string
		status int
	}{
		{"Bearer " + good, 200}, {"bearer " + good, 200}, {"Bearer  " + good, 200}, {"Bearer " + past, 200},
		{basic("ana", password), 200},
		{"", 401}, {"Bearer", 401}, {"Bearer ", 401}, {good, 401}, {"Token " + good, 401}, {"Bearer " + good + "x", 401},
		{"Bearer " + good[:len(good)-1], 401},
		{"Bearer " + strings.Repeat("a", 5000), 401}, {"Bearer dsc_\xff", 401}, {"Basic", 401}, {"Basic !", 401}, {basic("ana", ""), 401},
		{basic("", password), 401},
		{basic("ana", "wrong"), 401}, {basic("nobody", password), 401}, {basic("ana\xff", password), 401},
		{basic("ana", strings.Repeat("x", 5000)), 401},
	} {
		got := w.call("GET", "/v1/me", "", "", "Authorization", c.header)
		if got.status != c.status {
			t.Errorf("%.60q: %d %s", c.header, got.status, got.body)
		}
		if got.status == 401 && got.get("kind") != "denied" {
			t.Errorf("%.60q: %s", c.header, got.body)
		}
	}
	// Two at once are nobody's.
	r := w.request("GET", "/v1/me", "ana", "")
	r.Header.Add("Authorization", basic("ben", password))
	w.want(w.send(r), 401)

	// Who is revoked is out with the next request.
	must(t, w.users.Revoke(ctx, "ana"))
	w.want(w.call("GET", "/v1/me", "ana", ""), 401)
	w.want(w.call("POST", "/v1/query", "ana", count), 401)
	w.want(w.call("GET", "/v1/me", "", "", "Authorization", basic("ana", password)), 401)
}

// TestLocked: who fails often waits, and is told for how long.
func TestLocked(t *testing.T) {
	w := newWorld(t)
	for range 40 {
		got := w.call("GET", "/v1/me", "", "", "Authorization", basic("ben", "wrong"))
		if got.status == 429 {
			if got.get("kind") != "locked" || got.header.Get("Retry-After") == "" || got.header.Get("Retry-After") == "0" {
				t.Error(got.body, got.header)
			}
			return
		}
		w.want(got, 401)
	}
	t.Error("nobody had to wait")
}

// TestRoles: what is the owner's is not for analysts, and an owner asks nothing.
func TestRoles(t *testing.T) {
	w := newWorld(t)
	for _, path := range []string{"/v1/ledger", "/v1/ledger/head", "/v1/audit", "/v1/users", "/metrics"} {
		if got := w.want(w.call("GET", path, "ana", ""), 403); got.get("kind") != "role" {
			t.Error(got.body)
		}
	}
	for _, path := range []string{"/v1/query", "/v1/explain"} {
		if got := w.want(w.call("POST", path, "olga", count), 403); got.get("kind") != "role" {
			t.Error(got.body)
		}
	}
	// A page of another origin cannot make a browser ask with what the browser knows.
	w.want(w.call("POST", "/v1/query", "ana", count, "Sec-Fetch-Site", "cross-site"), 403)
	w.want(w.call("POST", "/v1/query", "ana", count, "Origin", "https://elsewhere.example"), 403)
	if got := w.call("OPTIONS", "/v1/query", "ana", "", "Origin",
		"https://elsewhere.example"); got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Error(got.header)
	}
}

// same fails unless two replies are the same to the last byte, but for the date.
func same(t *testing.T, what string, a, b reply) {
	t.Helper()
	a.header.Del("Date")
	b.header.Del("Date")
	if a.status != b.status || a.body != b.body || !maps.EqualFunc(a.header, b.header, slices.Equal) {
		t.Errorf("%s can be told apart:\n%d %s\n%d %s\n%v\n%v", what, a.status, a.body, b.status, b.body, a.header, b.header)
	}
}

// TestOthersDoNotExist: what belongs to somebody else and what nobody has look the same.
func TestOthersDoNotExist(t *testing.T) {
	w := newWorld(t)
	answer := w.want(w.call("POST", "/v1/query", "ben", count), 200)
	sequence := number(answer, "receipt", "sequence")
	_, token, err := w.users.NewToken(context.Background(), "ben", "ben's", time.Time{})
	must(t, err)
	never := strings.Repeat("z", len(token.ID))
	for _, c := range []struct{ what, method, others, nobodys, body string }{
		{"a receipt", "GET", "/v1/receipts/" + sequence, "/v1/receipts/9999", ""},
		{"the first record", "GET", "/v1/receipts/0", "/v1/receipts/9999", ""},
		{"a dataset", "GET", "/v1/datasets/clinic", "/v1/datasets/nothing", ""},
		{"a budget", "GET", "/v1/datasets/clinic/budget", "/v1/datasets/nothing/budget", ""},
		{"a token", "DELETE", "/v1/tokens/" + token.ID, "/v1/tokens/" + never, ""},
		{"a question", "POST", "/v1/query", "/v1/query", `{"sql":"SELECT COUNT(*) FROM patients","dataset":"%"}`},
		{"a price", "POST", "/v1/explain", "/v1/explain", `{"sql":"SELECT COUNT(*) FROM patients","dataset":"%"}`},
		{"a session", "POST", "/v1/sessions", "/v1/sessions", `{"kind":"sparse","dataset":"%"}`},
	} {
		a := w.want(w.call(c.method, c.others, "ana", strings.Replace(c.body, "%", "clinic", 1)), 404)
		b := w.want(w.call(c.method, c.nobodys, "ana", strings.Replace(c.body, "%", "nothing", 1)), 404)
		same(t, c.what, a, b)
	}
	opened := w.want(w.call("POST", "/v1/sessions", "ben", `{"kind":"sparse","dataset":"hospital","epsilon":1}`), 201).get("id").(string)
	for _, method := range []string{"GET", "DELETE", "POST"} {
		path, body, unknown := "/v1/sessions/%", "", strings.Repeat("0", len(opened))
		if method == "POST" {
			path, body = path+"/ask", `{"sql":"SELECT COUNT(*) FROM patients","threshold":1}`
		}
		for _, user := range []string{"ana", "olga"} {
			a := w.want(w.call(method, strings.Replace(path, "%", opened, 1), user, body), 404)
			b := w.want(w.call(method, strings.Replace(path, "%", unknown, 1), user, body), 404)
			same(t, method+" a session", a, b)
		}
	}
	w.want(w.call("GET", "/v1/sessions/"+opened, "ben", ""), 200)
	w.want(w.call("GET", "/v1/receipts/"+sequence, "ben", ""), 200)
	w.want(w.call("GET", "/v1/receipts/"+sequence, "olga", ""), 200)

	// Lists have nothing of others in them, and neither have numbers.
	same(t, "the budget after another's question", w.call("GET", "/v1/datasets/hospital/budget", "cy", ""),
		w.call("GET", "/v1/datasets/nothing/budget", "cy", ""))
	for _, path := range []string{"/v1/receipts", "/v1/tokens", "/v1/logins", "/v1/logins?user=ben", "/v1/datasets",
		"/v1/datasets/hospital", "/v1/datasets/hospital/budget", "/v1/sessions", "/v1/me"} {
		if got := w.want(w.call("GET", path, "ana", ""), 200); strings.Contains(got.body, "ben") || strings.Contains(got.body, "clinic") {
			t.Errorf("%s tells of others: %s", path, got.body)
		}
	}
	// Ana's own receipt names no account but hers, though others were charged with it.
	w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT SUM(age) FROM patients"}`), 200)
	got := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200)
	if got.get("receipts", "0", "balances", "0", "account") != "hospital/ana" || got.get("receipts", "0", "balances", "1") != nil ||
		got.get("receipts", "1") != nil {
		t.Error(got.body)
	}
	if all := w.want(w.call("GET", "/v1/receipts", "olga", ""), 200); all.get("receipts", "1", "balances", "1") == nil ||
		all.get("receipts", "0", "request").(string) != "ben:"+answer.header.Get("Idempotency-Key") {
		t.Error(all.body)
	}
}

// TestKeysAreOnesOwn: the same Idempotency-Key of two analysts names two questions.
func TestKeysAreOnesOwn(t *testing.T) {
	w := newWorld(t)
	ask := func(user, sql, epsilon string) reply {
		return w.call("POST", "/v1/query", user, `{"dataset":"hospital","sql":"`+sql+`","epsilon":`+epsilon+`}`,
			"Idempotency-Key", "monday")
	}
	a := w.want(ask("ana", "SELECT COUNT(*) FROM patients", "0.5"), 200)
	if a.header.Get("Idempotency-Key") != "monday" {
		t.Error(a.header)
	}
	w.want(ask("ben", "SELECT COUNT(*) FROM visits", "0.25"), 200)
	// Sent again, it is the same answer and free.
	again := w.want(ask("ana", "SELECT COUNT(*) FROM patients", "0.5"), 200)
	if again.get("rows", "0", "0") != a.get("rows", "0", "0") || again.get("receipt", "free") != true {
		t.Error(again.body)
	}
	// For something else it cannot be used.
	if got := w.want(ask("ana", "SELECT SUM(age) FROM patients", "0.5"), 409); got.get("kind") != "request" ||
		strings.Contains(got.body, "ana") || got.get("spent") != false {
		t.Error(got.body)
	}
	// In the body it is the same key, and two that differ are none.
	if got := w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT SUM(age) FROM patients","request":"monday"}`),
		409); got.get("kind") != "request" {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/query", "ana", `{"sql":"SELECT SUM(age) FROM patients","request":"tuesday"}`, "Idempotency-Key", "monday"),
		422)
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true || number(got, "decisions") != "2" {
		t.Error(got.body)
	}
}
