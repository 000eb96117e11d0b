package verify_test

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// A change is a mutant that may mean something else than the tree did: something is left out, put
// in another place, or exchanged. Most of them are other questions, and as harmless as the first
// one. Which ones are not is found out by running them; see judge.

// change adds a mutant that is judged by running it.
func (b *breeder) change(class string, plant func() func()) {
	b.all = append(b.all, mutant{class: class, plant: plant, changes: true})
}

// changes plants them in every field of a node.
func (b *breeder) changes(s reflect.Value) {
	for i := range s.NumField() {
		name := s.Type().Name() + "." + s.Type().Field(i).Name
		if skipped[name] || s.Type().Field(i).Name == "Typ" {
			continue
		}
		b.value(name, writableOr(s.Field(i)))
	}
}

// skipped are fields for which there are other mutants, and what nothing rests on after a question
// was planned.
var skipped = map[string]bool{"Column.Field": true, "Column.Index": true, "Join.Fans": true, "Cut.Rows": true, "Like.Pattern": true,
	"Query.Dataset": true, "Table.Dataset": true, "Literal.Number": true}

func (b *breeder) value(name string, at reflect.Value) {
	if at.Kind() == reflect.Interface && !at.IsNil() {
		switch x := at.Interface().(type) {
		case tree.Expr:
			b.expr(name, at, x)
		case tree.Relation:
			b.moved(name, at, x)
		}
		return
	}
	switch x := at.Interface().(type) {
	case bool:
		b.change(name+" turned round", replace(at, !x))
	case *big.Int:
		if x != nil {
			b.change(name+" more", replace(at, new(big.Int).Lsh(x, 1)))
			b.change(name+" taken away", replace(at, (*big.Int)(nil)))
		}
	case tree.CompareOp:
		b.operations(name, at, string(x), "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
	case tree.ArithOp:
		b.operations(name, at, string(x), "+", "-", "*", "/", "quo", "rem")
	case tree.LogicOp:
		b.operations(name, at, string(x), "AND", "OR")
	case tree.MeasureKind:
		b.kinds(name, at, int64(x), int64(tree.Quantile))
	case tree.PartKind:
		b.kinds(name, at, int64(x), int64(tree.PartTile))
	case tree.Part, tree.Over, tree.Frame, tree.Edge, tree.Order, tree.Measure, tree.Key, tree.When, tree.TableColumn:
		b.changes(at)
	case []tree.Field:
		for i := range x {
			b.field(name, at.Index(i))
		}
	case []*big.Rat, []policy.Value, []int64: // public numbers and values
	default:
		switch at.Kind() {
		case reflect.Int, reflect.Int64:
			for _, by := range []int64{-1, 1, 1000} {
				b.change(name+" more or less", replace(at, at.Int()+by))
			}
		case reflect.Slice:
			b.list(name, at)
		}
	}
}

func (b *breeder) operations(name string, at reflect.Value, own string, all ...string) {
	for _, op := range all {
		if op != own {
			b.change(name+" another", replace(at, op))
		}
	}
}

func (b *breeder) kinds(name string, at reflect.Value, own, last int64) {
	for k := range last + 1 {
		if k != own {
			b.change(name+" another", replace(at, k))
		}
	}
}

// field plants claims of a field that are no types.
func (b *breeder) field(name string, at reflect.Value) {
	for _, flag := range []string{"Nullable", "Serial"} {
		f := at.FieldByName(flag)
		b.change(name+" "+flag, replace(f, !f.Bool()))
	}
	b.change(name+" Twin", replace(at.FieldByName("Twin"), at.FieldByName("Twin").Int()+1))
}

// list leaves out, doubles and exchanges what stands in a list.
func (b *breeder) list(name string, at reflect.Value) {
	n := at.Len()
	items := func(places ...int) func() func() {
		out := reflect.MakeSlice(at.Type(), 0, n+1)
		for _, i := range places {
			out = reflect.Append(out, at.Index(i))
		}
		return set(at, out)
	}
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	for i := range n {
		if i >= 4 && i < n-1 {
			continue
		}
		b.change(name+" without one", items(slices.Delete(slices.Clone(places), i, i+1)...))
		b.change(name+" one twice", items(append(slices.Clone(places), i)...))
		if i > 0 {
			other := slices.Clone(places)
			other[0], other[i] = other[i], other[0]
			b.change(name+" exchanged", items(other...))
		}
	}
	if n > 1 {
		b.change(name+" emptied", items())
	}
	for i := range n {
		if i < 20 {
			b.value(name, writableOr(at.Index(i)))
		}
	}
}

// expr takes expressions away, and what is around others: the cast, the clamp, the part of a
// function's domain.
func (b *breeder) expr(name string, at reflect.Value, e tree.Expr) {
	b.change(name+" taken away", replace(at, tree.Expr(nil)))
	for _, p := range tree.Parts(e) {
		if _, subquery := e.(*tree.Exists); !subquery && p.Type().Kind == e.Type().Kind {
			b.change(fmt.Sprintf("without %T", e), replace(at, p))
		}
	}
	if e.Type().Kind == tree.Boolean {
		b.change(name+" turned round", replace(at, tree.Expr(&tree.Not{X: e})))
	}
	if t := e.Type(); t.Kind == tree.Number && t.Lo != nil {
		if within, ok := e.(*tree.Within); ok {
			wide := *within
			wide.Typ.Lo, wide.Typ.Hi = new(big.Int).Sub(t.Lo, big.NewInt(1)), new(big.Int).Add(t.Hi, big.NewInt(1))
			b.change("Within wider", replace(at, tree.Expr(&wide)))
		}
	}
}

// moved leaves out a relation and keeps what is below it, cuts the rows of people there, and moves
// a cut above it.
func (b *breeder) moved(name string, at reflect.Value, r tree.Relation) {
	kind := reflect.TypeOf(r).Elem().Name()
	if c, ok := r.(*tree.Cut); ok {
		class := "without a cut"
		if c.Sorted {
			class = "without a cut for sorting"
		}
		again := func() bool { return isCut(c.From) }
		b.all = append(b.all, mutant{class: class, plant: replace(at, c.From), work: true, harmless: again})
		rows := reflect.ValueOf(c).Elem().FieldByName("Rows")
		b.all = append(b.all, mutant{class: "cut to more rows", plant: replace(rows, c.Rows*40), work: true, harmless: again})
		b.change("cut to fewer rows", replace(rows, max(1, c.Rows/2)))
		b.change("cut to no rows", replace(rows, int64(0)))
		return
	}
	if r.Unit() >= 0 {
		b.change("cut above "+kind, replace(at, tree.Relation(&tree.Cut{From: r, Rows: 1})))
	}
	v := reflect.ValueOf(r).Elem()
	for _, below := range []string{"From", "L", "R"} {
		f := v.FieldByName(below)
		if !f.IsValid() {
			continue
		}
		b.change("without "+kind, replace(at, f.Interface().(tree.Relation)))
		if cut, ok := f.Interface().(*tree.Cut); ok {
			above := reflect.New(v.Type())
			above.Elem().Set(v)
			above.Elem().FieldByName(below).Set(reflect.ValueOf(cut.From))
			b.all = append(b.all, mutant{class: "cut moved above " + kind, work: true, harmless: func() bool { return isCut(cut.From) },
				plant: replace(at, tree.Relation(&tree.Cut{From: above.Interface().(tree.Relation), Rows: cut.Rows}))})
		}
	}
}

// isCut reports whether how many rows of a person a relation has is bounded by cuts in it. Another
// one above may be worth its while, and without it nobody has any number of rows.
func isCut(r tree.Relation) bool {
	switch r := r.(type) {
	case *tree.Scan:
		return r.Unit() < 0 || r.Single()
	case *tree.Cut:
		return true
	case *tree.Join:
		return isCut(r.L) && isCut(r.R)
	case *tree.Select:
		return isCut(r.From)
	case *tree.Window:
		return isCut(r.From)
	case *tree.Persons:
		return len(r.Keys) == 0 || isCut(r.From)
	case *tree.Union:
		return !slices.ContainsFunc(r.Parts, func(p *tree.Select) bool { return !isCut(p) })
	}
	return false
}

// columns names other fields of the row, in all expressions over it.
func (b *breeder) columns(row []tree.Field, all ...tree.Expr) {
	for _, e := range all {
		if e == nil {
			continue
		}
		tree.WalkRow(e, func(x tree.Expr) {
			switch x := x.(type) {
			case *tree.Exists:
				if x.Outer <= len(row) {
					b.columns(slices.Concat(row[:x.Outer], x.From.Fields()), x.On)
				}
			case *tree.Column:
				b.otherColumn(row, x)
			}
		})
	}
}

// otherColumn names a field of the same kind, as a column that says all about it that is so.
func (b *breeder) otherColumn(row []tree.Field, c *tree.Column) {
	made := 0
	for i := range row {
		at := (c.Index + 1 + i) % len(row)
		if at == c.Index || row[at].Type.Kind != c.Field.Type.Kind || made == 3 {
			continue
		}
		made++
		v := reflect.ValueOf(c).Elem()
		index, field := replace(v.FieldByName("Index"), at), replace(v.FieldByName("Field"), row[at])
		class := "another field"
		if c.Field.Raw() {
			class = "another identity"
		}
		b.change(class, func() func() {
			one, two := index(), field()
			return func() { two(); one() }
		})
	}
}

// over names other fields in what a node computes from its row.
func (b *breeder) over(v any) {
	switch r := v.(type) {
	case *tree.Join:
		b.columns(slices.Concat(r.L.Fields(), r.R.Fields()), r.On)
	case *tree.Select:
		b.columns(r.From.Fields(), append(slices.Clone(r.Columns), r.Where)...)
	case *tree.Persons:
		b.columns(r.From.Fields(), append(slices.Clone(r.Keys), r.Where)...)
		for _, p := range r.Parts {
			b.columns(r.From.Fields(), p.Arg)
		}
	case *tree.Window:
		b.columns(r.From.Fields(), r.Where)
		for _, o := range r.Calls {
			b.columns(r.From.Fields(), o.Expressions()...)
		}
	case *tree.Query:
		b.columns(r.From.Fields(), r.Where)
		for _, k := range r.Keys {
			b.columns(r.From.Fields(), k.Expr)
		}
		for _, m := range r.Measures {
			b.columns(r.From.Fields(), m.Arg)
		}
	}
}
