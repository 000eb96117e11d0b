package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestEveryRouteIsDocumented compares what the mux serves with what the document says, both ways.
func TestEveryRouteIsDocumented(t *testing.T) {
	w := newWorld(t)
	var documented []string
	for path, item := range w.document["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			documented = append(documented, strings.ToUpper(method)+" "+path)
		}
	}
	served := slices.Clone(w.api.router.patterns)
	slices.Sort(documented)
	slices.Sort(served)
	if !slices.Equal(documented, served) {
		t.Errorf("documented\n%s\nserved\n%s", strings.Join(documented, "\n"), strings.Join(served, "\n"))
	}
	if len(served) < 25 {
		t.Errorf("only %d routes", len(served))
	}
	if got := w.want(w.call("GET", "/openapi.yaml", "ana", ""), 200); !strings.Contains(got.body, "openapi: 3.1.0") {
		t.Errorf("%.200s", got.body)
	}
	if w.document["openapi"] != "3.1.0" {
		t.Error(w.document["openapi"])
	}
}

// TestTheCheckOfAnswersCanFail plants answers that are not as the document says.
func TestTheCheckOfAnswersCanFail(t *testing.T) {
	w := newWorld(t)
	me := map[string]any{"$ref": "#/components/schemas/Me"}
	for text, wrong := range map[string]bool{
		`{"name":"ana","role":"analyst","datasets":[]}`:         false,
		`{"name":"ana","role":"king","datasets":[]}`:            true,
		`{"name":"ana","role":"analyst","datasets":null}`:       true,
		`{"name":"ana","role":"analyst"}`:                       true,
		`{"name":1,"role":"analyst","datasets":[]}`:             true,
		`{"name":"ana","role":"analyst","datasets":[],"age":9}`: true,
		`{"name":"ana","role":"analyst","datasets":[3]}`:        true,
	} {
		v, err := parse(text)
		must(t, err)
		if got := check(w.document, me, v, "me"); (len(got) > 0) != wrong {
			t.Errorf("%s: %v", text, got)
		}
	}
}

const count = `{"dataset":"hospital","sql":"SELECT COUNT(*) FROM patients","epsilon":0.5}`

// TestEveryOperation has a good day: each operation is called and answers.
func TestEveryOperation(t *testing.T) {
	w := newWorld(t)
	w.want(w.call("GET", "/healthz", "", ""), 200)
	w.want(w.call("GET", "/readyz", "", ""), 200)

	me := w.want(w.call("GET", "/v1/me", "ben", ""), 200)
	if me.get("name") != "ben" || me.get("role") != "analyst" || me.get("datasets", "1") != "hospital" {
		t.Error(me.body)
	}
	if all := w.want(w.call("GET", "/v1/datasets", "ana", ""), 200); all.get("datasets", "0") != "hospital" ||
		all.get("datasets", "1") != nil {
		t.Error(all.body)
	}
	ds := w.want(w.call("GET", "/v1/datasets/hospital", "ana", ""), 200)
	if ds.get("tables", "0", "columns", "0", "bounds", "highest") != "110" || ds.get("tables", "1", "path", "0") != "pid -> patients.pid" ||
		strings.Contains(ds.body, ".csv") || ds.get("analysts") != nil {
		t.Error(ds.body)
	}
	price := w.want(w.call("POST", "/v1/explain", "ana", count), 200)
	if number(price, "cost", "epsilon") != "0.5" || price.get("known") != false {
		t.Error(price.body)
	}
	answer := w.want(w.call("POST", "/v1/query", "ana", count), 200)
	if answer.get("columns", "0") != "count" || answer.get("receipt", "free") != false || answer.header.Get("Idempotency-Key") == "" {
		t.Error(answer.body)
	}
	sequence := number(answer, "receipt", "sequence")
	receipt := w.want(w.call("GET", "/v1/receipts/"+sequence, "ana", ""), 200)
	if receipt.get("hash") != answer.get("receipt", "hash") || receipt.get("request") != answer.header.Get("Idempotency-Key") {
		t.Error(receipt.body, answer.body)
	}
	if all := w.want(w.call("GET", "/v1/receipts", "ana", ""), 200); all.get("receipts", "0", "hash") != receipt.get("hash") ||
		all.get("next") != nil {
		t.Error(all.body)
	}
	budget := w.want(w.call("GET", "/v1/datasets/hospital/budget", "ana", ""), 200)
	if budget.get("accounts", "0", "name") != "hospital/ana" || budget.get("accounts", "1") != nil || budget.get("promise") != nil {
		t.Error(budget.body)
	}
	if all := w.want(w.call("GET", "/v1/datasets/hospital/budget", "olga", ""), 200); all.get("accounts", "0", "name") != "hospital" ||
		all.get("accounts", "2") == nil || all.get("promise", "0") == nil {
		t.Error(all.body)
	}
	page := w.want(w.call("GET", "/v1/ledger?limit=2", "olga", ""), 200)
	if page.get("records", "0", "kind") != "ledger" || page.get("records", "0", "record") != nil || page.get("next") == nil {
		t.Error(page.body)
	}
	next := number(page, "next")
	rest := w.want(w.call("GET", "/v1/ledger?after="+next, "olga", ""), 200)
	if rest.get("records", "0", "previous") != page.get("records", "1", "hash") {
		t.Error(rest.body)
	}
	lines := strings.Split(strings.TrimSpace(w.want(w.call("GET", "/v1/ledger", "olga", "", "Accept", mediaNDJSON), 200).body), "\n")
	head := w.want(w.call("GET", "/v1/ledger/head", "olga", ""), 200)
	if last, _ := parse(lines[len(lines)-1]); (reply{json: last}).get("hash") != head.get("hash") {
		t.Error(head.body, lines)
	}
	audit := w.want(w.call("GET", "/v1/audit", "olga", ""), 200)
	if audit.get("good") != true || audit.get("head", "hash") != head.get("hash") || audit.get("datasets", "1", "name") != "hospital" ||
		number(audit, "decisions") != "1" {
		t.Error(audit.body)
	}
	made := w.want(w.call("POST", "/v1/tokens", "ana", `{"label":"notebook","expires":"2999-01-01T00:00:00Z"}`), 201)
	w.tokens["new"] = made.get("secret").(string)
	w.want(w.call("GET", "/v1/me", "new", ""), 200)
	if all := w.want(w.call("GET", "/v1/tokens", "ana", ""), 200); !strings.Contains(all.body, "notebook") ||
		strings.Contains(all.body, w.tokens["new"]) || strings.Contains(all.body, `"olga"`) {
		t.Error(all.body)
	}
	w.want(w.call("DELETE", "/v1/tokens/"+made.get("token", "id").(string), "ana", ""), 204)
	w.want(w.call("GET", "/v1/me", "new", ""), 401)
	if all := w.want(w.call("GET", "/v1/users", "olga", ""), 200); all.get("users", "0", "name") != "ana" {
		t.Error(all.body)
	}
	if all := w.want(w.call("GET", "/v1/logins?user=ana", "olga", ""), 200); all.get("logins") == nil {
		t.Error(all.body)
	}
	w.want(w.call("GET", "/v1/logins", "ana", ""), 200)
	w.want(w.call("GET", "/v1/version", "ana", ""), 200)
	w.want(w.call("GET", "/metrics", "olga", ""), 200)
	w.want(w.call("GET", "/v1/sessions", "ana", ""), 200)
	if all := w.want(w.call("GET", "/v1/datasets/hospital/streams", "ana", ""), 200); all.body != "{\"streams\":[]}\n" {
		t.Error(all.body)
	}
	if all := w.want(w.call("GET", "/v1/datasets/hospital/holdouts", "ana", ""), 200); all.body != "{\"holdouts\":[]}\n" {
		t.Error(all.body)
	}

	if all := w.want(w.call("GET", "/v1/models", "ana", ""), 200); all.body != "{\"models\":[]}\n" {
		t.Error(all.body)
	}

	for _, kind := range []string{"/v1/saved", "/v1/dashboards"} {
		thing := `{"title":"a","dataset":"hospital","sql":"SELECT 1"}`
		if kind == "/v1/dashboards" {
			thing = `{"title":"a","dataset":"hospital","tiles":[]}`
		}
		at := kind + "/" + w.want(w.call("POST", kind, "ana", thing), 201).get("id").(string)
		w.want(w.call("GET", kind, "ana", ""), 200)
		w.want(w.call("GET", at, "ana", ""), 200)
		w.want(w.call("PUT", at, "ana", thing), 200)
		w.want(w.call("DELETE", at, "ana", ""), 204)
	}
	for end, who := range map[string]string{"": "ana", "/decline": "olga"} {
		id := w.want(w.call("POST", "/v1/datasets/hospital/requests", "ana", `{"epsilon":"1","reason":"a revision"}`), 201).get("id").(string)
		w.want(w.call("GET", "/v1/requests", who, ""), 200)
		if end == "" {
			w.want(w.call("DELETE", "/v1/requests/"+id, who, ""), 204)
		} else {
			w.want(w.call("POST", "/v1/requests/"+id+end, who, `{"reason":"not now"}`), 200)
		}
	}
	w.want(w.call("GET", "/v1/signin", "", ""), 200)
	w.want(w.call("POST", "/v1/signin", "", credentials), 200)
	w.want(w.call("POST", "/v1/signout", "ana", "{}"), 204)

	w.want(w.call("GET", "/v1/datasets/hospital/incidents", "olga", ""), 200)
	rules := w.want(w.call("GET", "/v1/policy", "olga", ""), 200)
	if rules.get("datasets", "1", "promise", "0") == nil || rules.get("datasets", "1", "analysts", "0", "name") != "ana" ||
		rules.get("datasets", "1", "tables", "0", "columns", "0", "bounds") != "0 .. 110" || rules.get("fingerprint") != nil {
		t.Error(rules.body)
	}
	if got := w.want(w.call("GET", "/v1/check", "olga", ""), 200); got.get("ok") != true || got.get("datasets", "0", "name") != "clinic" {
		t.Error(got.body)
	}
	w.want(w.call("POST", "/v1/policy/reload", "olga", `{"dry_run":true}`), 200)
	w.want(w.call("GET", "/v1/policy", "ana", ""), 403)
	w.want(w.call("GET", "/v1/check", "ana", ""), 403)
	w.want(w.call("GET", "/v1/datasets/hospital/spending", "ana", ""), 200)

	// Models have tests of their own, and so has what takes a key, and streams and holdouts, with a
	// policy that has some.
	for _, pattern := range w.api.router.patterns {
		if !slices.ContainsFunc([]string{" 200", " 201", " 204"}, func(code string) bool {
			return w.seen[pattern+code]
		}) && !strings.Contains(pattern, "/v1/sessions") && !signs(pattern) && !strings.Contains(pattern, "streams/") &&
			!strings.Contains(pattern, "holdouts/") && !strings.Contains(pattern, "/v1/models") && !strings.Contains(pattern, "/openid") &&
			!strings.Contains(pattern, "openapi") {
			t.Errorf("%s was not tried", pattern)
		}
	}
}

// signs says whether a route is of what an owner does, which has tests of its own.
func signs(pattern string) bool {
	return slices.ContainsFunc([]string{"/v1/users", "/verify", "/replay", "/topups", "/renewals", "/releases"}, func(what string) bool {
		return strings.Contains(pattern, what)
	})
}

// check says in which ways a value is not as a schema of the served document wants it. It is
// written from JSON Schema 2020-12 and shares nothing with the framework; a word that it does not
// know is a fault of the document.
func check(document map[string]any, schema any, v any, at string) []string {
	s, ok := schema.(map[string]any)
	if !ok {
		return []string{at + ": the schema is no object"}
	}
	var out []string
	wrong := func(format string, args ...any) { out = append(out, at+": "+fmt.Sprintf(format, args...)) }
	for word, want := range s {
		switch word {
		case "description", "format", "title", "examples", "default", "$schema":
		case "$ref":
			name, found := strings.CutPrefix(want.(string), "#/components/schemas/")
			target := document["components"].(map[string]any)["schemas"].(map[string]any)[name]
			if !found || target == nil {
				wrong("%v leads nowhere", want)
				continue
			}
			out = append(out, check(document, target, v, at)...)
		case "anyOf":
			if !slices.ContainsFunc(want.([]any), func(one any) bool { return len(check(document, one, v, at)) == 0 }) {
				wrong("%v is none of what it can be", v)
			}
		case "type":
			types, several := want.([]any)
			if !several {
				types = []any{want}
			}
			if !slices.ContainsFunc(types, func(t any) bool { return is(t.(string), v) }) {
				wrong("%v is not %v", v, want)
			}
		case "enum":
			if !slices.ContainsFunc(want.([]any), func(one any) bool { return reflect.DeepEqual(one, v) }) {
				wrong("%v is none of %v", v, want)
			}
		case "required":
			if o, ok := v.(map[string]any); ok {
				for _, name := range want.([]any) {
					if _, has := o[name.(string)]; !has {
						wrong("%v is missing", name)
					}
				}
			}
		case "properties":
			if o, ok := v.(map[string]any); ok {
				for name, one := range want.(map[string]any) {
					if value, has := o[name]; has {
						out = append(out, check(document, one, value, at+"."+name)...)
					}
				}
			}
		case "additionalProperties":
			o, ok := v.(map[string]any)
			if !ok || want == true {
				continue
			}
			known, _ := s["properties"].(map[string]any)
			for name, value := range o {
				if _, has := known[name]; has {
					continue
				}
				if want == false {
					wrong("%s is not in the schema", name)
				} else {
					out = append(out, check(document, want, value, at+"."+name)...)
				}
			}
		case "items":
			if list, ok := v.([]any); ok {
				for i, one := range list {
					out = append(out, check(document, want, one, fmt.Sprintf("%s[%d]", at, i))...)
				}
			}
		case "minimum", "maximum":
			n, ok := v.(json.Number)
			if !ok {
				continue
			}
			f, _ := n.Float64()
			limit, _ := want.(json.Number).Float64()
			if word == "minimum" && f < limit || word == "maximum" && f > limit {
				wrong("%v is beyond the %s %v", v, word, want)
			}
		case "minLength", "maxLength":
			text, ok := v.(string)
			limit, _ := want.(json.Number).Int64()
			if n := int64(utf8.RuneCountInString(text)); ok && (word == "minLength" && n < limit || word == "maxLength" && n > limit) {
				wrong("%q is beyond the %s %v", text, word, want)
			}
		case "pattern":
			if text, ok := v.(string); ok && !regexp.MustCompile(want.(string)).MatchString(text) {
				wrong("%q is not %v", text, want)
			}
		case "maxItems", "maxProperties":
		default:
			wrong("the document has the word %q, which this check does not know", word)
		}
	}
	return out
}

// is says whether a value is of a type of JSON Schema.
func is(kind string, v any) bool {
	switch kind {
	case "null":
		return v == nil
	case "boolean":
		_, ok := v.(bool)
		return ok
	case "string":
		_, ok := v.(string)
		return ok
	case "object":
		_, ok := v.(map[string]any)
		return ok
	case "array":
		_, ok := v.([]any)
		return ok
	case "number":
		_, ok := v.(json.Number)
		return ok
	case "integer":
		n, ok := v.(json.Number)
		return ok && !strings.ContainsAny(n.String(), ".eE")
	}
	return false
}

// parse reads JSON with its numbers as they are written.
func parse(text string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && d.More() {
		err = fmt.Errorf("there is more behind it")
	}
	return v, err
}
