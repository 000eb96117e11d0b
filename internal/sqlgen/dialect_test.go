package sqlgen_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// marked is a dialect in which all that a dialect decides is spelled by its name, and people are
// cut by windows.
func marked() *sqlgen.Dialect {
	own := map[string]sqlgen.Function{}
	for _, name := range expr.Nodes() {
		own[name] = sqlgen.Plain("<" + name + ">")
	}
	for name := range sqlgen.Functions(nil) {
		delete(own, name)
	}
	d := &sqlgen.Dialect{Functions: sqlgen.Functions(own)}
	for _, v := range []reflect.Value{reflect.ValueOf(d).Elem(), reflect.ValueOf(&d.Types).Elem()} {
		for i := range v.NumField() {
			f, name := v.Field(i), "its"+v.Type().Field(i).Name
			switch {
			case f.Kind() == reflect.String:
				f.SetString("<" + name + ">")
			case f.Kind() == reflect.Func && f.Type().Out(0).Kind() == reflect.String:
				f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
					all := make([]string, len(args))
					for i, a := range args {
						all[i] = fmt.Sprint(a.Interface())
					}
					text := "<" + name + ">(" + strings.Join(all, ", ") + ")"
					return slices.Repeat([]reflect.Value{reflect.ValueOf(text)}, f.Type().NumOut())
				}))
			}
		}
	}
	d.Narrow = func(string) bool { return false }
	d.Place, d.SmallSum, d.Constant = nil, nil, nil
	d.Groups, d.Values = sqlgen.GroupsByWindow, sqlgen.ValuesByWindow
	return d
}

// peculiar is what databases do not agree on.
var peculiar = regexp.MustCompile(`(?i)\$|::|//|\b(TRY|TRY_CAST|BIGINT|HUGEINT|DOUBLE|VARCHAR|BOOLEAN|MATERIALIZED|ANTI|` +
	`unnest|hash|isfinite|epoch_us|make_timestamp|to_days|dayofweek|struct_pack|regexp\w*|contains|prefix|suffix|pow|trim)\b`)

// onPaper is how the tables of a dataset would be stored, in types that say so.
func onPaper(t testing.TB, ds *policy.Dataset) *sqlgen.Schema {
	t.Helper()
	types := generate.Types{Who: [2]string{"<a number>"}, Of: map[policy.Type][2][]string{}}
	for _, typ := range []policy.Type{policy.Integer, policy.Decimal, policy.Text, policy.Boolean, policy.Date, policy.Timestamp} {
		types.Of[typ] = [2][]string{{"<stored " + typ.String() + ">"}}
	}
	s := generate.Stored(marked(), ds, types, 0, func(name string) string { return sqlgen.QuoteName(name) })
	for _, table := range s.Tables {
		if table.Collated = true; ds.Unit.Row() {
			table.RowID = "number"
		}
	}
	s.Likeness = func(string) string { return "alike" }
	if err := s.FindKinds(ds); err != nil {
		t.Fatal(err)
	}
	return &s
}

// TestStatements prints the questions of testdata/statements.txt; -rewrite writes the SQL anew.
func TestStatements(t *testing.T) {
	ds := generate.NewCorpus(t, "../planner/testdata/hospital.yaml", "hospital", "").Dataset
	s := onPaper(t, ds)
	golden.Run(t, "testdata/statements.txt", func(question string) string {
		var b strings.Builder
		for _, st := range s.Statements(&generate.MustPlan(t, ds, question).Query) {
			fmt.Fprintf(&b, "%s\n%v\n", strings.ReplaceAll(st.Text, " FROM ", "\n  FROM "), st.Args)
		}
		return golden.Mask(b.String())
	})
}

// TestDialectDecides prints the questions of the planner's test data, and finds nothing in them
// that databases do not agree on: it all comes from the dialect.
func TestDialectDecides(t *testing.T) {
	asked := 0
	for _, c := range generate.Corpora(t, "../planner/testdata", "") {
		s := onPaper(t, c.Dataset)
		for _, a := range c.Asked {
			if a.Query == nil {
				continue
			}
			for _, printed := range s.Statements(a.Query) {
				asked++
				if found := peculiar.FindString(printed.Text); found != "" {
					t.Errorf("%s %d is printed with %s:\n%s", a.Of, a.Number, found, printed.Text)
				}
			}
		}
	}
	if asked < 500 {
		t.Errorf("only %d statements", asked)
	}
}

// TestPrintsNoText prints questions and texts near them: no name and no text of the analyst is in
// the SQL. All that a question brings itself begins with a mark.
func TestPrintsNoText(t *testing.T) {
	for _, ds := range generate.Worlds() {
		s := onPaper(t, ds)
		o := planner.Options{Public: reference.New(ds, generate.Make(generate.NewDice("marks", 1), ds).Tables).Public()}
		m := generate.NewMaker(ds, o)
		printed := 0
		for i := range uint64(400) {
			d := generate.NewDice("marks", i)
			text := m.Question(d)
			if i%2 == 1 {
				text = m.Text(d)
			}
			st, err := generate.Prepare(ds, text, o)
			if err != nil {
				continue
			}
			for _, p := range st.Plans {
				for _, st := range s.Statements(&p.Query) {
					printed++
					if strings.Contains(strings.ToLower(st.Text), generate.Mark) {
						t.Errorf("%s\nis printed as\n%s", text, st.Text)
					}
				}
			}
		}
		if printed < 150 {
			t.Errorf("only %d statements were printed", printed)
		}
	}
}

// TestFindKinds: columns that say whose a row is have one type, which holds all of them, or are
// refused.
func TestFindKinds(t *testing.T) {
	ds := generate.NewCorpus(t, "../planner/testdata/hospital.yaml", "hospital", "").Dataset
	s := onPaper(t, ds)
	person := tree.IdentityName("patients", "pid")
	if got := s.Kinds[person]; !strings.HasPrefix(got, "<itsCommon>([") || strings.Count(got, "<") < 4 {
		t.Errorf("a person is stored as %s", got)
	}
	if got := s.Identity(s.Tables["visits"], "pid", person); got != `<itsTryCast>("PID", `+s.Kinds[person]+")" {
		t.Errorf("a person of visits is printed as %s", got)
	}
	s.Likeness = func(typ string) string { return typ }
	s.Tables["visits"].Stored["pid"] = sqlgen.Column{Name: "pid", Type: "<another>"}
	s.Tables["visits"].Convert = "ask the owner"
	err := s.FindKinds(ds)
	for _, part := range []string{"visits.pid is <another>", "would be two people", "ask the owner"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

// TestQuotes: no text ends early, whatever is in it.
func TestQuotes(t *testing.T) {
	for text, want := range map[string][2]string{
		"":         {"''", `""`},
		"a":        {"'a'", `"a"`},
		`it's "a"`: {`'it''s "a"'`, `"it's ""a"""`},
		"a'; --":   {"'a''; --'", `"a'; --"`},
	} {
		if got := [2]string{sqlgen.QuoteText(text), sqlgen.QuoteName(text)}; got != want {
			t.Errorf("%q is printed as %q, and should be as %q", text, got, want)
		}
	}
}
