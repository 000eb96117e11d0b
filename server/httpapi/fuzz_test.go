package httpapi

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// offer gives a request to the door without a network, and holds the answer against the document.
func (w *world) offer(t *testing.T, r *http.Request) reply {
	t.Helper()
	got := httptest.NewRecorder()
	w.door.handler().ServeHTTP(got, r)
	out := reply{status: got.Code, header: got.Header(), body: got.Body.String()}
	out.json, _ = parse(out.body)
	mine := *w
	mine.t, mine.seen = t, map[string]bool{}
	mine.honest(r, out)
	return out
}

// FuzzQueryBody: whatever is sent as a question, the answer is documented, and never that something unexpected happened.
func FuzzQueryBody(f *testing.F) {
	for _, text := range []string{
		count, `{"sql":"SELECT COUNT(*) FROM patients WHERE age > $1","parameters":[30]}`, `{"sql":"SELECT 1","settings":{"dp.error":10}}`, `{"sql":"SELECT sex, AVG(age) FROM patients GROUP BY sex","epsilon":"0.01","request":"r"}`,
		`{"sql":"x","parameters":[null,"a",true,1.5,{"kind":"date","value":"2025-01-01"},{"kind":"text","value":null}]}`, `{`, ``, "\xff", `{"sql":"\ud800"}`, `{"sql":"\u0000"}`, `[[[[`, `{"sql":{"sql":{}}}`, `{"sql":"a","sql":"b"}`,
	} {
		f.Add([]byte(text))
	}
	w := newWorld(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequest("POST", "/v1/query", strings.NewReader(string(body)))
		r.Header.Set("Authorization", "Bearer "+w.tokens["ana"])
		r.Header.Set("Content-Type", "application/json")
		switch got := w.offer(t, r); got.status {
		case 200, 400, 402, 404, 409, 413, 422, 429:
		case 501:
			if !strings.Contains(string(body), "parameters") {
				t.Errorf("%q: %s", body, got.body)
			}
		default:
			t.Errorf("%q: %d %s", body, got.status, got.body)
		}
	})
}

// FuzzAuthorization: whatever is sent as Authorization, only a secret lets in.
func FuzzAuthorization(f *testing.F) {
	for _, text := range []string{"", "Bearer", "Bearer ", "Bearer x", "Basic", "Basic Og==", "Basic YW5hOng=", "Basic \xff", "bEaReR  dsc_", "Digest x", "Bearer dsc_aaaaaaaaaa_" + strings.Repeat("a", 52), "Basic " + base64.StdEncoding.EncodeToString([]byte("ana:\x00"))} {
		f.Add(text)
	}
	w := newWorld(f)
	n := 0
	f.Fuzz(func(t *testing.T, header string) {
		for _, secret := range append([]string{basicText(header)}, w.tokens["ana"], w.tokens["ben"], w.tokens["cy"], w.tokens["olga"]) {
			if secret != "" && strings.Contains(header, secret) {
				t.Skip()
			}
		}
		r := httptest.NewRequest("GET", "/v1/me", nil)
		n++
		r.RemoteAddr = fmt.Sprintf("10.%d.%d.%d:1", n>>16&255, n>>8&255, n&255) // or all wait after the first few
		r.Header["Authorization"] = []string{header}
		if got := w.offer(t, r); got.status != 401 && got.status != 429 {
			t.Errorf("%q: %d %s", header, got.status, got.body)
		}
	})
}

// basicText returns the header where it has the right password in it.
func basicText(header string) string {
	r := http.Request{Header: http.Header{"Authorization": {header}}}
	if _, p, ok := r.BasicAuth(); ok && p == password {
		return header
	}
	return ""
}
