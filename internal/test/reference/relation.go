package reference

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// row is the values of a relation's fields. An identity is its name, a string.
type row []tree.Value

// run is one question on its way. What a relation's rows are is found out once.
type run struct {
	*Engine
	seen map[tree.Relation][]row
}

// leaf gives an expression the values of a row.
func (r run) leaf(values row) func(tree.Expr) tree.Value {
	return func(e tree.Expr) tree.Value {
		switch e := e.(type) {
		case *tree.Column:
			return values[e.Index]
		case *tree.Exists:
			for _, inner := range r.rows(e.From) {
				if r.holds(e.On, concat(values[:e.Outer], inner)) {
					return true
				}
			}
			return false
		}
		panic(fmt.Sprintf("reference: %T among rows", e))
	}
}

func (r run) holds(condition tree.Expr, values row) bool {
	return condition == nil || expr.Eval(condition, r.leaf(values)) == true
}

func concat(a, b row) row { return append(append(make(row, 0, len(a)+len(b)), a...), b...) }

func (r run) rows(rel tree.Relation) []row {
	out, ok := r.seen[rel]
	if !ok {
		out = r.compute(rel)
		r.seen[rel] = out
	}
	return out
}

func (r run) compute(rel tree.Relation) []row {
	var out []row
	switch rel := rel.(type) {
	case *tree.Scan:
		return r.scan(rel)
	case *tree.Join:
		return r.join(rel)
	case *tree.Select:
		for _, from := range r.rows(rel.From) {
			if !r.holds(rel.Where, from) {
				continue
			}
			values := make(row, len(rel.Columns))
			for i, c := range rel.Columns {
				values[i] = expr.Eval(c, r.leaf(from))
			}
			out = append(out, values)
		}
	case *tree.Union:
		for _, p := range rel.Parts {
			out = append(out, r.rows(p)...)
		}
	case *tree.Persons:
		return r.persons(rel)
	case *tree.Window:
		return r.window(rel)
	case *tree.Cut:
		return r.cut(rel)
	default:
		panic(fmt.Sprintf("reference: no rows of %T", rel))
	}
	return out
}

func (r run) scan(s *tree.Scan) []row {
	t := r.tables[s.Table.Name]
	out := make([]row, len(t.Rows))
	for i := range t.Rows {
		out[i] = make(row, len(s.Fields()))
		for k, f := range s.Fields() {
			switch stored := t.stored(i, s.Stored(k)); {
			case k == s.Unit():
				out[i][k] = r.unit(s.Table, i)
			case f.Type.Kind == tree.Identity:
				out[i][k] = identity(stored)
			default:
				out[i][k] = Declared(f.Source, stored)
			}
		}
	}
	return out
}

// unit says whose a stored row is, or nil for nobody.
func (r run) unit(t *policy.Table, i int) tree.Value {
	rows := r.tables[t.Name]
	switch {
	case t.UnitKind == policy.Row:
		return fmt.Sprintf("%q row %d", t.Name, i)
	case len(t.Path) < 2:
		return identity(rows.stored(i, t.UnitColumn))
	}
	for k, step := range t.Path {
		at := identity(rows.stored(i, step.Column))
		if k == len(t.Path)-1 {
			return at
		}
		if rows, i = r.tables[step.Table], r.find(step, at); i < 0 {
			break
		}
	}
	return nil
}

// find returns the row that a step leads to, or -1.
func (r run) find(step policy.Step, at tree.Value) int {
	t := r.tables[step.Table]
	for i := range t.Rows {
		if at != nil && identity(t.stored(i, step.Key)) == at {
			return i
		}
	}
	return -1
}

func (r run) join(j *tree.Join) []row {
	var out []row
	right := r.rows(j.R)
	met := make([]bool, len(right))
	for _, l := range r.rows(j.L) {
		found := false
		for i, x := range right {
			if both := concat(l, x); r.holds(j.On, both) {
				out, found, met[i] = append(out, both), true, true
			}
		}
		if j.Left && !found {
			out = append(out, concat(l, make(row, len(j.R.Fields()))))
		}
	}
	if !j.Full {
		return out
	}
	for i, x := range right {
		if !met[i] {
			out = append(out, concat(make(row, len(j.L.Fields())), x))
		}
	}
	for i, both := range out { // whose it is, is said by the side that has a row
		person := both[j.L.Unit()]
		if person == nil {
			person = both[len(j.L.Fields())+j.R.Unit()]
		}
		out[i] = concat(both, row{person})
	}
	return out
}

func clamp(v, lo, hi *big.Int) *big.Int {
	switch {
	case v.Cmp(lo) < 0:
		return lo
	case v.Cmp(hi) > 0:
		return hi
	}
	return v
}

// grouped puts rows that are equal in what key says together, in the order in which each is seen
// first.
func grouped(rows []row, key func(row) string) [][]row {
	at := map[string]int{}
	var out [][]row
	for _, from := range rows {
		k := key(from)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k], out = i, append(out, nil)
		}
		out[i] = append(out[i], from)
	}
	return out
}

// somebodys are the rows of a relation that are somebody's and fulfil a condition.
func (r run) somebodys(from tree.Relation, where tree.Expr) []row {
	var out []row
	for _, values := range r.rows(from) {
		if values[from.Unit()] != nil && r.holds(where, values) {
			out = append(out, values)
		}
	}
	return out
}

// spelling is a text that is the same for rows that are equal in some expressions.
func (r run) spelling(values row, over []tree.Expr) string {
	text := ""
	for _, e := range over {
		text += fmt.Sprintf("%q ", fmt.Sprintf("%T %v", expr.Eval(e, r.leaf(values)), expr.Eval(e, r.leaf(values))))
	}
	return text
}

func (r run) persons(p *tree.Persons) []row {
	unit := p.From.Unit()
	groups := grouped(r.somebodys(p.From, p.Where), func(v row) string { return fmt.Sprintf("%q %s", v[unit], r.spelling(v, p.Keys)) })
	var out []row
	for _, rows := range groups {
		values := row{rows[0][unit]}
		for _, k := range p.Keys {
			values = append(values, expr.Eval(k, r.leaf(rows[0])))
		}
		for _, part := range p.Parts {
			values = append(values, inside(r.part(part, rows), p.Fields()[len(values)].Type))
		}
		out = append(out, values)
	}
	return out
}

func inside(v tree.Value, t tree.Type) tree.Value {
	if n, ok := v.(*big.Int); ok && t.Kind == tree.Number {
		return clamp(n, t.Lo, t.Hi)
	}
	return v
}

func (r run) part(p tree.Part, rows []row) tree.Value {
	if p.Kind == tree.PartRows {
		return big.NewInt(int64(len(rows)))
	}
	var values []tree.Value
	different := map[string]bool{}
	for _, from := range rows {
		if v := expr.Eval(p.Arg, r.leaf(from)); v != nil {
			values = append(values, v)
			different[fmt.Sprint(v)] = true
		}
	}
	switch {
	case p.Kind == tree.PartValues:
		return big.NewInt(int64(len(values)))
	case p.Kind == tree.PartDistinct:
		return big.NewInt(int64(len(different)))
	case len(values) == 0:
		return nil
	}
	out := values[0]
	for _, v := range values[1:] {
		switch p.Kind {
		case tree.PartSum:
			out = new(big.Int).Add(out.(*big.Int), v.(*big.Int))
		case tree.PartMin:
			if expr.CompareValues(v, out) < 0 {
				out = v
			}
		case tree.PartMax:
			if expr.CompareValues(v, out) > 0 {
				out = v
			}
		case tree.PartAny:
			out = out.(bool) || v.(bool)
		case tree.PartAll:
			out = out.(bool) && v.(bool)
		default:
			panic(fmt.Sprintf("reference: no aggregate of kind %d", p.Kind))
		}
	}
	return out
}

// Cuts is how many people were cut so far before their rows were joined or sorted. Where that is
// nobody, which rows are kept is no choice.
func (e *Engine) Cuts() int64 { return e.cuts.Load() }

// cut keeps some rows of each person, and none of nobody. Rows that are equal are as good as each
// other.
func (r run) cut(c *tree.Cut) []row {
	people := map[tree.Value][]row{}
	var names []tree.Value
	for _, from := range r.rows(c.From) {
		name := from[c.Unit()]
		if name == nil {
			continue
		}
		if people[name] == nil {
			names = append(names, name)
		}
		people[name] = append(people[name], from)
	}
	salt := c.Salt()
	var out []row
	for _, name := range names {
		rows := people[name]
		if int64(len(rows)) > c.Rows {
			r.cuts.Add(1)
			rows = r.order(c, salt, rows)[:c.Rows]
		}
		out = append(out, rows...)
	}
	return out
}

// order returns the rows of a person in the order in which they are cut.
func (r run) order(c *tree.Cut, salt string, rows []row) []row {
	type ranked struct {
		row  row
		rank uint64
		what string
	}
	all := make([]ranked, len(rows))
	for i, from := range rows {
		values := withoutSigns(from)
		what, person := r.spellRow(c, values), fmt.Sprint(values[c.Unit()])
		if r.dataset.Unit.Row() {
			person = "" // which row somebody is depends on how many come before
		}
		others := slices.Delete(values, c.Unit(), c.Unit()+1)
		all[i] = ranked{from, r.numberOf(Choice{Hash: salt, Person: person, Row: others}, what), what}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.what, b.what)) })
	out := make([]row, len(all))
	for i, x := range all {
		out[i] = x.row
	}
	return out
}

// withoutSigns is a row in which 0 and -0, which are equal, are one.
func withoutSigns(values row) row {
	out := slices.Clone(values)
	for i, v := range out {
		if v == 0.0 {
			out[i] = 0.0
		}
	}
	return out
}

// spellRow writes what is in a row beside whose it is.
func (run) spellRow(c *tree.Cut, values row) string {
	text := ""
	for i, v := range values {
		if i != c.Unit() {
			text += fmt.Sprintf("%q ", fmt.Sprint(v))
		}
	}
	return text
}
