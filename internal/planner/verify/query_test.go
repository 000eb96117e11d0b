package verify_test

import (
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/policy"
)

const townPolicy = `datasets:
  d:
    engine: duckdb
    source: x.duckdb
    unit: people.pid
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {a: {}}
    tables:
      people:
        unique: pid
        columns: {age: {type: integer, bounds: [0, 100]}, sex: {type: text, keys: [F, M]}, town: {type: text}, big: {type: integer}}
      visits:
        path: pid -> people.pid
        max_rows: 5
        max_groups: 3
        columns: {day: {type: date, bounds: [2024-01-01, 2024-12-31]}, kind: {type: text}, cost: {type: decimal, bounds: [0, 100], granularity: 0.01}, num: {type: integer, bounds: [0, 9]}, code: {type: integer}}
`

func prepared(t testing.TB, ds *policy.Dataset, text string) *tree.Query {
	t.Helper()
	st, err := planner.Prepare(ds, text, planner.Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	q := &st.Plans[0].Query
	if err := verify.Query(ds, q); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return q
}

// refused makes sure that a tree is refused for a reason.
func refused(t *testing.T, ds *policy.Dataset, q *tree.Query, what, why string) {
	t.Helper()
	if err := verify.Query(ds, q); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%s: %v; want %q", what, err, why)
	}
}

// made gives a node the type that it claims.
func made[E tree.Expr](e E, t tree.Type) E {
	reflect.ValueOf(e).Elem().FieldByName("Typ").Set(reflect.ValueOf(t))
	return e
}

func numbers(step string, lo, hi int64) tree.Type {
	above, below, _ := strings.Cut(step+"/1", "/")
	s, _ := new(big.Rat).SetString(above)
	if d, ok := new(big.Rat).SetString(strings.TrimSuffix(below, "/1")); ok {
		s.Quo(s, d)
	}
	return tree.Type{Kind: tree.Number, Step: s, Lo: big.NewInt(lo), Hi: big.NewInt(hi), Declared: true}
}

// TestFieldsMixedUp: a subquery that asks about a row with two fields fewer than it has takes its
// own fields for those of the row, and the other way round. Package planner built such trees where
// a subquery that is a value stood on the left of IN.
func TestFieldsMixedUp(t *testing.T) {
	ds := parsed(t, townPolicy)
	q := prepared(t, ds, "SELECT COUNT(*) FROM people p WHERE (SELECT MAX(v.num) FROM visits v WHERE v.pid = p.pid) > 3 AND EXISTS "+
		"(SELECT 1 FROM (SELECT age AS a, town AS b, pid FROM people) w WHERE w.pid = p.pid AND w.a > 3)")
	var exists *tree.Exists
	tree.Walk(q.Where, func(e tree.Expr) {
		if x, ok := e.(*tree.Exists); ok {
			exists = x
		}
	})
	before := exists.Outer
	row := q.From.Fields()
	if before != len(row) { // the subquery that is a value was read first
		t.Fatalf("the row has %d fields, and the subquery knows %d", len(row), before)
	}
	// The mistake: the number from before, and the value as it stands in the row now.
	mixed := &tree.Compare{Op: tree.Eq, L: &tree.Column{Index: before - 1, Field: row[before-1]},
		R: &tree.Column{Index: before - 2, Field: exists.From.Fields()[0]}}
	exists.Outer = before - 2
	on := exists.On
	exists.On = &tree.Logic{Op: tree.And, Args: []tree.Expr{mixed, on}}
	refused(t, ds, q, "mixed fields", "field")
	exists.On = on
	refused(t, ds, q, "the number alone", "field")
	exists.Outer = before + 1
	refused(t, ds, q, "one field too many", "the row that asks has")
	exists.Outer = before
	if err := verify.Query(ds, q); err != nil {
		t.Error(err)
	}
}

// TestTextOverflows: the digits of a number whose steps are large do not fit, or are more than is
// claimed.
func TestTextOverflows(t *testing.T) {
	ds := parsed(t, townPolicy)
	q := prepared(t, ds, "SELECT COUNT(*) FROM people WHERE town = 'Zz9'")
	one := q.Where
	cube := func(n int64) tree.Expr {
		lit := func(n int64) tree.Expr { return made(&tree.Literal{Number: big.NewInt(n)}, numbers("1e12", n, n)) }
		w := made(&tree.Case{Whens: []tree.When{{If: one, Then: lit(n)}}, Else: lit(0)}, numbers("1e12", 0, n))
		square := made(&tree.Arith{Op: tree.Mul, L: w, R: w}, numbers("1e24", 0, n*n))
		return made(&tree.Arith{Op: tree.Mul, L: square, R: w}, numbers("1e36", 0, n*n*n))
	}
	spelled := func(n int64, length int) tree.Expr {
		return made(&tree.Call{Fn: "text", Args: []tree.Expr{cube(n)}}, tree.Type{Kind: tree.Text, MaxLength: length})
	}
	a := "a"
	is := func(e tree.Expr) tree.Expr {
		return &tree.Compare{Op: tree.Eq, L: e, R: made(&tree.Literal{Text: &a}, tree.Type{Kind: tree.Text, MaxLength: 1})}
	}
	q.Where = is(spelled(9, 60))
	refused(t, ds, q, "729e36", "overflow on their way to a text")
	q.Where = is(spelled(5, 22))
	refused(t, ds, q, "125e36, claimed to have 22 characters", "at most 22 characters and has up to 39")
	q.Where = is(spelled(5, 38))
	refused(t, ds, q, "125e36, claimed to have 38 characters", "at most 38 characters and has up to 39")
	q.Where = is(spelled(5, 39))
	if err := verify.Query(ds, q); err != nil {
		t.Error(err)
	}
	// And a sum that rests on it.
	q.Where = nil
	length := made(&tree.Call{Fn: "length", Args: []tree.Expr{spelled(5, 39)}}, numbers("1", 0, 22))
	q.Measures = []tree.Measure{{Kind: tree.Sum, Arg: length}}
	refused(t, ds, q, "the length of it", "between 0 and 22 steps and is between 0 and 39")
}

// TestConstantsTogether: an optimizer may multiply the constants of a chain with each other first.
func TestConstantsTogether(t *testing.T) {
	ds := parsed(t, townPolicy)
	q := prepared(t, ds, "SELECT SUM(age) FROM people")
	age := q.Measures[0].Arg
	one, many := big.NewInt(1), big.NewInt(4_000_000_000)
	none := made(&tree.Arith{Op: tree.Rem, L: age, R: made(&tree.Literal{Number: one}, numbers("1", 1, 1))}, numbers("1", 0, 0))
	times := func(e tree.Expr) tree.Expr {
		return made(&tree.Arith{Op: tree.Mul, L: e, R: made(&tree.Literal{Number: many}, numbers("1", many.Int64(), many.Int64()))},
			numbers("1", 0, 0))
	}
	q.Measures[0].Arg = made(&tree.Arith{Op: tree.Add, L: times(none), R: age}, numbers("1", 0, 100))
	if err := verify.Query(ds, q); err != nil {
		t.Error(err)
	}
	q.Measures[0].Arg = made(&tree.Arith{Op: tree.Add, L: times(times(none)), R: age}, numbers("1", 0, 100))
	refused(t, ds, q, "4e9 and 4e9", "overflow together")
}

// TestFactors: a number that is always zero stays small on any lattice, but the factor that puts it
// there need not be a number of any engine. A row that reaches it is then an error.
func TestFactors(t *testing.T) {
	ds := parsed(t, townPolicy)
	q := prepared(t, ds, "SELECT SUM(age) FROM people")
	age := q.Measures[0].Arg
	none := made(&tree.Call{Fn: "trunc", Args: []tree.Expr{age, made(&tree.Literal{Number: big.NewInt(-12)}, numbers("1", -12, -12))}},
		numbers("1e12", 0, 0))
	finer := func(step string) tree.Expr {
		typ := numbers(step, 0, 0)
		ratio := new(big.Rat).Quo(none.Type().Step, typ.Step)
		return made(&tree.Rescale{X: none, Factor: ratio.Num()}, typ)
	}
	q.Where = &tree.Not{X: &tree.IsNull{X: finer("1e-26")}}
	if err := verify.Query(ds, q); err != nil {
		t.Error(err)
	}
	q.Where = &tree.Not{X: &tree.IsNull{X: finer("1e-27")}}
	refused(t, ds, q, "a factor of 1e39", "a factor of more than 127 bits")
	// A rounding multiplies by such a factor too.
	huge := made(&tree.Arith{Op: tree.Mul, L: none, R: made(&tree.Literal{Number: big.NewInt(1)}, numbers("1e23/7", 1, 1))},
		numbers("1e35/7", 0, 0))
	q.Where =
		&tree.Not{X: &tree.IsNull{X: made(&tree.Call{Fn: "round",
			Args: []tree.Expr{huge, made(&tree.Literal{Number: big.NewInt(12)}, numbers("1", 12, 12))}}, numbers("1e-12", 0, 0))}}
	refused(t, ds, q, "a rounding by 1e47/7", "a rounding overflows on its way")
}

// TestLeftOfIN: a subquery on the left of IN asks about the row outside alone, and has only its
// fields before its own.
func TestLeftOfIN(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	for _, text := range []string{
		"SELECT COUNT(*) FROM visits a WHERE CASE WHEN EXISTS (SELECT 1 FROM patients p WHERE p.pid = a.pid AND p.age = 3) THEN a.cost " +
			"ELSE 7 END IN (SELECT b.cost FROM visits b WHERE b.pid = a.pid)",
		"SELECT COUNT(*) FROM patients p WHERE (SELECT COUNT(*) FROM visits v WHERE v.pid = p.pid) IN (SELECT q.age FROM patients q " +
			"WHERE q.pid = p.pid)",
	} {
		s, err := planner.Prepare(ds, text, planner.Options{Public: columns{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := verify.Query(ds, &s.Plans[0].Query); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The second check agrees with the count of everybody, and with nothing that tells more.
func TestPeople(t *testing.T) {
	people := func(edit func(*policy.Dataset, *policy.Table)) (*policy.Dataset, *policy.Table) {
		table := &policy.Table{Name: "people", UnitKind: policy.Unique, UnitColumn: "who", MaxRows: 1, MaxGroups: 1,
			Columns: map[string]*policy.Column{"old": {Name: "old", Type: policy.Boolean, Nullable: true}}}
		ds := &policy.Dataset{Name: "d", Source: "people.duckdb", Unit: policy.Unit{Table: "people", Column: "who"},
			Neighbours: dp.Substitute, Tables: map[string]*policy.Table{"people": table}}
		if edit != nil {
			edit(ds, table)
		}
		return ds, table
	}
	for what, edit := range map[string]func(*policy.Dataset, *policy.Table){
		"a list": nil,
		"rows": func(ds *policy.Dataset, t *policy.Table) {
			ds.Unit, t.UnitKind, t.UnitColumn = policy.Unit{}, policy.Row, ""
		},
		"events": func(_ *policy.Dataset, t *policy.Table) { t.UnitKind, t.MaxRows, t.MaxGroups = policy.Many, 5, 5 },
		"CSV":    func(ds *policy.Dataset, t *policy.Table) { ds.Source, t.CSV.RefuseBadLines = "data", true },
	} {
		ds, _ := people(edit)
		if q := planner.CountPeople(ds); q == nil || verify.People(ds, q) != nil {
			t.Errorf("%s: %v", what, verify.People(ds, q))
		}
	}
	for what, edit := range map[string]func(*policy.Dataset, *policy.Table){
		"people are added": func(ds *policy.Dataset, _ *policy.Table) { ds.Neighbours = dp.AddRemove },
		"another table": func(ds *policy.Dataset, t *policy.Table) {
			more := *t
			more.Name = "more"
			ds.Tables["more"] = &more
		},
		"lines":     func(ds *policy.Dataset, _ *policy.Table) { ds.Source = "data" },
		"own lines": func(_ *policy.Dataset, t *policy.Table) { t.Source = "people.csv" },
		"many rows": func(_ *policy.Dataset, t *policy.Table) { t.UnitKind, t.MaxRows, t.MaxGroups = policy.Many, 5, 5 },
		"led to them": func(_ *policy.Dataset, t *policy.Table) {
			t.Path = []policy.Step{{Column: "who", Table: "people", Key: "who"}}
		},
	} {
		good, _ := people(nil)
		q := planner.CountPeople(good)
		ds, table := people(edit)
		q.From = planner.NewScan(ds, table)
		q.Neighbours = ds.Neighbours
		if verify.People(ds, q) == nil {
			t.Errorf("%s: nothing is said against it", what)
		}
	}
	ds, table := people(nil)
	scan := planner.NewScan(ds, table)
	old := tree.NewColumn(scan, slices.IndexFunc(scan.Row, func(f tree.Field) bool { return f.Name == "old" }))
	for what, edit := range map[string]func(*tree.Query){
		"some of them":    func(q *tree.Query) { q.Where = old },
		"some values":     func(q *tree.Query) { q.Measures[0] = tree.Measure{Kind: tree.CountValues, Arg: old} },
		"those who":       func(q *tree.Query) { q.Measures[0] = tree.Measure{Kind: tree.CountPersons, Arg: old} },
		"several numbers": func(q *tree.Query) { q.Measures = append(q.Measures, q.Measures[0]) },
		"groups": func(q *tree.Query) {
			q.Keys = []tree.Key{{Expr: old, Values: []policy.Value{{Type: policy.Boolean, Int: 1}}}}
		},
		"added": func(q *tree.Query) { q.Neighbours = dp.AddRemove },
	} {
		q := planner.CountPeople(ds)
		edit(q)
		if verify.People(ds, q) == nil {
			t.Errorf("%s: nothing is said against it", what)
		}
	}
}

func below[T tree.Relation](r tree.Relation) (found T) {
	switch x := r.(type) {
	case T:
		return x
	case *tree.Select:
		return below[T](x.From)
	case *tree.Cut:
		return below[T](x.From)
	case *tree.Window:
		return below[T](x.From)
	case *tree.Persons:
		return below[T](x.From)
	}
	return found
}

// TestOwnRows plants mistakes about the rows of one person: windows that see others' rows, an order
// that an engine is left to choose, and people of whom one row is claimed and several can be.
func TestOwnRows(t *testing.T) {
	ds := load(t, "hospital.yaml", "hospital")
	const (
		windows = "SELECT AVG(cost) FROM (SELECT pid, cost, lag(cost) OVER (PARTITION BY pid ORDER BY day) AS b FROM visits) t " +
			"WHERE cost > b"
		numbers = "SELECT AVG(cost) FROM (SELECT pid, cost, row_number() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) t " +
			"WHERE n = 1"
		apart = "SELECT AVG(cost) FROM (SELECT pid, cost, row_number() OVER (PARTITION BY pid, ward ORDER BY day) AS n FROM visits) t " +
			"WHERE n = 1"
		twice = "SELECT COUNT(*) FROM (SELECT pid, row_number() OVER (PARTITION BY pid ORDER BY day) AS n FROM visits) t " +
			"JOIN visits v ON t.pid = v.pid WHERE n = 1"
		groups = "SELECT SUM(n) FROM (SELECT pid, ward, COUNT(*) AS n FROM visits GROUP BY pid, ward) t"
	)
	for _, c := range []struct {
		name, text, says string
		plant            func(q *tree.Query)
	}{
		{"the person of another field", windows, "several people", func(q *tree.Query) { below[*tree.Window](q.From).Whose = 0 }},
		{"no ties", windows, "comes first", func(q *tree.Query) { below[*tree.Window](q.From).Ties = nil }},
		{"a cut by what is not tied", windows, "where they are stored", func(q *tree.Query) {
			q.From = &tree.Cut{From: q.From, Rows: 1000}
		}},
		{"a tie that is not there", windows, "do not have", func(q *tree.Query) { below[*tree.Window](q.From).Ties = []int{1, 2, 77} }},
		{"a frame by peers", windows, "which row", func(q *tree.Query) { below[*tree.Window](q.From).Calls[0].Frame.Peers = true }},
		{"a narrower lag", windows, "claimed to be between", func(q *tree.Query) {
			w := below[*tree.Window](q.From)
			w.Row[len(w.Row)-1].Type.Hi = big.NewInt(7)
		}},
		{"one row of several", windows, "one row of each person", func(q *tree.Query) {
			q.From = &tree.Select{From: q.From, Where: q.Where, One: true, UnitField: q.From.Unit(), Row: q.From.Fields(),
				Columns: all(q.From)}
		}},
		{"a number of another partition", apart, "the same number", func(q *tree.Query) {
			w := below[*tree.Window](q.From)
			w.Row[len(w.Row)-1].Serial = true
		}},
		{"the largest number", numbers, "one row of each person", func(q *tree.Query) {
			q.From.(*tree.Select).Where.(*tree.Compare).R = expr.NewNumber(big.NewRat(50, 1))
		}},
		{"another comparison", numbers, "one row of each person", func(q *tree.Query) {
			q.From.(*tree.Select).Where.(*tree.Compare).Op = tree.Ge
		}},
		{"a number of rows that are there twice", twice, "the same number", func(q *tree.Query) {
			j := q.From.(*tree.Join)
			for i, f := range j.L.Fields() {
				j.Row[i].Serial = f.Serial
			}
		}},
		{"people with keys as one row each", groups, "in a field does not follow", func(q *tree.Query) {
			below[*tree.Persons](q.From).Row[0].Key = true
		}},
		{"more groups than rows", groups, "may", func(q *tree.Query) { q.RowLimit = 51 }},
	} {
		st, err := planner.Prepare(ds, c.text, planner.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		q := &st.Plans[0].Query
		if err := verify.Query(ds, q); err != nil {
			t.Errorf("%s: %v before it is planted", c.name, err)
		}
		c.plant(q)
		if err := verify.Query(ds, q); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s is not seen: %v", c.name, err)
		}
	}
}

func all(r tree.Relation) (out []tree.Expr) {
	for i := range r.Fields() {
		out = append(out, tree.NewColumn(r, i))
	}
	return out
}

// TestLargestMoveIsDerived: how far one group moves is not taken from the builder. Of questions
// whose numbers have both signs, under both kinds of neighbours, the claim is what follows from the
// bounds. A builder that claims less has its honest plans refused.
func TestLargestMoveIsDerived(t *testing.T) {
	for neighbours, want := range map[string][2]int64{"add-remove": {60, 5 * 9}, "substitute": {100, 5 * 9}} {
		ds := parsed(t, strings.Replace(townPolicy, "    budget:", "    neighbours: "+neighbours+"\n    budget:", 1))
		for i, text := range []string{"SELECT sex, SUM(age - 40) FROM people GROUP BY sex",
			"SELECT SUM(v.num) FROM visits v GROUP BY v.num > 3"} {
			q := prepared(t, ds, text)
			if got := q.Sensitivity(q.Measures[0], dp.L1).Each().Int64(); got != want[i] {
				t.Errorf("%s, %s: one group moves by %d, and %d is claimed", neighbours, text, want[i], got)
			}
		}
	}
}
