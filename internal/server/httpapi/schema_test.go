package httpapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

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
