package syntax

import (
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/api"
)

// TestElements reads arrays as PostgreSQL does.
func TestElements(t *testing.T) {
	const null = "\x00"
	for text, want := range map[string][]string{
		`{}`: {}, ` { } `: {}, `{a}`: {"a"}, `{a,b}`: {"a", "b"}, `{ a b , c }`: {"a b", "c"}, `{"a,b","c\"d","e\\f",""}`: {"a,b", `c"d`, `e\f`, ""},
		`{NULL,null,"NULL",nul\l}`: {null, null, "NULL", "null"}, `{a\,b}`: {"a,b"}, `{\ a\ }`: {" a "}, `{'x'}`: {"'x'"}, `{ä}`: {"ä"},
		`{" a "}`: {" a "}, `{"a" , "b"}`: {"a", "b"},
	} {
		got, ok := Elements(text, MaxElements)
		same := ok && len(got) == len(want)
		for i := range want {
			same = same && (got[i] == nil && want[i] == null || got[i] != nil && *got[i] == want[i])
		}
		if !same {
			t.Errorf("%s: %v", text, ok)
		}
	}
	for _, text := range []string{``, `a`, `{`, `}`, `{a`, `{,}`, `{a,}`, `{,a}`, `{a}}`, `{{a}}`, `{"a`, `{"a"b}`, `{a"b"}`, `{a\`, `{"a\`, `{a} b`, `[1:2]={a,b}`,
		"{" + strings.Repeat("1,", MaxElements) + "1}"} {
		if _, ok := Elements(text, MaxElements); ok {
			t.Errorf("%.40s was read", text)
		}
	}
}

// TestArraysAreBounded: an array makes no more work than a text could.
func TestArraysAreBounded(t *testing.T) {
	const q = "SELECT COUNT(*) FROM patients WHERE "
	many := "{" + strings.Repeat("1,", MaxElements-1) + "1}"
	long := "(" + strings.Repeat("age + ", 500) + "age)"
	for _, c := range []struct {
		name, text string
		values     []api.Parameter
		bound      bool // whether it can be bound at all
		spread     bool
	}{
		{"a list", q + "age = ANY ('" + many + "')", nil, true, true},
		{"a list of a long expression", q + long + " = ANY ('" + many + "')", nil, true, true},
		{"a long expression many times", q + long + " < ANY ('" + many + "')", nil, true, false},
		{"many lists", q + strings.Repeat("age = ANY ('"+many+"') OR ", 14) + "true", nil, true, false},
		{"arrays in arrays",
			q + strings.Repeat("(", 30) + "age" + strings.Repeat(" < ANY ('{1,2,3,4,5,6,7,8,9,10}'))", 30), nil, true, false},
		{"a value", q + "age = ANY ($1)", []api.Parameter{of("integer[]", many[:2001])}, false, false},
		{"a long value", q + "age = ANY ($1)", []api.Parameter{of("integer[]", many)}, false, false},
		{"a huge value", q + "age = ANY ($1)", []api.Parameter{of("integer[]", "{"+strings.Repeat("1,", 1<<20)+"1}")}, false, false},
		{"a short value", q + "age = ANY ($1)", []api.Parameter{of("integer[]", "{1,2}")}, true, true},
		{"no number", q + "age = ANY ($1)", []api.Parameter{of("integer[]", "{1,x}")}, false, false},
		{"no array", q + "age = ANY ($1)", []api.Parameter{of("integer[]", "1")}, false, false},
		{"SQL", q + "age = ANY ($1)", []api.Parameter{of("text[]", `{"') OR true --"}`)}, true, true},
	} {
		bound, err := Open(c.text, nil).Bind(c.values)
		if (err == nil) != c.bound {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err != nil {
			continue
		}
		if left := strings.Contains(bound.stmt.String(), "AEXPR_OP_A"); left == c.spread {
			t.Errorf("%s: spread is %v", c.name, !left)
		}
	}
}

// Where a message of the grammar is one of several, nothing else in it has anything below it:
// eachMessage relies on that.
func TestChoicesStandAlone(t *testing.T) {
	messages := (&pg.Node{}).ProtoReflect().Descriptor().ParentFile().Messages()
	choices := 0
	for i := range messages.Len() {
		m := messages.Get(i)
		if m.Oneofs().Len() == 0 {
			continue
		}
		choices++
		for j := range m.Fields().Len() {
			if f := m.Fields().Get(j); m.Oneofs().Len() > 1 || f.ContainingOneof() == nil && f.Message() != nil {
				t.Errorf("%s has %s beside a choice", m.Name(), f.Name())
			}
		}
	}
	if choices == 0 {
		t.Error("there is no choice in the grammar")
	}
}
