package httpapi

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
)

// elderly is a question for a model that is easy to learn.
const elderly = `{"dataset":"hospital","features":"SELECT age, sex FROM patients","target":"age >= 55","epsilon":5}`

const learned = "{epsilon: 20, per_query: {default: 0.1, max: 10}}"

// TestModels: a model is priced, trained, found again, used and listed, by those who may.
func TestModels(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	furnish(t, dir, hospital.New(people, 1), policyText(learned))
	w := newWorldIn(t, dir)
	if got := w.want(w.call("GET", "/v1/models", "ana", ""), 200); got.body != "{\"models\":[]}\n" {
		t.Error(got.body)
	}
	price := w.want(w.call("POST", "/v1/models/quote", "ana", elderly), 200)
	if price.get("known") != false || number(price, "pay", "epsilon") != "5" || price.get("affordable") != true ||
		price.get("unit") != "patients.pid" || price.get("why", "0") == nil || price.get("plan", "0", "name") == nil ||
		number(price, "worth", "delta") != "0" {
		t.Error(price.body)
	}
	made := w.want(w.call("POST", "/v1/models", "ana", elderly, "Idempotency-Key", "monday"), 200)
	if number(made, "cost", "epsilon") != "5" || made.get("receipt", "free") != false || made.header.Get("Idempotency-Key") != "monday" ||
		made.get("model", "receipt", "hash") != made.get("receipt", "hash") ||
		made.get("model", "encoding", "target", "name") == nil || made.get("model", "weights", "0", "0") == nil ||
		number(made, "data_version", "number") != "1" {
		t.Error(made.body)
	}
	id := made.get("id").(string)
	w.want(w.call("GET", "/v1/receipts/"+number(made, "receipt", "sequence"), "ana", ""), 200)
	// Again, with the key and without, by whomever: the same model, free.
	for user, key := range map[string]string{"ana": "monday", "ben": "monday", "": ""} {
		if user == "" {
			user, key = "ana", "tuesday"
		}
		again := w.want(w.call("POST", "/v1/models", user, elderly, "Idempotency-Key", key), 200)
		if again.get("id") != id || again.get("receipt", "free") != true || number(again, "cost", "epsilon") != "0" ||
			fmt.Sprint(again.get("model")) != fmt.Sprint(made.get("model")) {
			t.Error(again.body)
		}
	}
	if got := w.want(w.call("POST", "/v1/models/quote", "ben", elderly), 200); got.get("known") != true ||
		number(got, "pay", "epsilon") != "0" || got.get("record") != made.get("receipt", "sequence") {
		t.Error(got.body)
	}
	// The key is a question's own.
	if got := w.want(w.call("POST", "/v1/models", "ana", strings.Replace(elderly, `"epsilon":5`, `"epsilon":4`, 1), "Idempotency-Key",
		"monday"), 409); got.get("kind") != "request" || got.get("spent") != false {
		t.Error(got.body)
	}
	if got := w.want(w.call("POST", "/v1/query", "ana", count, "Idempotency-Key", "monday"), 409); got.get("kind") != "request" {
		t.Error(got.body)
	}
	// Lists have what one paid for, and the owner's has all.
	if got := w.want(w.call("GET", "/v1/models", "ana", ""), 200); got.get("models", "0", "id") != id || got.get("models", "1") != nil ||
		got.get("models", "0", "analyst") != "ana" || got.get("models", "0", "model") != nil || got.get("models", "0", "target") == nil {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/models", "ben", ""), 200); got.get("models", "0") != nil {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/models?dataset=hospital&limit=1", "olga", ""), 200); got.get("models", "0", "id") != id ||
		got.get("models", "0", "analyst") != "ana" || got.get("next") == nil {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/models?dataset=clinic", "olga", ""), 200); got.get("models", "0") != nil {
		t.Error(got.body)
	}
	w.want(w.call("GET", "/v1/models?dataset=clinic", "ana", ""), 404)
	// By its name it is there for all who were given it, and for nobody else.
	for user, sees := range map[string]bool{"ana": true, "ben": false, "olga": true} {
		got := w.want(w.call("GET", "/v1/models/"+id, user, ""), 200)
		if fmt.Sprint(got.get("model")) != fmt.Sprint(made.get("model")) || (got.get("analyst") == "ana") != sees {
			t.Errorf("%s: %s", user, got.body)
		}
	}
	const rows = `{"rows":[{"age":90,"sex":"F"},{"age":"12","sex":null},{"age":12.5,"sex":"nobody knows"}]}`
	for _, user := range []string{"ana", "ben", "olga"} {
		got := w.want(w.call("POST", "/v1/models/"+id+"/predict", user, rows), 200)
		if got.get("predictions", "0", "class") != "true" || got.get("predictions", "1", "class") != "false" ||
			got.get("predictions", "2", "class") == nil || got.get("predictions", "3") != nil ||
			got.get("predictions", "0", "value") != nil || got.get("predictions", "0", "scores", "true") == nil {
			t.Error(got.body)
		}
	}
	for _, bad := range []string{`{"rows":[{"nonsense":1}]}`, `{"rows":[{}]}`, `{"rows":[{"age":"many"}]}`, `{"rows":[]}`,
		`{"rows":[{"age":[1]}]}`, `{"rows":[{"age":{}}]}`, `{}`, `{"rows":null}`} {
		if got := w.want(w.call("POST", "/v1/models/"+id+"/predict", "ana", bad), 422); got.get("kind") != "invalid" {
			t.Errorf("%s: %s", bad, got.body)
		}
	}
	sequence, hash, _ := strings.Cut(id, "-")
	nothing := w.want(w.call("GET", "/v1/models/9999-"+hash, "ana", ""), 404)
	for _, other := range []string{id[:len(id)-1] + "x", sequence + "-", "0-" + hash, "x", sequence} {
		for _, user := range []string{"ana", "olga"} {
			same(t, other, w.want(w.call("GET", "/v1/models/"+other, user, ""), 404), nothing)
			w.want(w.call("POST", "/v1/models/"+other+"/predict", user, rows), 404)
		}
	}
	same(t, "a model of others", w.want(w.call("GET", "/v1/models/"+id, "cy", ""), 404), nothing)
	// A regression says numbers.
	regression := w.want(w.call("POST", "/v1/models", "ben",
		`{"dataset":"hospital","features":"SELECT age, smoker, cost FROM patients","target":"cost","epsilon":2,"evaluate":0.5}`), 200)
	if got := w.want(w.call("POST", "/v1/models/"+regression.get("id").(string)+"/predict", "ben", `{"rows":[{"age":30,"smoker":true}]}`),
		200); got.get("predictions", "0", "value") == nil || got.get("predictions", "0", "class") != nil {
		t.Error(got.body)
	}
	if regression.get("model", "evaluation") == nil || number(regression, "cost", "epsilon") != "2.5" {
		t.Error(regression.body)
	}
	if got := w.want(w.call("GET", "/v1/models", "ana", ""), 200); strings.Contains(got.body, "ben") {
		t.Error(got.body)
	}
	if got := w.want(w.call("GET", "/v1/audit", "olga", ""), 200); got.get("good") != true || number(got, "decisions") != "2" {
		t.Error(got.body)
	}
	// After a restart all of it is there.
	w.end()
	w = newWorldIn(t, dir)
	if got := w.want(w.call("POST", "/v1/models", "ben", elderly), 200); got.get("id") != id || got.get("receipt", "free") != true ||
		fmt.Sprint(got.get("model")) != fmt.Sprint(made.get("model")) {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/models/"+id+"/predict", "ana", rows), 200)
}

// TestModelsRefused: what cannot be trained is a problem, and nothing is charged.
func TestModelsRefused(t *testing.T) {
	w := newWorldOf(t, hospital.New(people, 1), learned)
	with := func(member, value string) string {
		return regexp.MustCompile(`"`+member+`":("[^"]*"|[0-9]+)`).ReplaceAllString(elderly, `"`+member+`":`+value)
	}
	and := func(more string) string { return strings.TrimSuffix(elderly, "}") + "," + more + "}" }
	for body, kind := range map[string]string{
		``: "body", `{`: "body", `{}`: "invalid", `[]`: "invalid", with("features", `""`): "invalid", with("target", `""`): "invalid",
		with("epsilon", "0"): "invalid", with("epsilon", "-1"): "invalid", with("epsilon", `"NaN"`): "invalid",
		with("epsilon", `""`): "refused", with("epsilon", "11"): "refused", with("epsilon", "0.000000001"): "refused",
		and(`"evaluate":0`): "invalid", and(`"evaluate":6`): "refused", and(`"evaluate":"x"`): "invalid",
		and(`"loss":"zero-one"`): "invalid", and(`"method":"magic"`): "invalid", and(`"method":"minima"`): "refused",
		and(`"loss":"squares"`): "refused", and(`"regulariser":-1`): "invalid", and(`"regulariser":0`): "invalid",
		and(`"radius":0`): "invalid", and(`"rows":0`): "invalid", and(`"regulariser":1e-9,"method":"objective"`): "refused",
		and(`"regulariser":"NaN"`): "invalid",
		and(`"regulariser":1e400`): "body", and(`"radius":-1`): "invalid", and(`"tune":[1]`): "refused",
		and(`"weights":{"nobody":1}`): "refused", and(`"more":1`): "invalid", and(`"request":"a b"`): "invalid",
		and(`"rows":-1`):      "invalid",
		with("target", `"1"`): "refused", with("target", `"'a'"`): "refused", with("target", `"nonsense"`): "refused",
		with("features", `"SELECT pid, sex FROM patients"`): "refused", with("features", `"SELECT COUNT(*) FROM patients"`): "refused",
		with("features", `"SELECT day FROM visits"`): "refused", with("features", `"DROP TABLE patients"`): "refused",
		with("features", `"SELECT age FROM patients; SELECT 1"`): "refused", with("features", `"SELECT * FROM read_csv('x')"`): "refused",
	} {
		for _, path := range []string{"/v1/models", "/v1/models/quote"} {
			got := w.call("POST", path, "ana", body)
			if got.status != 422 && got.status != 400 || got.get("kind") != kind || got.get("spent") != false {
				t.Errorf("%s %s: %d %s", path, body, got.status, got.body)
			}
		}
	}
	for user, status := range map[string]int{"cy": 404, "olga": 403} {
		w.want(w.call("POST", "/v1/models", user, elderly), status)
		w.want(w.call("POST", "/v1/models/quote", user, elderly), status)
	}
	w.want(w.call("POST", "/v1/models", "ana", strings.Replace(elderly, "hospital", "clinic", 1)), 404)
	w.want(w.call("POST", "/v1/models", "ben", strings.Replace(elderly, `"dataset":"hospital",`, "", 1)), 422)
	w.want(w.call("POST", "/v1/models", "ana", elderly, "Idempotency-Key", "a", "Content-Type", "text/plain"), 415)
	w.want(w.call("POST", "/v1/models", "", elderly), 401)
	if got := w.want(w.call("GET", "/v1/receipts", "olga", ""), 200); got.get("receipts", "0") != nil {
		t.Errorf("something was charged: %s", got.body)
	}
	// Over the budget: Ben has half of it.
	big := strings.Replace(elderly, `"epsilon":5`, `"epsilon":10`, 1)
	w.want(w.call("POST", "/v1/models", "ben", big), 200)
	other := strings.Replace(big, "age, sex", "age, smoker", 1)
	if got := w.want(w.call("POST", "/v1/models", "ben", other), 402); got.get("kind") != "budget" || got.get("spent") != false {
		t.Error(got.body)
	}
	if got := w.want(w.call("POST", "/v1/models/quote", "ben", other), 200); got.get("affordable") != false {
		t.Error(got.body)
	}
}

// TestModelTimeout: a training that is stopped is paid for, and its key gets it without a second
// charge.
func TestModelTimeout(t *testing.T) {
	dir := t.TempDir()
	furnish(t, dir, hospital.New(people, 1), policyText(learned))
	w := newWorldIn(t, dir)
	w.configure(func(o *Options) { o.Dispatcher = admission.New(w.db, admission.Options{Timeout: time.Nanosecond}) })
	got := w.want(w.call("POST", "/v1/models", "ana", elderly, "Idempotency-Key", "monday"), 504)
	if got.get("kind") != "timeout" || got.get("request") != "monday" || got.get("spent") != nil {
		t.Error(got.body)
	}
	w.configure(func(o *Options) { o.Dispatcher = admission.New(w.db, admission.Options{}) })
	got = w.want(w.call("POST", "/v1/models", "ana", elderly, "Idempotency-Key", "monday"), 200)
	spent := w.want(w.call("GET", "/v1/datasets/hospital/budget", "ana", ""), 200)
	if number(spent, "accounts", "0", "spent", "epsilon") != "5" {
		t.Error(spent.body)
	}
}

// hostile are features and targets of somebody who is after one person.
var hostile = [][2]string{
	{"SELECT age, sex FROM patients", "diagnosis = 'HIV'"},
	{"SELECT age, smoker FROM patients WHERE zip = '1003A' AND diagnosis = 'HIV'", "smoker"},
	{"SELECT age, smoker FROM patients WHERE age = -300", "smoker"},
	{"SELECT age, smoker FROM patients WHERE 1 / (age - 37) > 0", "smoker"},
	{"SELECT age, smoker FROM patients WHERE pid = 37", "smoker"},
	{"SELECT pid, smoker FROM patients", "smoker"},
	{"SELECT CASE WHEN diagnosis = 'HIV' THEN 1/0 ELSE age END AS x, smoker FROM patients", "smoker"},
	{"SELECT CAST(zip AS INTEGER) AS z, smoker FROM patients", "smoker"},
	{"SELECT age * 9223372036854775807 AS a, smoker FROM patients", "smoker"},
	{"SELECT age, smoker FROM patients WHERE pg_sleep(5) IS NULL", "smoker"},
	{"SELECT age, error('x') AS e, smoker FROM patients", "smoker"},
	{"SELECT * FROM read_csv('data/patients.csv')", "smoker"},
	{"SELECT v.cost, v.ward, p.age FROM visits v JOIN patients p ON v.pid = p.pid", "ward"},
}

// TestModelNeighbours: on two databases that differ in one person everything but weights is the
// same, to the last byte.
func TestModelNeighbours(t *testing.T) {
	t.Parallel()
	with := hospital.New(people, 1)
	a, b := newWorldOf(t, with, learned), newWorldOf(t, with.Without(hospital.Target), learned)
	noisy := regexp.MustCompile(`"weights":\[\[.*?\]\]|"evaluation":\{[^}]*\}|"hash":"[0-9a-f]{64}"|"time":"[^"]*"|"id":"[^"]*"`)
	codes := map[int]int{}
	both := func(method, path, user, body string, headers ...string) {
		t.Helper()
		x, y := a.call(method, path, user, body, headers...), b.call(method, path, user, body, headers...)
		for _, r := range []*reply{&x, &y} {
			if r.status == 200 {
				r.header.Del("Content-Length")
			}
			r.body = noisy.ReplaceAllString(r.body, "…")
		}
		same(t, method+" "+path+" "+body, x, y)
		codes[x.status]++
	}
	for i, h := range hostile {
		q := fmt.Sprintf(`{"dataset":"hospital","features":%q,"target":%q,"epsilon":3,"evaluate":0.1}`, h[0], h[1])
		both("POST", "/v1/models/quote", "ana", q)
		both("POST", "/v1/models", "ana", q, "Idempotency-Key", fmt.Sprint("q", i))
		both("POST", "/v1/models", "ben", q, "Idempotency-Key", fmt.Sprint("q", i))
		both("POST", "/v1/models/quote", "ben", q)
	}
	for _, path := range []string{"/v1/models", "/v1/receipts", "/v1/datasets/hospital/budget"} {
		both("GET", path, "ana", "")
		both("GET", path, "olga", "")
	}
	if codes[200] < 15 || codes[422] < 15 || codes[500] > 0 {
		t.Errorf("the questions are not what they should be: %v", codes)
	}
}
