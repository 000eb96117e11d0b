package datum

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// Values in ascending order: each is below those after it, equal to itself, and has a key of its
// own. An Int and a whole Float are one value.
func TestCompare(t *testing.T) {
	nan := Float(math.NaN())
	for _, ascending := range [][]Value{
		{False, True}, {Int(-1), Int(2)}, {Int(1), Float(1.5), Int(2), Float(math.Inf(1)), nan}, {Text("A"), Text("a"), Text("é")},
		{List{}, List{Int(1)}, List{Int(1), Int(0)}, List{Int(2)}, List{nil}},
		{NewRecord(nil, []Value{Int(1), Text("a")}), NewRecord(nil, []Value{Int(1), nil})},
	} {
		for i, a := range ascending {
			for j, b := range ascending {
				if got := Compare(a, b); (got < 0) != (i < j) || (got > 0) != (i > j) {
					t.Errorf("%v and %v: %d", a, b, got)
				}
				if same := string(Key(nil, a)) == string(Key(nil, b)); same != (i == j) {
					t.Errorf("%v and %v have the same key: %v", a, b, same)
				}
			}
		}
	}
	if Compare(Int(2), Float(2)) != 0 || string(Key(nil, Int(2))) != string(Key(nil, Float(2))) {
		t.Error("2 and 2.0 are two values")
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{"a_1": "a_1", "1a": `"1a"`, "A": `"A"`, "select": `"select"`, `a"b`: `"a""b"`, "": `""`} {
		if got := Quote(name); got != want {
			t.Errorf("%s is quoted as %s", name, got)
		}
		if parts, ok := Split(Quote(name)); ok != (name != "") || ok && !slices.Equal(parts, []string{name}) {
			t.Errorf("%s is read as %q", Quote(name), parts)
		}
	}
	for text, want := range map[string]string{`Public."My Table"`: "public|My Table", "a.b.c": "a|b|c", "a.b.c.d": "", `"a`: "", "a..b": "",
		`"a"b`: ""} {
		parts, ok := Split(text)
		if got := strings.Join(parts, "|"); ok != (want != "") || ok && got != want {
			t.Errorf("%s is %s, %v", text, got, ok)
		}
	}
	if got := Truncate("añb", 2); got != "a" {
		t.Errorf("cut to %q", got)
	}
}

func TestParseNumeric(t *testing.T) {
	for text, want := range map[string]string{"-1": "-1", "+7": "7", "-12.50": "-12.50", ".5": "0.5", "-.5": "-0.5", "5.": "5",
		" 3 ": "3", "-2e-3": "-0.002"} {
		if n, ok := ParseNumeric(text); !ok || n.String() != want {
			t.Errorf("%q is %v, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "-", "+", ".", "-.", "--1", "1-", "1.-2", "1e", "x"} {
		if n, ok := ParseNumeric(text); ok {
			t.Errorf("%q is %v", text, n)
		}
	}
}
