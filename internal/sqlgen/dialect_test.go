package sqlgen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// marked is a dialect in which all that a dialect decides is spelled as a number.
func marked() *sqlgen.Dialect {
	d := &sqlgen.Dialect{Functions: sqlgen.Functions(map[string]sqlgen.Function{"power": sqlgen.Plain("power"),
		"btrim": sqlgen.Plain("btrim")})}
	for _, v := range []reflect.Value{reflect.ValueOf(d).Elem(), reflect.ValueOf(&d.Types).Elem()} {
		for i := range v.NumField() {
			f, name := v.Field(i), fmt.Sprint("d", i)
			switch {
			case f.Kind() == reflect.String:
				f.SetString("<" + name + "> ")
			case f.Kind() == reflect.Func && f.Type().Out(0).Kind() == reflect.String:
				f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
					text := "<" + name + ">("
					for _, a := range args {
						text += fmt.Sprint(a.Interface()) + ", "
					}
					return slices.Repeat([]reflect.Value{reflect.ValueOf(text + ")")}, f.Type().NumOut())
				}))
			}
		}
	}
	d.Narrow = func(string) bool { return false }
	return d
}

// peculiar is what databases do not agree on.
var peculiar = regexp.MustCompile(`(?i)\$|::|//|\b(TRY|TRY_CAST|BIGINT|HUGEINT|DOUBLE|VARCHAR|BOOLEAN|MATERIALIZED|ANTI|` +
	`unnest|hash|isfinite|epoch_us|make_timestamp|to_days|dayofweek|struct_pack|regexp\w*|contains|prefix|suffix|pow|trim)\b`)

// TestDialectDecides prints the questions of the planner's test data, and finds nothing in them
// that databases do not agree on: it all comes from the dialect.
func TestDialectDecides(t *testing.T) {
	p, err := policy.Load("../planner/testdata/hospital.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ds, d := p.Datasets["hospital"], marked()
	s := sqlgen.NewSchema(d, ds)
	for _, name := range ds.TableNames() {
		table := &sqlgen.Table{Table: ds.Tables[name], Dialect: d, From: name, Collated: true, Paths: ds.PathColumns(ds.Tables[name])}
		table.Stored = map[string]sqlgen.Column{}
		for _, c := range table.Needed() {
			table.Stored[c] = sqlgen.Column{Name: c, Type: d.Text}
		}
		s.Tables[name] = table
	}
	if err := s.FindKinds(ds); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../planner/testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range strings.Split(string(text), "====\n")[1:] {
			question, _, _ := strings.Cut(c, "\n----\n")
			st, err := planner.Prepare(ds, question, planner.Options{})
			if err != nil {
				continue
			}
			for _, p := range st.Plans {
				for _, printed := range s.Statements(&p.Query) {
					asked++
					if found := peculiar.FindString(printed.Text); found != "" {
						t.Errorf("%s\nis printed with %s:\n%s", question, found, printed.Text)
					}
				}
			}
		}
	}
	if asked < 200 {
		t.Errorf("only %d statements", asked)
	}
}
