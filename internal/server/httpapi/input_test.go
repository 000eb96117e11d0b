package httpapi

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

// TestBadInput: every operation that takes something says no to what it cannot take, as a problem,
// and nothing is charged.
func TestBadInput(t *testing.T) {
	w := newWorld(t)
	big := `{"sql":"` + strings.Repeat("x", maxBodyBytes) + `"}`
	deep := `{"sql":"x","parameters":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`
	const q, e, s, k = "/v1/query", "/v1/explain", "/v1/sessions", "/v1/tokens"
	for _, c := range []struct {
		method, path, body string
		status             int
		kind               string
	}{
		{"POST", q, ``, 400, "body"}, {"POST", q, `{`, 400, "body"}, {"POST", q, `nonsense`, 400, "body"},
		{"POST", q, `{"sql":"SELECT 1"} x`, 400, "body"},
		{"POST", q, "{\"sql\":\"\xff\"}", 400, "body"}, {"POST", q, "\xef\xbb\xbf{}", 400, "body"}, {"POST", q, deep, 400, "body"},
		{"POST", q, big, 413, "body"},
		{"POST", q, `[]`, 422, "invalid"}, {"POST", q, `null`, 422, "invalid"}, {"POST", q, `"x"`, 422, "invalid"},
		{"POST", q, `{}`, 422, "invalid"},
		{"POST", q, `{"sql":1}`, 422, "invalid"}, {"POST", q, `{"sql":null}`, 422, "invalid"},
		{"POST", q, `{"SQL":"SELECT COUNT(*) FROM patients"}`, 422, "invalid"}, {"POST", q, `{"sql":""}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","more":1}`, 422, "invalid"}, {"POST", q, `{"sql":"x","epsilon":[]}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","epsilon":-1}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","epsilon":0}`, 422, "invalid"}, {"POST", q, `{"sql":"x","epsilon":"NaN"}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","epsilon":"1e400"}`, 422, "invalid"}, {"POST", q, `{"sql":"x","epsilon":1e400}`, 400, "body"},
		{"POST", q, `{"sql":"x","epsilon":null}`, 422, "refused"}, {"POST", q, `{"sql":"x","settings":{"dp.nothing":1}}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","settings":{"dp.confidence":2}}`, 422, "invalid"}, {"POST", q, `{"sql":"x","settings":[]}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","parameters":[[[1]]]}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","parameters":[{"kind":"blob","value":"x"}]}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","parameters":{}}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","request":"a b"}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","request":"` + strings.Repeat("r", 64) + `"}`, 422, "invalid"},
		{"POST", q, `{"sql":"x","dataset":"` + strings.Repeat("d", 65) + `"}`, 422, "invalid"},
		{"POST", q, `{"sql":"x"}`, 422, "refused"}, {"POST", q, `{"sql":"SELECT age FROM patients"}`, 422, "refused"},
		{"POST", q, `{"sql":"SELECT COUNT(*) FROM patients; DROP TABLE patients"}`, 422, "refused"},
		{"POST", q, `{"sql":"SELECT COUNT(*) FROM patients","epsilon":1000}`, 422, "refused"},
		{"POST", q + "?x=1", count, 422, "invalid"},
		{"POST", e, `{`, 400, "body"}, {"POST", e, `{}`, 422, "invalid"}, {"POST", e, `{"sql":"SELECT age FROM patients"}`, 422, "refused"},
		{"POST", e, big, 413, "body"},
		{"POST", s, `{}`, 422, "invalid"}, {"POST", s, `{"kind":"other"}`, 422, "invalid"},
		{"POST", s, `{"kind":"sparse","above":0}`, 422, "invalid"}, {"POST", s, `{"kind":"sparse","above":-1}`, 422, "invalid"},
		{"POST", s, `{"kind":"sparse","sensitivity":0}`, 422, "invalid"},
		{"POST", s, `{"kind":"sparse","sensitivity":1.5}`, 422, "invalid"}, {"POST", s, `{"kind":"sparse","epsilon":"x"}`, 422, "invalid"},
		{"POST", s + "/x/ask", `{}`, 422, "invalid"}, {"POST", s + "/x/ask", `{"sql":""}`, 422, "invalid"},
		{"POST", s + "/x/ask", `{"sql":"x"}`, 404, "missing"}, {"POST", s + "/x/ask", `{"sql":"x","where":{"sex":"F"}}`, 422, "invalid"},
		{"POST", s + "/x/ask", `{"predictions":[[1]]}`, 422, "invalid"}, {"POST", s + "/x/ask", `{"predictions":[null]}`, 422, "invalid"},
		{"POST", s + "/x/explain", `{}`, 422, "invalid"}, {"POST", s + "/x/explain", `{"sql":"x"}`, 404, "missing"},
		{"POST", s, `{"kind":"stream"}`, 422, "refused"}, {"POST", s, `{"kind":"holdout"}`, 422, "refused"},
		{"POST", s, `{"kind":"stream","epsilon":1}`, 422, "invalid"}, {"POST", s, `{"kind":"holdout","above":3}`, 422, "invalid"},
		{"POST", s, `{"kind":"stream","name":"` + strings.Repeat("n", 65) + `"}`, 422, "invalid"},
		{"POST", s, `{"kind":"stream","dataset":"clinic"}`, 404, "missing"},
		{"GET", "/v1/datasets/hospital/streams/x/synthetic", ``, 404, "missing"},
		{"GET", "/v1/datasets/clinic/streams/x/synthetic", ``, 404, "missing"},
		{"GET", "/v1/datasets/hospital/streams/x/report", ``, 403, "role"},
		{"GET", "/v1/datasets/hospital/holdouts/x/board", ``, 404, "missing"},
		{"GET", "/v1/datasets/clinic/holdouts/x/board", ``, 404, "missing"}, {"GET", "/v1/datasets/nothing/streams", ``, 404, "missing"},
		{"GET", "/v1/datasets/nothing/holdouts", ``, 404, "missing"},
		{"POST", s + "/x/ask", `{"sql":"x","threshold":1}`, 404, "missing"},
		{"GET", s + "/x", ``, 404, "missing"}, {"DELETE", s + "/x", ``, 404, "missing"},
		{"GET", s + "/" + strings.Repeat("x", 200), ``, 422, "invalid"},
		{"POST", k, `{}`, 422, "invalid"}, {"POST", k, `{"label":""}`, 422, "invalid"},
		{"POST", k, `{"label":"` + strings.Repeat("x", 101) + `"}`, 422, "invalid"}, {"POST", k, `{"label":"a\u0000b"}`, 422, "invalid"},
		{"POST", k, `{"label":"x","expires":"yesterday"}`, 422, "invalid"},
		{"POST", k, `{"label":"x","expires":"2000-01-01T00:00:00Z"}`, 422, "invalid"},
		{"DELETE", k + "/x", ``, 404, "missing"}, {"DELETE", k, ``, 405, "method"},
		{"GET", "/v1/receipts/x", ``, 422, "invalid"}, {"GET", "/v1/receipts/-1", ``, 422, "invalid"},
		{"GET", "/v1/receipts/18446744073709551616", ``, 422, "invalid"}, {"GET", "/v1/receipts/18446744073709551615", ``, 422, "invalid"},
		{"GET", "/v1/receipts/1.5", ``, 422, "invalid"},
		{"GET", "/v1/receipts?limit=0", ``, 422, "invalid"}, {"GET", "/v1/receipts?limit=1001", ``, 422, "invalid"},
		{"GET", "/v1/receipts?after=-2", ``, 422, "invalid"}, {"GET", "/v1/receipts?after=x", ``, 422, "invalid"},
		{"GET", "/v1/receipts?other=1", ``, 422, "invalid"},
		{"GET", "/v1/logins?limit=x", ``, 422, "invalid"}, {"GET", "/v1/me?x=1", ``, 422, "invalid"},
		{"GET", "/", ``, 404, "path"}, {"GET", "/v1", ``, 404, "path"}, {"GET", "/v1/", ``, 404, "path"},
		{"GET", "/v1/me/", ``, 404, "path"}, {"GET", "/v1//me", ``, 404, "path"}, {"GET", "/v1/x/../me", ``, 404, "path"},
		{"GET", "/v2/me", ``, 404, "path"}, {"GET", "/docs", ``, 404, "path"},
		{"POST", "/v1/me", `{}`, 405, "method"}, {"PUT", q, ``, 405, "method"}, {"GET", q, ``, 405, "method"},
		{"PATCH", "/v1/me", ``, 405, "method"},
	} {
		got := w.call(c.method, c.path, "ana", c.body)
		if got.status != c.status || got.get("kind") != c.kind {
			t.Errorf("%s %.60s %.80q: %d %s", c.method, c.path, c.body, got.status, got.body)
		}
		if len(got.body) > 10000 {
			t.Errorf("%s %.60s: the problem is %d bytes long", c.method, c.path, len(got.body))
		}
		if got.status == 405 && got.header.Get("Allow") == "" {
			t.Errorf("%s %s: it does not say what is allowed", c.method, c.path)
		}
	}
	for name, c := range map[string][]string{
		"no type":        {"Content-Type", ""},
		"another type":   {"Content-Type", "text/plain"},
		"a broken type":  {"Content-Type", ";;;"},
		"another format": {"Content-Type", "application/cbor"},
	} {
		if got := w.call("POST", q, "ana", count, c...); got.status != 415 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	for _, accept := range []string{"a;,b", ";", ",", "application/json;q=", "\x80", "*/*;q=0", "image/png", "text/csv;q=2"} {
		w.want(w.call("GET", "/v1/me", "ana", "", "Accept", accept), 200)
	}
	for _, key := range []string{"a b", strings.Repeat("k", 64), "ü"} {
		w.want(w.call("POST", q, "ana", count, "Idempotency-Key", key), 422)
	}
	for id, kept := range map[string]bool{"abc-1.2_3": true, "a b": false, strings.Repeat("x", 65): false, "é": false} {
		if got := w.call("GET", "/v1/me", "ana", "", "X-Request-Id", id); (got.header.Get("X-Request-Id") == id) != kept {
			t.Errorf("%q: %v", id, got.header)
		}
	}
	for _, path := range []string{"/v1/ledger?limit=0", "/v1/ledger?after=x", "/v1/audit?x=1", "/v1/users?x=1"} {
		w.want(w.call("GET", path, "olga", ""), 422)
	}
	if got := w.want(w.call("GET", "/v1/ledger", "olga", ""), 200); strings.Contains(got.body, `"charge"`) {
		t.Errorf("something was charged: %s", got.body)
	}
}

func TestAgree(t *testing.T) {
	for accept, want := range map[string]string{
		"": mediaJSON, "*/*": mediaJSON, "text/csv": mediaCSV, "text/*": mediaCSV, "application/x-ndjson": mediaNDJSON,
		"application/jsonl":                          mediaNDJSON,
		"text/csv;q=0.5, application/x-ndjson;q=0.9": mediaNDJSON, "text/html, */*;q=0.1": mediaJSON, "TEXT/CSV": mediaCSV,
		"text/csv;q=0": mediaJSON,
		"text/csv; header=present; q=0.2, application/json;q=0.1": mediaCSV,
	} {
		if got := chooseMedia([]string{accept}); got != want {
			t.Errorf("%q: %s", accept, got)
		}
	}
}

// offer gives a request to the server without a network, and holds the answer against the document.
func (w *world) offer(t *testing.T, r *http.Request) reply {
	t.Helper()
	got := httptest.NewRecorder()
	w.api.layers.handler().ServeHTTP(got, r)
	out := reply{status: got.Code, header: got.Header(), body: got.Body.String()}
	out.json, _ = parse(out.body)
	mine := *w
	mine.t, mine.seen = t, map[string]bool{}
	mine.honest(r, out)
	return out
}

// FuzzQueryBody: whatever is sent as a question, the answer is documented, and never that something
// unexpected happened.
func FuzzQueryBody(f *testing.F) {
	for _, text := range []string{
		count, `{"sql":"SELECT COUNT(*) FROM patients WHERE age > $1","parameters":[30]}`, `{"sql":"SELECT 1","settings":{"dp.error":10}}`,
		`{"sql":"SELECT sex, AVG(age) FROM patients GROUP BY sex","epsilon":"0.01","request":"r"}`,
		`{"sql":"x","parameters":[null,"a",true,1.5,{"kind":"date","value":"2025-01-01"},{"kind":"text","value":null}]}`, `{`, ``, "\xff",
		`{"sql":"\ud800"}`, `{"sql":"\u0000"}`, `[[[[`, `{"sql":{"sql":{}}}`, `{"sql":"a","sql":"b"}`,
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
	for _, text := range []string{"", "Bearer", "Bearer ", "Bearer x", "Basic", "Basic Og==", "Basic YW5hOng=", "Basic \xff",
		"bEaReR  dsc_", "Digest x", "Bearer dsc_aaaaaaaaaa_" + strings.Repeat("a", 52),
		"Basic " + base64.StdEncoding.EncodeToString([]byte("ana:\x00"))} {
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

// FuzzSessionBody: whatever a session on a stream is asked, the answer is documented, and never
// that something unexpected happened.
func FuzzSessionBody(f *testing.F) {
	for _, text := range []string{
		`{"sql":"sex = 'F' AND age >= 30"}`, `{"sql":"SELECT COUNT(*) FROM patients WHERE age > 29"}`,
		`{"where":{"sex":["F","M"],"age":["30..39"]}}`, `{"where":{}}`, `{"where":{"sex":[]}}`, `{"where":{"sex":["F","F"]}}`,
		`{"sql":"age > 35"}`, `{"sql":"NOT (smoker IS NULL OR sex LIKE 'F%')"}`, `{"sql":"(age, sex) IN ((1, 'F'))"}`,
		`{"sql":"1/(age-37) > 0"}`, `{"sql":"true) OR (true"}`, `{"sql":"true; SELECT 1"}`, `{"sql":"-- nothing"}`,
		`{"sql":"x","threshold":1}`, `{"predictions":[1,"a",true]}`, `{`, ``, "\xff", `{"sql":"\u0000"}`, `{"where":{"\u0000":[""]}}`,
	} {
		f.Add([]byte(text))
	}
	w := newWorldIn(f, streaming(f, hospital.New(people, 1), "{epsilon: 1, per_query: {default: 0.1, max: 1}}", ", budget: 1"))
	at := "/v1/sessions/" + w.want(w.call("POST", "/v1/sessions", "ana", `{"kind":"stream"}`), 201).get("id").(string)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, what := range []string{"/explain", "/ask"} {
			r := httptest.NewRequest("POST", at+what, strings.NewReader(string(body)))
			r.Header.Set("Authorization", "Bearer "+w.tokens["ana"])
			r.Header.Set("Content-Type", "application/json")
			switch got := w.offer(t, r); got.status {
			case 200, 400, 402, 413, 422, 429:
			default:
				t.Errorf("%s %q: %d %s", what, body, got.status, got.body)
			}
		}
	})
}

// FuzzModelBody: whatever is sent as a question for a model, or as rows to predict for, the answer
// is documented, and never that something unexpected happened.
func FuzzModelBody(f *testing.F) {
	for _, text := range []string{
		elderly,
		`{"features":"SELECT age, sex FROM patients","target":"sex","epsilon":"0.5","evaluate":0.1,"loss":"huber","half_width":0.25}`,
		`{"features":"SELECT age, cost FROM patients WHERE smoker","target":"cost","epsilon":1,"residual":2,"radius":3,"rows":100}`,
		`{"features":"SELECT age, smoker FROM patients","target":"smoker","epsilon":1,"tune":[10,100],"weights":{"true":2}}`,
		`{"features":"SELECT 1","target":"1","epsilon":1}`,
		`{"features":"SELECT age FROM patients","target":"age > 5; DROP TABLE x","epsilon":1}`,
		`{"features":"SELECT age FROM patients","target":"age > 5) OR (true","epsilon":1,"method":"output","regulariser":1e300}`,
		`{"features":"SELECT age FROM patients","target":"-- x","epsilon":1e-12,"regulariser":5e-324}`,
		`{"features":"SELECT age AS \"\u0000\" FROM patients","target":"smoker","epsilon":1}`, `{"rows":[{"age":1e999,"sex":"\ud800"}]}`,
		`{"rows":[{"age":"NaN","sex":"F"},{"age":-0.0,"sex":true}]}`, `{"rows":[{"age":"0x10","sex":null}]}`, `{`, ``, "\xff",
	} {
		f.Add([]byte(text))
	}
	w := newWorldOf(f, hospital.New(60, 1), learned)
	at := "/v1/models/" + w.want(w.call("POST", "/v1/models", "ana", elderly), 200).get("id").(string) + "/predict"
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, path := range []string{"/v1/models/quote", "/v1/models", at} {
			r := httptest.NewRequest("POST", path, strings.NewReader(string(body)))
			r.Header.Set("Authorization", "Bearer "+w.tokens["ana"])
			r.Header.Set("Content-Type", "application/json")
			switch got := w.offer(t, r); got.status {
			case 200, 400, 402, 404, 409, 413, 422, 429:
			default:
				t.Errorf("%s %q: %d %s", path, body, got.status, got.body)
			}
		}
	})
}
