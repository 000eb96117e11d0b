package httpapi

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/hospital"
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
