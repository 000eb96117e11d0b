package syntax

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/api"
)

func text(s string) api.Parameter { return api.Parameter{Text: s} }

func of(kind, s string) api.Parameter { return api.Parameter{Kind: kind, Text: s} }

// failing is a test, or a property that is tested.
type failing interface{ Fatalf(string, ...any) }

// same reports whether a question with values is what the grammar reads where they are written out,
// but for places.
func same(t failing, got *Text, written string) bool {
	want, err := pg.Parse(written)
	if err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	a, b := proto.Clone(got.stmt), proto.Message(want.Stmts[0].Stmt.GetSelectStmt())
	clearPlaces(a.ProtoReflect())
	clearPlaces(b.ProtoReflect())
	return proto.Equal(a, b)
}

func clearPlaces(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case isLocation(f):
			m.Clear(f)
		case f.Message() == nil || f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				clearPlaces(v.List().Get(i).Message())
			}
		default:
			clearPlaces(v.Message())
		}
		return true
	})
}

// TestBind binds values and compares the tree with that of the text in which they are written out.
func TestBind(t *testing.T) {
	const q = "SELECT COUNT(*) FROM patients WHERE "
	for _, c := range []struct {
		text   string
		values []api.Parameter
		want   string
	}{
		{q + "age > $1", []api.Parameter{of("integer", "5")}, q + "age > (5)"},
		{q + "age > $1", []api.Parameter{of("integer", "-5")}, q + "age > (-5)"},
		{q + "age > -$1", []api.Parameter{of("integer", "-5")}, q + "age > -(-5)"},
		{q + "age > - -$1", []api.Parameter{of("decimal", "5")}, q + "age > - -(5.0)"},
		{q + "cost > $1", []api.Parameter{of("decimal", "+1.50e2")}, q + "cost > (1.50e2)"},
		{q + "zip = $1", []api.Parameter{text("a'b\\'; --")}, q + `zip = ('a''b\''; --')`},
		{q + "zip = $1 OR sex = $1", []api.Parameter{text("x")}, q + "zip = ('x') OR sex = ('x')"},
		{q + "zip = $2 OR sex = $1", []api.Parameter{text("x"), text("$2")}, q + "zip = ('$2') OR sex = ('x')"},
		{q + "zip = '$1' AND sex = $1 -- $2", []api.Parameter{text("x")}, q + "zip = '$1' AND sex = ('x') -- $2"},
		{q + "zip = $a$ $1 $a$", nil, q + "zip = $a$ $1 $a$"},
		{q + "smoker = $1", []api.Parameter{of("boolean", "T")}, q + "smoker = (true)"},
		{q + "born = $1", []api.Parameter{of("date", "2024-02-29")}, q + "born = (DATE '2024-02-29')"},
		{q + "born < $1", []api.Parameter{of("timestamp", "2024-02-29 12:00:00.5")}, q + "born < (TIMESTAMP '2024-02-29 12:00:00.5')"},
		{q + "age = $1", []api.Parameter{{Kind: "integer", Null: true}}, q + "age = (NULL)"},
		{q + "age IN ($1, $2) LIMIT $3", []api.Parameter{of("integer", "1"), of("integer", "2"), of("integer", "3")},
			q + "age IN ((1), (2)) LIMIT (3)"},
		{q + "$1::date > born", []api.Parameter{text("2024-01-01")}, q + "('2024-01-01')::date > born"},
		{q + "zip = U&$1", []api.Parameter{of("integer", "1")}, q + "zip = U&(1)"},
		{q + "age > OPERATOR(-) $1", []api.Parameter{of("integer", "5")}, q + "age > OPERATOR(-) (5)"},
		{q + "zip =\n$1", []api.Parameter{text("\nx")}, q + "zip =\n('\nx')"},
	} {
		if got, err := Open(c.text, nil).Bind(c.values); err != nil || !same(t, got, c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	const q = "SELECT COUNT(*) FROM patients WHERE "
	n := func(s string) []api.Parameter { return []api.Parameter{of("decimal", s)} }
	for _, c := range []struct {
		name, text string
		values     []api.Parameter
		position   int
		reason     string
	}{
		{"too few", q + "age > $1", nil, 42, "1 parameter, but 0 values"},
		{"too many", q + "age > $1", []api.Parameter{text("1"), text("2")}, 42, "1 parameter, but 2 values"},
		{"none at all", q + "age > 1", []api.Parameter{text("1")}, -1, "0 parameters, but 1 value"},
		{"$0", q + "age > $0", nil, 42, "parameters are $1 to"},
		{"$99999", q + "age > $99999", nil, 42, "parameters are $1 to"},
		{"a number that wraps around", q + "age > $4294967297", []api.Parameter{text("1")}, 42, ""},
		{"a huge number", q + "age > $99999999999999999999", []api.Parameter{text("1")}, 42, ""},
		{"NaN", q + "age > $1", n("NaN"), 42, "not a number"},
		{"infinity", q + "age > $1", n("-inf"), 42, "not a number"},
		{"a large exponent", q + "age > $1", n("1e999999"), 42, "not a number"},
		{"another base", q + "age > $1", n("0x10"), 42, "not a number"},
		{"underscores", q + "age > $1", n("1_000"), 42, "not a number"},
		{"a fraction", q + "age > $1", n("1/3"), 42, "not a number"},
		{"two signs", q + "age > $1", n("--1"), 42, "not a number"},
		{"SQL for a number", q + "age > $1", n("1) OR (true"), 42, "not a number"},
		{"an empty number", q + "age > $1", n(""), 42, "not a number"},
		{"a point", q + "age > $1", n("."), 42, "not a number"},
		{"a fraction as an integer", q + "age > $1", []api.Parameter{of("integer", "1.0")}, 42, "not a whole number"},
		{"a long value", q + "age > $1", n(strings.Repeat("9", 64<<20)), 42, "longer than"},
		{"a long number", q + "age > $1", n(strings.Repeat("9", 65)), 42, "not a number"},
		{"many copies of a value", q + strings.Repeat("zip = $1 OR ", 100) + "true", []api.Parameter{text(strings.Repeat("x", 60_000))}, 54,
			"with its values"},
		{"a zero byte", q + "zip = $1", []api.Parameter{text("a\x00b")}, 42, "zero byte"},
		{"no UTF-8", q + "zip = $1", []api.Parameter{text("a\xff")}, 42, "UTF-8"},
		{"no date", q + "born = $1", []api.Parameter{of("date", "2024-02-30")}, 43, "not a date"},
		{"no timestamp", q + "born = $1", []api.Parameter{of("timestamp", "2024-02-28 25:00:00")}, 43, "not a timestamp"},
		{"no boolean", q + "smoker = $1", []api.Parameter{of("boolean", "maybe")}, 45, "not a boolean"},
		{"no kind", q + "smoker = $1", []api.Parameter{of("bytea", "x")}, 45, "kind"},
		{"a name", "SELECT COUNT(*) FROM $1", []api.Parameter{text("patients")}, 21, "syntax error"},
		{"DATE $1", q + "born = DATE $1", []api.Parameter{text("2024-01-01")}, 48, "cannot be used in this place"},
		{"a position to sort by", "SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY $1", []api.Parameter{of("integer", "1")}, 57,
			"sort or group by"},
		{"a position with signs", "SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY - - $1", []api.Parameter{of("integer", "1")},
			61, "sort or group by"},
		{"a position to group by", "SELECT sex, COUNT(*) FROM patients GROUP BY $1", []api.Parameter{of("integer", "1")}, 44,
			"sort or group by"},
		{"two statements", q + "age > $1; DROP TABLE patients", []api.Parameter{text("1")}, 46, "2 statements"},
	} {
		_, err := Open(c.text, nil).Bind(c.values)
		var r *api.Refusal
		if !errors.As(err, &r) || r.Position != c.position || !strings.Contains(r.Reason, c.reason) || r.Instead == "" {
			t.Errorf("%s: %#v", c.name, err)
		}
	}
	_, err := Open(q+"born = DATE $1", nil).Bind([]api.Parameter{text("2024-01-01")})
	if !strings.Contains(err.Error(), "$1::date") {
		t.Errorf("no hint: %v", err)
	}
}

// frames are texts with one parameter, in all kinds of company.
var frames = []string{
	"SELECT COUNT(*) FROM patients WHERE zip = $1",
	"SELECT COUNT(*) FROM patients WHERE zip =\n$1\n'x' IS NULL", // refused before it is bound
	"SELECT COUNT(*) FROM patients WHERE U&$1 = 1",
	"SELECT COUNT(*) FROM patients WHERE (E)-$1 > 0",
	"SELECT COUNT(*) FROM patients WHERE -$1 < - - $1",
	"SELECT COUNT(*) FROM patients WHERE a<$1>b",
	"SELECT COUNT(*) FROM patients WHERE zip IN ($1,$1)",
	"SELECT COUNT(*) FROM patients WHERE zip LIKE $1 ESCAPE $1",
	"SELECT CASE WHEN $1 THEN $1 ELSE $1 END, COUNT(*) FROM patients LIMIT $1 OFFSET $1",
	"SELECT $1 AS x, $1::text, CAST($1 AS numeric(10,2)) FROM patients -- $1",
	"SELECT /* $1 */ '$1', \"$1\", $$ $1 $$, E'\\'$1', f($1) FROM patients WHERE a BETWEEN $1 AND $1",
	"SELECT COUNT(*) FILTER (WHERE a = $1) FROM patients FETCH FIRST $1 ROWS ONLY",
	"SELECT * FROM (SELECT $1 + COUNT(*) FROM patients) AS t WHERE 1 = $1",
	"SELECT COUNT(*) FROM patients WHERE a @-$1",
	"SELECT COUNT(*) FROM patients WHERE ROW($1) = ROW($1) OR ARRAY[$1] = b[$1]",
}

// values are hard to write down.
func values() *rapid.Generator[api.Parameter] {
	nasty := rapid.SampledFrom([]string{"'", "''", `\`, `\'`, `\\'`, "$1", "$$", "--", "/*", "*/", ";", "\n", "\r\n", "\t", ")", "(", "E'",
		"U&'", `U&'\0041`, "' UESCAPE '!", "\u2028", "\u200b", "é", "😀", "ʼ", "＇", "\ufeff", "::int", "NULL", "x", "0", " "})
	return rapid.Custom(func(t *rapid.T) api.Parameter {
		kind := rapid.SampledFrom([]string{"", "text", "text", "integer", "decimal", "boolean", "date", "timestamp"}).Draw(t, "kind")
		var s string
		switch {
		case rapid.IntRange(0, 9).Draw(t, "null") == 0:
			return api.Parameter{Kind: kind, Null: true}
		case kind == "integer":
			s = rapid.StringMatching(`[+-]?[0-9]{1,25}`).Draw(t, "integer")
		case kind == "decimal":
			s = rapid.StringMatching(`[+-]?[0-9]{0,12}\.?[0-9]{0,12}([eE][+-]?[0-9]{1,3})?`).Draw(t, "decimal")
		case kind == "boolean":
			s = rapid.SampledFrom([]string{"true", "f", "ON", "no"}).Draw(t, "boolean")
		case kind == "date" || kind == "timestamp":
			s = rapid.StringMatching(`20[0-9]{2}-[01][0-9]-[0-3][0-9]`).Draw(t, "day")
		case rapid.Bool().Draw(t, "nasty"):
			s = strings.Join(rapid.SliceOfN(nasty, 0, 12).Draw(t, "parts"), "")
		default:
			s = rapid.String().Draw(t, "text")
		}
		return api.Parameter{Kind: kind, Text: s}
	})
}

// TestBindIsWriting compares questions with values with those in which the values are written out.
func TestBindIsWriting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkBinding(t, rapid.SampledFrom(frames).Draw(t, "question"), values().Draw(t, "value"))
	})
}

func checkBinding(t failing, question string, v api.Parameter) {
	opened := Open(question, nil)
	before := proto.Clone(opened.stmt)
	bound, err := opened.Bind([]api.Parameter{v})
	if !proto.Equal(before, opened.stmt) {
		t.Fatalf("%q was changed", question)
	}
	if err != nil {
		var r *api.Refusal
		if !errors.As(err, &r) || r.Position < -1 || r.Position > len(question) || r.Reason == "" {
			t.Fatalf("not a refusal: %#v", err)
		}
		return
	}
	l, _ := spellParameter(v)
	written, at := "", int32(0)
	for _, w := range opened.words {
		if w.Kind == pg.Token_PARAM {
			written, at = written+question[at:w.Start]+l.sql, w.End
		}
	}
	if written += question[at:]; !same(t, bound, written) {
		t.Fatalf("%q bound to %+v is not %q: %v", question, v, written, bound.stmt)
	}
}

func FuzzBind(f *testing.F) {
	for _, frame := range frames {
		f.Add(frame, "text", `\'; DROP`)
		f.Add(frame, "decimal", "-1.5e3")
	}
	f.Fuzz(func(t *testing.T, question, kind, value string) {
		checkBinding(t, question, api.Parameter{Kind: kind, Text: value})
		checkBinding(t, question, api.Parameter{Null: true})
	})
}

// TestBindLimits: values count as they do where they are written out.
func TestBindLimits(t *testing.T) {
	deep := "SELECT " + strings.Repeat("(", questionLimits.Depth) + "$1" + strings.Repeat(")", questionLimits.Depth)
	if _, err := Open(deep, nil).Bind([]api.Parameter{of("integer", "1")}); err == nil || !strings.Contains(err.Error(), "levels deep") {
		t.Errorf("deep: %v", err)
	}
	many := "SELECT 1 IN ($1" + strings.Repeat(", $1", questionLimits.Words/3) + ")"
	if _, err := Open(many, nil).Bind([]api.Parameter{of("integer", "1")}); err == nil ||
		!strings.Contains(err.Error(), strconv.Itoa(questionLimits.Words)+" words") {
		t.Errorf("many: %v", err)
	}
}

func BenchmarkBind(b *testing.B) {
	values := []api.Parameter{of("integer", "40"), text("it's"), of("date", "2024-01-31")}
	for b.Loop() {
		if _, err := Open("SELECT sex, COUNT(*), AVG(cost) FROM patients WHERE age > $1 AND zip <> $2 AND born < $3 GROUP BY sex "+
			"ORDER BY 2 DESC", nil).Bind(values); err != nil {
			b.Fatal(err)
		}
	}
}
