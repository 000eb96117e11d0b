package verify_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// mutant is one mistake in a tree, as a builder could make it. It is planted in place, and taken
// away again.
type mutant struct {
	class string
	plant func() (undo func())
	// harmless reports, of one that was not seen, whether it is no mistake: the claim still holds
	// for every row that was tried. Nil where every one is a mistake.
	harmless func() bool
	// changes says that it is another question, of which one that is not seen is run on neighbours
	// and judged by what comes of it.
	changes bool
	// work says that one person can add more to the work of a question than is public: a mistake,
	// whatever comes of it.
	work bool
}

// writable makes a field that is not exported writable.
func writable(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

func replace[T any](at reflect.Value, with T) func() func() {
	return set(at, reflect.ValueOf(&with).Elem())
}

func set(at, with reflect.Value) func() func() {
	return func() func() {
		place := writable(at)
		before := reflect.New(place.Type()).Elem()
		before.Set(place)
		place.Set(with.Convert(place.Type()))
		return func() { place.Set(before) }
	}
}

// mutants returns all mistakes that can be planted in a query, one at a time.
func mutants(q *tree.Query) []mutant {
	m := &breeder{seen: map[uintptr]bool{}, union: strings.Contains(tree.FormatRelation(q.From), "(union ")}
	m.query(q)
	m.changes(reflect.ValueOf(q).Elem())
	m.over(q)
	m.walk(reflect.ValueOf(q))
	return m.all
}

// tableMutants are those of rows to train on.
func tableMutants(t *tree.Table) []mutant {
	m := &breeder{seen: map[uintptr]bool{}}
	rows := reflect.ValueOf(t).Elem().FieldByName("RowLimit")
	m.add("max rows", replace(rows, int64(0)), nil)
	m.add("max rows", replace(rows, int64(1_000_001)), nil)
	m.changes(reflect.ValueOf(t).Elem())
	m.walk(reflect.ValueOf(t))
	return m.all
}

type breeder struct {
	all   []mutant
	seen  map[uintptr]bool
	union bool // there is one below
}

// overComputed reports whether an expression is over a computed field. One of a union may claim
// more than all parts come to, and the reference would try that.
func overComputed(e tree.Expr) bool {
	found := false
	tree.Walk(e, func(x tree.Expr) {
		c, ok := x.(*tree.Column)
		found = found || ok && c.Field.Source == nil && c.Field.Identity == ""
	})
	return found
}

func (b *breeder) add(class string, plant func() func(), harmless func() bool) {
	b.all = append(b.all, mutant{class: class, plant: plant, harmless: harmless})
}

// walk visits everything that a query is made of.
func (b *breeder) walk(v reflect.Value) { walk(v, b.seen, b.node) }

func walk(v reflect.Value, seen map[uintptr]bool, node func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), seen, node)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), seen, node)
		}
	case reflect.Pointer:
		if v.IsNil() || seen[v.Pointer()] || !strings.HasSuffix(v.Type().Elem().PkgPath(), "internal/planner/tree") ||
			v.Type().Elem().Kind() != reflect.Struct {
			return
		}
		seen[v.Pointer()] = true
		node(v)
		walk(v.Elem(), seen, node)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[tree.Field]() || v.Type() == reflect.TypeFor[tree.Type]() ||
			!strings.HasSuffix(v.Type().PkgPath(), "internal/planner/tree") {
			return
		}
		for i := range v.NumField() {
			walk(writableOr(v.Field(i)), seen, node)
		}
	}
}

func writableOr(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return writable(v)
	}
	return v
}

func (b *breeder) node(v reflect.Value) {
	s := v.Elem()
	if e, ok := v.Interface().(tree.Expr); ok {
		if typ := s.FieldByName("Typ"); typ.IsValid() {
			b.types("expression", typ, e, func() bool { return holdsFor(e, e.Type()) || b.union && overComputed(e) })
		}
	}
	if r, ok := v.Interface().(tree.Relation); ok {
		b.relation(s, r)
	}
	switch v.Interface().(type) {
	case *tree.Query, *tree.Table: // which have theirs
	default:
		b.changes(s)
		b.over(v.Interface())
	}
	switch e := v.Interface().(type) {
	case *tree.Column:
		b.types("column", s.FieldByName("Field").FieldByName("Type"), nil, nil)
		for _, by := range []int{-1, 1} {
			// Of identities another field may name the same person: then they are the same people,
			// or NULL. Counts of one person's rows are no columns of the policy, and two of them
			// have nothing that tells them apart: the answer is wrong, and moves as far as is
			// claimed.
			b.add("column index", replace(s.FieldByName("Index"), e.Index+by), func() bool {
				// Nor do two columns of public tables that are the same one, read twice.
				return e.Type().Kind == tree.Identity || e.Field.Source == nil || e.Field.Name == "" || e.Field.Public != ""
			})
		}
		if e.Field.Source != nil {
			b.add("column source", replace(s.FieldByName("Field").FieldByName("Source"), &policy.Column{}), nil)
		}
	case *tree.Exists:
		for _, by := range []int{-2, -1, 1, 2} {
			b.add("outer fields", replace(s.FieldByName("Outer"), e.Outer+by), nil)
		}
		if e.From.Unit() >= 0 {
			b.links(s.FieldByName("On"), e.On, e.Outer)
		}
	case *tree.Join:
		if e.L.Unit() >= 0 && e.R.Unit() >= 0 {
			b.links(s.FieldByName("On"), e.On, len(e.L.Fields()))
			b.add("full join", replace(s.FieldByName("Full"), !e.Full), nil)
		}
		if e.Full { // something else than the person says who has a partner, or nothing, or rows of others stay too
			more := &tree.Logic{Op: tree.And, Args: []tree.Expr{e.On, &tree.IsNull{X: tree.NewColumn(e, 0)}}}
			b.add("full join on more", replace(s.FieldByName("On"), tree.Expr(more)), nil)
			b.add("full join of one side's person", replace(s.FieldByName("UnitField"), e.L.Unit()), nil)
			b.add("full join of the other's person", replace(s.FieldByName("UnitField"), len(e.L.Fields())+e.R.Unit()), nil)
			b.add("full join and not left", replace(s.FieldByName("Left"), false), nil)
		}
	case *tree.Rescale:
		b.add("factor", replace(s.FieldByName("Factor"), new(big.Int).Mul(e.Factor, big.NewInt(10))), nil)
	case *tree.Literal:
		if e.Number != nil {
			b.add("literal", replace(s.FieldByName("Number"), new(big.Int).Add(e.Number, big.NewInt(1))), nil)
		}
	}
}

func (b *breeder) relation(s reflect.Value, r tree.Relation) {
	if unit := s.FieldByName("UnitField"); unit.IsValid() && r.Unit() >= 0 {
		for _, by := range []int{-1, 1} {
			b.add("unit", replace(unit, r.Unit()+by), b.sameUnit(r, r.Unit()+by))
		}
		b.add("unit", replace(unit, -1), nil)
	}
	if single := s.FieldByName("IsSingle"); single.IsValid() && !r.Single() && r.Unit() >= 0 {
		b.add("one row a person", replace(single, true), func() bool { return meetsOne(r) })
	}
	fields := s.FieldByName("Row")
	if !fields.IsValid() {
		return // a cut has those of what it cuts
	}
	for i, f := range r.Fields() {
		at := fields.Index(i)
		b.types("field", at.FieldByName("Type"), nil, func() bool { return computed(r, i, r.Fields()[i].Type) })
		if !f.Key {
			isKey := b.isKey(r, i)
			b.add("key", replace(at.FieldByName("Key"), true), func() bool { return isKey() || meetsOne(r) })
		}
		b.add("identity", replace(at.FieldByName("Identity"), "somebody.else"), nil)
		if f.Derived {
			b.add("derived", replace(at.FieldByName("Derived"), false), nil)
		}
	}
}

// meetsOne reports whether each row of the left side of a join meets one public row at most: a
// condition that was moved there from WHERE says so, which the join does not claim.
func meetsOne(r tree.Relation) bool {
	j, ok := r.(*tree.Join)
	if !ok || j.R.Unit() >= 0 || j.On == nil {
		return false
	}
	all := []tree.Expr{j.On}
	if and, ok := j.On.(*tree.Logic); ok && and.Op == tree.And {
		all = and.Args
	}
	for _, c := range all {
		eq, ok := c.(*tree.Compare)
		if !ok || eq.Op != tree.Eq {
			continue
		}
		for _, side := range []tree.Expr{eq.L, eq.R} {
			if c, ok := side.(*tree.Column); ok && c.Index >= len(j.L.Fields()) && j.R.Fields()[c.Index-len(j.L.Fields())].Key {
				return true
			}
		}
	}
	return false
}

// sameUnit reports whether another field of a subquery passes on whose a row is too.
func (b *breeder) sameUnit(r tree.Relation, at int) func() bool {
	return func() bool {
		s, ok := r.(*tree.Select)
		if !ok || at < 0 || at >= len(s.Columns) {
			return false
		}
		c, ok := s.Columns[at].(*tree.Column)
		return ok && c.Index == s.From.Unit()
	}
}

// isKey reports whether a field is a key although it does not claim to be one: a subquery of a
// union passes it on without a word.
func (b *breeder) isKey(r tree.Relation, at int) func() bool {
	return func() bool {
		s, ok := r.(*tree.Select)
		if !ok {
			return false
		}
		c, ok := s.Columns[at].(*tree.Column)
		return ok && s.From.Fields()[c.Index].Key
	}
}

// links takes away what makes two rows one person's.
func (b *breeder) links(at reflect.Value, on tree.Expr, n int) {
	raw := func(e tree.Expr) bool {
		c, ok := e.(*tree.Compare)
		return ok && c.Op == tree.Eq && c.L.Type().Kind == tree.Identity && (c.L.(*tree.Column).Index < n) != (c.R.(*tree.Column).Index < n)
	}
	yes := true
	always := &tree.Literal{Bool: &yes, Typ: tree.Bool}
	b.add("link", replace(at, tree.Expr(nil)), nil)
	all := []tree.Expr{on}
	if l, ok := on.(*tree.Logic); ok && l.Op == tree.And {
		all = l.Args
	}
	links := 0
	for _, e := range all {
		if raw(e) {
			links++
		}
	}
	if links != 1 {
		return
	}
	i := slices.IndexFunc(all, raw)
	if len(all) == 1 {
		b.add("link", replace(at, tree.Expr(always)), nil)
	} else {
		b.add("link", replace(at, tree.Expr(&tree.Logic{Op: tree.And, Args: slices.Delete(slices.Clone(all), i, i+1)})), nil)
	}
	b.add("link", replace(at, tree.Expr(&tree.Logic{Op: tree.Or, Args: append([]tree.Expr{always}, all...)})), nil)
	c := all[i].(*tree.Compare)
	b.add("link", replace(reflect.ValueOf(c).Elem().FieldByName("Op"), tree.Ne), nil)
	b.add("link", replace(reflect.ValueOf(c).Elem().FieldByName("R"), c.L), nil)
}

// query plants mistakes in the limits and the keys of a query.
func (b *breeder) query(q *tree.Query) {
	s := reflect.ValueOf(q).Elem()
	// Where somebody may have several rows an engine cuts them to what is claimed, and noise is for
	// that: more is no mistake while the policy allows it.
	single := q.From.Single()
	for _, name := range []string{"rows", "groups"} {
		limit := s.FieldByName(map[string]string{"rows": "RowLimit", "groups": "GroupLimit"}[name])
		b.add("max "+name, replace(limit, int64(0)), func() bool { return name == "groups" && q.Choice != nil && !single })
		most := int64(1)
		if !single {
			most = 1_000_000
		}
		b.add("max "+name, replace(limit, most+1), func() bool {
			return name == "groups" && !single && len(q.PrivateKeys()) == 0 ||
				name == "groups" && q.Groups() == 1 && len(q.PrivateKeys()) == 0
		})
	}
	nowhere := func() bool { // every group is empty
		l, ok := q.Where.(*tree.Literal)
		return ok && (l.Bool == nil || !*l.Bool)
	}
	for i, k := range q.Keys {
		at := s.FieldByName("Keys").Index(i)
		if len(k.Values) > 0 {
			b.add("key values", replace(at.FieldByName("Values"), append(slices.Clip(k.Values), k.Values[0])), nil)
			other := policy.Value{Type: policy.Text, Text: "a value of the data"}
			if k.Expr.Type().Kind == tree.Text {
				other = policy.Value{Type: policy.Integer, Int: 5}
			}
			b.add("key values", replace(at.FieldByName("Values"), append(slices.Clip(k.Values), other)), nil)
			b.add("key values", replace(at.FieldByName("Values"), []policy.Value(nil)), nil)
			if c, ok := k.Expr.(*tree.Column); ok && c.Field.Source != nil && c.Field.Public == "" && c.Type().Kind == tree.Text {
				b.add("key values", replace(at.FieldByName("Values"),
					append(slices.Clip(k.Values), policy.Value{Type: policy.Text, Text: "a value of the data"})), func() bool {
					return nowhere() || c.Field.Source.Keys == policy.NoKeys && besidePublic(q)
				})
			}
		}
	}
	if q.Choice != nil {
		b.add("choice", replace(reflect.ValueOf(q.Choice).Elem().FieldByName("K"), q.Groups()+1), nil)
	}
}

// besidePublic reports whether a query is about a public table too, of which a column that nobody
// lists may have its values.
func besidePublic(q *tree.Query) (public bool) {
	visit := func(t *policy.Table) { public = public || t.Public }
	q.From.EachTable(visit)
	if q.Where != nil {
		tree.Walk(q.Where, func(x tree.Expr) {
			if inner, ok := x.(*tree.Exists); ok {
				inner.From.EachTable(visit)
			}
		})
	}
	return public
}

// types plants claims that are too narrow, or of another lattice or kind.
func (b *breeder) types(of string, at reflect.Value, e tree.Expr, harmless func() bool) {
	t := writable(at).Interface().(tree.Type)
	add := func(class string, with tree.Type) { b.add(of+": "+class, replace(at, with), harmless) }
	if l, ok := e.(*tree.Literal); ok && l.IsNullLiteral() {
		return // which has no value that a claim could be wrong about
	}
	other := t
	if other.Kind = tree.Text; t.Kind == tree.Text {
		other = tree.Type{Kind: tree.Boolean}
	}
	add("kind", other)
	switch t.Kind {
	case tree.Number, tree.Date, tree.Timestamp:
		if t.Lo == nil {
			narrow := t
			narrow.Lo, narrow.Hi = big.NewInt(0), big.NewInt(20000)
			add("ends where there are none", narrow)
			return
		}
		for class, ends := range narrower(t.Lo, t.Hi) {
			narrow := t
			narrow.Lo, narrow.Hi = ends[0], ends[1]
			add(class, narrow)
		}
		if t.Kind == tree.Number {
			for _, by := range []*big.Rat{big.NewRat(10, 1), big.NewRat(1, 10), big.NewRat(2, 1)} {
				scaled := t
				scaled.Step = new(big.Rat).Mul(t.Step, by)
				_, own := e.(*tree.Literal) // whose step is a part of its value
				b.add(of+": step", replace(at, scaled), func() bool { return own })
			}
		}
		if x := firstNumber(e); x != nil && x.Type().Lo != nil && (x.Type().Lo.Cmp(t.Lo) > 0 || x.Type().Hi.Cmp(t.Hi) < 0) &&
			x.Type().Lo.Cmp(t.Hi) <= 0 {
			narrow := t
			narrow.Lo, narrow.Hi = x.Type().Lo, x.Type().Hi
			add("no widening", narrow)
		}
	case tree.Real:
		if t.Range != nil && t.Range.Low < t.Range.High {
			narrow, middle := t, t.Range.Low/2+t.Range.High/2
			width := t.Range.High/20 - t.Range.Low/20
			narrow.Range = &tree.Range{Low: middle - width, High: middle + width}
			add("a tenth of the width", narrow)
		}
		if t.Exponent < 1024 {
			narrow := t
			narrow.Exponent = t.Exponent - 2
			add("exponent", narrow)
		}
	case tree.Text:
		for class, n := range map[string]int{"a tenth of the length": max(1, t.MaxLength/10), "one character less": t.MaxLength - 1,
			"a length where there is none": 7} {
			if n >= 1 && (t.MaxLength == 0) == (n == 7 && class[2] == 'l') && (t.MaxLength == 0 || n < t.MaxLength) {
				narrow := t
				narrow.MaxLength = n
				add(class, narrow)
			}
		}
	}
}

// narrower are intervals that an off-by-one, or a wrong rule, would make of one.
func narrower(lo, hi *big.Int) map[string][2]*big.Int {
	one := big.NewInt(1)
	if lo.Cmp(hi) == 0 {
		next := new(big.Int).Add(lo, one)
		return map[string][2]*big.Int{"off by one": {next, next}}
	}
	width := new(big.Int).Sub(hi, lo)
	tenth := new(big.Int).Quo(width, big.NewInt(20))
	middle := new(big.Int).Add(lo, new(big.Int).Rsh(width, 1))
	return map[string][2]*big.Int{
		"off by one below":     {new(big.Int).Add(lo, one), hi},
		"off by one above":     {lo, new(big.Int).Sub(hi, one)},
		"a tenth of the width": {new(big.Int).Sub(middle, tenth), new(big.Int).Add(middle, tenth)},
	}
}

func firstNumber(e tree.Expr) tree.Expr {
	switch e := e.(type) {
	case *tree.Arith:
		return e.L
	case *tree.Rescale:
		return e.X
	case *tree.Call:
		if e.Args[0].Type().Kind == e.Type().Kind {
			return e.Args[0]
		}
	}
	return nil
}

// computed reports whether a claim about a field holds for what it is computed from.
func computed(r tree.Relation, i int, t tree.Type) bool {
	switch r := r.(type) {
	case *tree.Select:
		if c, ok := r.Columns[i].(*tree.Column); ok {
			return computed(r.From, c.Index, t)
		}
		return holdsFor(r.Columns[i], t)
	case *tree.Join:
		if r.Full && i == r.Unit() {
			return false
		}
		if n := len(r.L.Fields()); i >= n {
			return computed(r.R, i-n, t)
		}
		return computed(r.L, i, t)
	case *tree.Union:
		return !slices.ContainsFunc(r.Parts, func(p *tree.Select) bool { return !computed(p, i, t) })
	case *tree.Persons:
		if i >= r.First() {
			return computedPart(r.From, r.Parts[i-r.First()], r.Limit(), t)
		}
	case *tree.Window:
		n := len(r.From.Fields())
		if i < n {
			return computed(r.From, i, t)
		}
		return r.Calls[i-n].Otherwise == nil && computedPart(r.From, r.Calls[i-n].Part, r.Limit(), t)
	}
	return false
}

// computedPart is the same for an aggregate of one person's rows: the smallest and the largest of
// something, and that of another row, are it, and a sum is of so many.
func computedPart(from tree.Relation, p tree.Part, limit int64, t tree.Type) bool {
	switch p.Kind {
	case tree.PartMin, tree.PartMax, tree.PartFirst, tree.PartLast, tree.PartNth, tree.PartLag, tree.PartLead:
	case tree.PartSum:
		if p.Uncut {
			limit = tree.MostUncut
		}
		n := big.NewInt(limit)
		t = tree.NumberType(t.Step, new(big.Int).Quo(t.Lo, n), new(big.Int).Quo(t.Hi, n), true)
	default:
		return false
	}
	if c, ok := p.Arg.(*tree.Column); ok {
		return computed(from, c.Index, t)
	}
	return holdsFor(p.Arg, t)
}

// holdsFor tries an expression on many rows at the ends of its columns, by the reference of package
// plan, and reports whether what it claims is true of all of them.
func holdsFor(e tree.Expr, t tree.Type) bool {
	var columns []*tree.Column
	tree.Walk(e, func(x tree.Expr) {
		if c, ok := x.(*tree.Column); ok {
			columns = append(columns, c)
		}
	})
	seed := uint64(1)
	next := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int(seed>>33) % n
	}
	for range 400 {
		row := map[int]tree.Value{}
		for _, c := range columns {
			values := trials(c.Field.Type)
			row[c.Index] = values[next(len(values))]
		}
		v := expr.Eval(e, func(x tree.Expr) tree.Value {
			if c, ok := x.(*tree.Column); ok {
				return row[c.Index]
			}
			return next(2) == 0
		})
		if v != nil && !holds(t, v) {
			return false
		}
	}
	return true
}

// trials are values of a type: its ends, what is beside them, zero, and NULL.
func trials(t tree.Type) []tree.Value {
	out := []tree.Value{nil}
	numbers := func(lo, hi *big.Int, of func(*big.Int) tree.Value) {
		for _, n := range []*big.Int{lo, hi, new(big.Int).Add(lo, big.NewInt(1)), new(big.Int).Sub(hi, big.NewInt(1)), new(big.Int),
			new(big.Int).Rsh(new(big.Int).Add(lo, hi), 1)} {
			if n.Cmp(lo) >= 0 && n.Cmp(hi) <= 0 {
				out = append(out, of(n))
			}
		}
	}
	lo, hi := t.Lo, t.Hi
	switch t.Kind {
	case tree.Number:
		numbers(lo, hi, func(n *big.Int) tree.Value { return n })
	case tree.Date:
		if lo == nil {
			lo, hi = big.NewInt(math.MinInt32), big.NewInt(math.MaxInt32)
		}
		numbers(lo, hi, func(n *big.Int) tree.Value { return tree.Day(n.Int64()) })
	case tree.Timestamp:
		if lo == nil {
			lo, hi = big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
		}
		numbers(lo, hi, func(n *big.Int) tree.Value { return tree.Moment(n.Int64()) })
	case tree.Real:
		out = append(out, 0.0, 1.5, -1e9, 1e9, math.MaxFloat64, -math.MaxFloat64)
		if t.Range != nil {
			out = []tree.Value{nil, t.Range.Low, t.Range.High}
		}
	case tree.Boolean:
		out = append(out, true, false)
	case tree.Text:
		for _, s := range []string{"", "a", "F", "17", "-3.25", "true", "2024-01-31", "9999-12-31 23:59:59.999999", "999999999999999999",
			strings.Repeat("ab", 60)} {
			if t.MaxLength == 0 || len(s) <= t.MaxLength {
				out = append(out, s)
			}
		}
	}
	return out
}

func holds(t tree.Type, v tree.Value) bool {
	between := func(n *big.Int) bool { return t.Lo == nil || t.Lo.Cmp(n) <= 0 && n.Cmp(t.Hi) <= 0 }
	switch v := v.(type) {
	case *big.Int:
		return t.Kind == tree.Number && between(v)
	case tree.Day:
		return t.Kind == tree.Date && between(big.NewInt(int64(v)))
	case tree.Moment:
		return t.Kind == tree.Timestamp && between(big.NewInt(int64(v)))
	case float64:
		return t.Kind == tree.Real && (t.Range == nil || t.Range.Low <= v && v <= t.Range.High) &&
			(t.Exponent >= 1024 || math.Abs(v) < math.Ldexp(1, t.Exponent))
	case string:
		return t.Kind == tree.Text && (t.MaxLength == 0 || len([]rune(v)) <= t.MaxLength)
	case bool:
		return t.Kind == tree.Boolean
	}
	panic(fmt.Sprintf("a value that is %T", v))
}

// known are mistakes that are not refused yet, and why. Each line is a hole.
var known = map[string]string{}

// TestMutants plants, one at a time, the mistakes that a builder of trees could make, in the trees
// of all corpora: every one that could cost privacy is refused. What is not refused is
//
//   - a claim that is narrower than it was and still true, because it was wider than it had to be;
//     the reference of package planner is asked about each of them;
//   - a cut above others, without which how many rows a person has is bounded too;
//   - another question, which is run on neighbours, in the reference and in DuckDB: its exact
//     integers move no further than it claims, are the same whatever the order of rows, and it
//     fails on neither or on all.
//
// Of those that are refused some are run too: how many are shown to be dangerous says how much the
// judge sees.
func TestMutants(t *testing.T) {
	random, all := 8, &survey{judge: newJudge(t), every: 16, runs: 7, tries: 3, scores: map[string]*score{}}
	all.next, all.today = daily.Choices(t).Below(all.every), daily.Turn(3) // others every day
	if testing.Short() {
		random, all.every = 4, 20
	}
	if daily.Full() {
		random, all.every, all.runs, all.tries = 25, 1, math.MaxInt, 50
	}
	each(t, random, func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query) {
		all.count(t, specimen{ds, subject{q: q}, text, mutants(q), func() error { return checked(ds, public, q) }})
	})
	if daily.Full() {
		eachSharp(random/8, func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query) {
			all.count(t, specimen{ds, subject{q: q}, text, mutants(q), func() error { return checked(ds, public, q) }})
		})
	}
	ds := parsed(t, extremePolicy)
	r := extreme{rand.New(rand.NewPCG(3, 4))}
	for range 10 * random {
		text := r.question(4) // without subqueries: their fields may claim more than they can be, and the reference would try that
		if st, err := planner.Prepare(ds, text, planner.Options{}); err == nil {
			q := &st.Plans[0].Query
			all.count(t, specimen{ds, subject{q: q}, text, mutants(q), func() error { return checked(ds, nil, q) }})
		}
	}
	hospital := tight(load(t, "hospital.yaml", "hospital"))
	for _, c := range golden(t, "table/*.txt") {
		text, target, _ := strings.Cut(c, "\n=> ")
		if table, err := planner.PrepareTable(hospital, text, target, planner.Options{Public: columns{}}); err == nil {
			check := func() error {
				return errors.Join(verify.Table(hospital, table), verify.TableWork(hospital, columns{}, table))
			}
			all.count(t, specimen{hospital, subject{t: table}, c, tableMutants(table), check})
		}
	}
	all.tell(t)
}

// eachSharp calls f for questions of extremes about policies with hard columns.
func eachSharp(random int, f func(ds *policy.Dataset, public tree.Public, text string, q *tree.Query)) {
	for _, ds := range generate.Extremes() {
		public := reference.New(ds, generate.Make(generate.NewDice("language", 1), ds).Tables).Public()
		maker := generate.NewMaker(ds, planner.Options{Public: public}).Sharp()
		d := generate.NewDice("sharp mutants", 7)
		for range random {
			text := maker.Question(d)
			st, err := generate.Prepare(ds, text, planner.Options{Public: public})
			if err != nil {
				continue
			}
			for _, p := range st.Plans {
				f(ds, public, text, &p.Query)
			}
		}
	}
}

// specimen is a tree in which mistakes are planted.
type specimen struct {
	ds      *policy.Dataset
	subject subject
	text    string
	mutants []mutant
	check   func() error
}

// score is what came of the mistakes of one kind.
type score struct {
	made, refused int
	same          int // a claim is true all the same, or rows are cut below
	ran           int // and moved no further than was claimed, and in DuckDB
	inDuckDB      int
	left          int // not run: another one of its kind was, or its joins are too large
	known         int
	dangerous     int
	tried, shown  int // of those that were refused
}

type survey struct {
	judge  *judge
	every  int // of which one is planted
	next   int
	seen   int // questions so far, of which a day has a third
	today  int
	runs   int // of each kind that is not refused
	tries  int // of each kind that is refused
	scores map[string]*score
}

func (all *survey) of(class string) *score {
	if all.scores[class] == nil {
		all.scores[class] = &score{}
	}
	return all.scores[class]
}

func (all *survey) count(t *testing.T, s specimen) {
	t.Helper()
	if all.seen++; !daily.Full() && (all.seen+all.today)%3 != 0 {
		return // it is another day's
	}
	if err := s.check(); err != nil {
		return // which is for other tests
	}
	// What the judge cannot run it cannot say anything about, and keys that are public are not run.
	listed := s.subject.q != nil && len(s.subject.q.Measures) == 0 && len(s.subject.q.PrivateKeys()) == 0
	runs := !listed && all.judge.sentence(s.ds, s.subject) == verdict{tried: true}
	for _, m := range s.mutants {
		score := all.of(m.class)
		if all.next++; score.made >= 3 && all.next%all.every != 0 {
			continue
		}
		score.made++
		undo := m.plant()
		wrong, spelled := all.one(score, s, m, runs), ""
		if wrong != "" {
			spelled = s.subject.format()
		}
		undo()
		if wrong != "" && score.dangerous < 4 {
			t.Errorf("not refused: %s, in %s\n%s\n%s", m.class, s.text, wrong, spelled)
		}
	}
	if err := s.check(); err != nil {
		t.Fatalf("a mistake was not taken away: %v", err)
	}
}

// one looks at a mistake that is planted, and says what is wrong where it is dangerous and was not
// refused.
func (all *survey) one(score *score, s specimen, m mutant, runs bool) string {
	if err := s.check(); err != nil {
		if score.refused++; runs && score.refused%5 == 1 && score.tried < all.tries {
			if v := all.judge.sentence(s.ds, s.subject); v.tried {
				score.tried++
				if v.wrong != "" {
					score.shown++
				}
			}
		}
		return ""
	}
	wrong := "the claim is not so, or the person is not the same"
	switch {
	case m.harmless != nil && m.harmless():
		score.same++
		return ""
	case m.work:
		wrong = "one person can add more to the work of it than is public"
	case m.changes:
		if !runs || score.ran >= all.runs {
			score.left++
			return ""
		}
		v := all.judge.sentence(s.ds, s.subject)
		if v.wrong == "" && daily.Full() && score.inDuckDB < 8 && v.tried {
			v.wrong = all.judge.inDuckDB(s.ds, s.subject)
			score.inDuckDB++
		}
		switch {
		case !v.tried:
			score.left++
			return ""
		case v.wrong == "":
			score.ran++
			return ""
		}
		wrong = v.wrong
	}
	if known[m.class] != "" {
		score.known++
		return ""
	}
	score.dangerous++
	return wrong
}

func (s *score) String() string {
	return fmt.Sprintf("%7d made, %7d refused, %5d true all the same, %5d run and right (%d in DuckDB), %6d not run, %d known, "+
		"%d dangerous; of those refused %d of %d are shown to be", s.made, s.refused, s.same, s.ran, s.inDuckDB, s.left, s.known,
		s.dangerous, s.shown, s.tried)
}

func (all *survey) tell(t *testing.T) {
	sum := &score{}
	for _, class := range slices.Sorted(maps.Keys(all.scores)) {
		s := all.scores[class]
		t.Logf("%-44s %v", class, s)
		sum.made, sum.refused, sum.same, sum.ran = sum.made+s.made, sum.refused+s.refused, sum.same+s.same, sum.ran+s.ran
		sum.inDuckDB, sum.left, sum.known = sum.inDuckDB+s.inDuckDB, sum.left+s.left, sum.known+s.known
		sum.dangerous, sum.shown, sum.tried = sum.dangerous+s.dangerous, sum.shown+s.shown, sum.tried+s.tried
	}
	t.Logf("%-44s %v", "all", sum)
	if sum.made < daily.Rounds(2_000, 10_000) && !testing.Short() || sum.ran < daily.Rounds(100, 200) {
		t.Error("too few for a test")
	}
	if sum.shown < sum.tried/50 {
		t.Errorf("of %d that are refused %d are shown to be dangerous: the judge sees too little", sum.tried, sum.shown)
	}
}
