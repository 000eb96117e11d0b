// Package cells finds out what answers have to do with each other: which groups of a question are
// unions of the groups of another, so that its answer follows from one that was released ([Family],
// [EarlierAnswers], [Unions]), and which questions are linear over the cells of a stream
// ([Grid.Linear]). It looks at questions and the policy alone.
package cells

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/mechanism/stream/linear"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/meter"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// A question can be answered from the answer of another when each of its groups is a union of the
// other's groups. This file finds out, from the two questions alone.
//
// Let both be about the relation F, of which nobody has more than one row (Single), so that an
// engine adds up rows as they are and cuts nothing. A question is a set of conditions C, keys K
// with public values, and measures. The group v of it has the rows of F where all of C is true and
// K is v (NULL is a value like others here). Take the question S that was answered, and the
// question T that is asked. Of the conditions of each, let those be determined whose value follows
// from the values of S's keys, and let O be the others. Suppose that
//
//  1. F and O are the same in S and T;
//  2. in every group of S its determined conditions are true, so that the group v of S is {O, K_S =
//     v};
//  3. T's keys follow from the values of S's keys;
//  4. a row of a group of T has, for each key of S, one of its public values.
//
// Then the group u of T is the union of those groups v of S for which T's determined conditions are
// true and T's keys are u: a row of T's group has some v by 4, its conditions say the same of v as
// of the row, and by 1 and 2 it is in that group of S; and back. Groups of S are disjoint. So
// counts of rows, of values and of people and sums in u are the sums of those in all v: each row is
// in one of them. Other measures are the same where there is only one v.
//
// Rows with a value that is not listed, NULL mostly, are in no group. That is what 4 is about: a
// total is not the sum of its groups unless WHERE says so, or the groups are all that there can be.
//
// Where people have several rows this is not so: who is in more groups than count is cut,
// differently in each question. Even the same question with other measures is cut differently,
// because the question's hash says which groups stay. So there the hash has to be the same.

// Key is a key of an answer whose groups others may be made of.
type Key struct {
	// Name is the hash of the key's spelling.
	Name   string
	Values []policy.Value
	// Whole says that the values are all that the key can have but NULL, and Complete that they are
	// all.
	Whole, Complete bool
}

// maxCells bounds the groups that are looked at one by one.
const maxCells = 1 << 12

// Family says in which family the answer of the query can be found, and what its groups are. Not
// every query has groups that others can be made of, and of some it takes too much of the meter to
// find out.
func Family(m *meter.Meter, q *tree.Query) (name string, keys []Key, ok bool) {
	done := m.Try(func() { name, keys, ok = findFamily(m, q) })
	return name, keys, done && ok
}

func findFamily(m *meter.Meter, q *tree.Query) (name string, keys []Key, ok bool) {
	if !isAdditive(q) || q.Groups() > maxCells {
		return "", nil, false
	}
	for _, k := range q.Keys {
		keys = append(keys, newKey(k))
	}
	var others []tree.Expr
	for _, c := range expr.Conjuncts(q.Where) {
		test, determined := determine(m, c, keys)
		if !determined {
			others = append(others, c)
			continue
		}
		for i := range q.Groups() {
			if test(q.Group(i)) != true {
				return "", nil, false
			}
		}
	}
	return family(q, others), keys, true
}

// isAdditive reports whether rows are added up as they are, in groups that are public.
func isAdditive(q *tree.Query) bool {
	return q.From.Single() && len(q.PrivateKeys()) == 0 && q.Choice == nil
}

func newKey(k tree.Key) Key {
	out := Key{Name: spellingHash(k.Expr), Values: k.Values}
	out.Whole, out.Complete = expr.Covers(k)
	return out
}

// EarlierAnswer is where an answer may be found from which the query can be answered.
type EarlierAnswer struct {
	Family string
	// without are the conditions that have to follow from keys.
	without []tree.Expr
}

// maxWithout is how many conditions of a question may be about keys of the answer that it is made
// of.
const maxWithout = 3

// EarlierAnswers returns the families in which there may be an answer to make this one of; none
// where there are too many for the meter.
func EarlierAnswers(m *meter.Meter, q *tree.Query) (out []EarlierAnswer) {
	if !m.Try(func() { out = findEarlierAnswers(m, q) }) {
		return nil
	}
	return out
}

func findEarlierAnswers(m *meter.Meter, q *tree.Query) []EarlierAnswer {
	if !isAdditive(q) || q.Groups() > maxCells {
		return nil
	}
	all := expr.Conjuncts(q.Where)
	if len(all) > 16 { // few questions have so many, and there would be too many families
		return []EarlierAnswer{{Family: family(q, all)}}
	}
	var out []EarlierAnswer
	size := planner.QuerySize(q)
	var leave func(from int, kept, without []tree.Expr)
	leave = func(from int, kept, without []tree.Expr) {
		if from == len(all) {
			m.Write(size)
			out = append(out, EarlierAnswer{family(q, kept), without})
			return
		}
		c := all[from]
		leave(from+1, append(slices.Clip(kept), c), without)
		if len(without) < maxWithout {
			leave(from+1, kept, append(slices.Clip(without), c))
		}
	}
	leave(0, nil, nil)
	return out
}

// family names what an answer and those that are made of it have in common: the rows, and the
// conditions that are not about its keys.
func family(q *tree.Query, others []tree.Expr) string {
	names := make([]string, len(others))
	for i, c := range others {
		names[i] = tree.Format(c)
	}
	slices.Sort(names)
	return tree.Hashed("cells", q.Dataset, q.Neighbours.String(), tree.FormatRelation(q.From), strings.Join(names, "\n"))
}

func spellingHash(e tree.Expr) string { return tree.Hashed("expression", tree.Format(e)) }

// Unions returns, for each group of the query, the groups of an answer of the source's family with
// these keys that it is the union of; false where it is none, or where nobody can tell. The last
// key changes fastest, as everywhere.
func Unions(m *meter.Meter, q *tree.Query, s EarlierAnswer, keys []Key) (out [][]int, ok bool) {
	done := m.Try(func() { out, ok = unions(m, q, s, keys) })
	return out, done && ok
}

func unions(m *meter.Meter, q *tree.Query, s EarlierAnswer, keys []Key) ([][]int, bool) {
	tests := make([]func([]policy.Value) tree.Value, len(s.without))
	for i, c := range s.without {
		var ok bool
		if tests[i], ok = determine(m, c, keys); !ok {
			return nil, false
		}
	}
	names := make([]func([]policy.Value) tree.Value, len(q.Keys))
	for i, k := range q.Keys {
		var ok bool
		if names[i], ok = determine(m, k.Expr, keys); !ok {
			return nil, false
		}
	}
	n := 1
	for i := range keys {
		if !isCovered(m, q, s, keys, i) {
			return nil, false
		}
		if n *= len(keys[i].Values); n > maxCells {
			return nil, false
		}
	}
	out := make([][]int, q.Groups())
	for cell := range n {
		values := make([]policy.Value, len(keys))
		for i, at := len(keys)-1, cell; i >= 0; i-- {
			all := keys[i].Values
			values[i], at = all[at%len(all)], at/len(all)
		}
		if slices.ContainsFunc(tests, func(t func([]policy.Value) tree.Value) bool { return t(values) != true }) {
			continue
		}
		if group, ok := groupIndex(q, names, values); ok {
			out[group] = append(out[group], cell)
		}
	}
	// A group that is made of none is empty whatever the data. It is left to be bought, as every
	// other group.
	return out, !slices.ContainsFunc(out, func(of []int) bool { return len(of) == 0 })
}

// groupIndex returns the group of the query that values of the other's keys lead to.
func groupIndex(q *tree.Query, names []func([]policy.Value) tree.Value, values []policy.Value) (int, bool) {
	group := 0
	for i, k := range q.Keys {
		v := expr.KeyValue(names[i](values), k.Expr.Type())
		at := slices.IndexFunc(k.Values, func(w policy.Value) bool { return expr.SameKey(v, w) })
		if at < 0 {
			return 0, false
		}
		group = group*len(k.Values) + at
	}
	return group, true
}

// isCovered reports whether every row in a group of the query has one of the public values of a key
// (4 above).
func isCovered(m *meter.Meter, q *tree.Query, s EarlierAnswer, keys []Key, i int) bool {
	key := keys[i]
	inside := func(v policy.Value) bool {
		return slices.ContainsFunc(key.Values, func(w policy.Value) bool { return expr.SameKey(v, w) })
	}
	if key.Complete {
		return true
	}
	for _, k := range q.Keys { // a row of a group has the value of the group
		if spellingHash(k.Expr) == key.Name {
			return !slices.ContainsFunc(k.Values, func(v policy.Value) bool { return !inside(v) })
		}
	}
	for _, c := range s.without {
		test, ok := determine(m, c, keys[i:i+1])
		if !ok {
			continue
		}
		if key.Whole && test([]policy.Value{{Null: true}}) != true {
			return true
		}
		if x, list := expr.Constants(c); x != nil && spellingHash(x) == key.Name && !slices.ContainsFunc(list, func(l *tree.Literal) bool {
			return expr.ExceedsInt64(l) || !inside(expr.KeyValue(l.Value(), x.Type()))
		}) {
			return true
		}
	}
	return false
}

// determine returns what computes an expression from values of keys, where it follows from them.
// Floating-point numbers are left out: engines agree on exact values alone.
func determine(m *meter.Meter, e tree.Expr, keys []Key) (func([]policy.Value) tree.Value, bool) {
	at := map[tree.Expr]int{}
	ok := true
	var visit func(tree.Expr)
	visit = func(x tree.Expr) {
		m.Write(tree.Size(x))
		name := spellingHash(x)
		if i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name }); i >= 0 {
			at[x] = i
			return
		}
		switch x.(type) {
		case *tree.Column, *tree.Exists, *tree.Released:
			ok = false
		}
		ok = ok && x.Type().Kind != tree.Real
		for _, p := range tree.Parts(x) {
			visit(p)
		}
	}
	visit(e)
	return func(values []policy.Value) tree.Value {
		m.Write(tree.Size(e))
		return expr.Compute(m, expr.Replaced(e, func(x tree.Expr) tree.Expr {
			i, ok := at[x]
			if !ok {
				return nil
			}
			return expr.FromValue(expr.FromKey(values[i], x.Type()), x.Type())
		}), nil)
	}, ok
}

// Grid is the cells of a stream: how many people are in each is all that the stream knows about the
// data. It is made from the policy alone.
type Grid struct {
	Stream *policy.Stream
	Domain *linear.Domain

	dataset *policy.Dataset
	scan    *tree.Scan
	columns []gridColumn // one for each attribute of the domain
}

// gridColumn is an attribute with the field that it is about.
type gridColumn struct {
	policy.StreamColumn
	field  int
	typ    tree.Type
	listed map[policy.Value]int // the cells that have one value
	other  int                  // the cell of all values that are in no other; -1 where there is none
	ranges bool                 // cells are ranges, in rising order, without gaps between them
}

// NewGrid returns the cells of a stream of a dataset.
func NewGrid(ds *policy.Dataset, s *policy.Stream) (*Grid, error) {
	t := ds.Tables[s.Table]
	if t == nil || len(s.Columns) == 0 {
		return nil, fmt.Errorf("the stream %s has no table with columns", s.Name)
	}
	g := &Grid{Stream: s, dataset: ds, scan: planner.NewScan(ds, t)}
	if !g.scan.Single() {
		return nil, fmt.Errorf("the stream %s uses a table in which a person can have several rows", s.Name)
	}
	var attributes []linear.Attribute
	for _, c := range s.Columns {
		field := slices.IndexFunc(g.scan.Row, func(f tree.Field) bool { return f.Source != nil && f.Source.Name == c.Name })
		if field < 0 {
			return nil, fmt.Errorf("the table %s has no column %s", t.Name, c.Name)
		}
		own := gridColumn{StreamColumn: c, field: field, typ: g.scan.Row[field].Type, listed: map[policy.Value]int{}, other: -1}
		for i, b := range c.Bins {
			switch {
			case b.Other:
				own.other = i
			case b.Range:
				own.ranges = true
			default:
				own.listed[b.Value] = i
			}
		}
		g.columns = append(g.columns, own)
		attributes = append(attributes, linear.Attribute{Name: c.Name, Values: c.Labels()})
	}
	var err error
	g.Domain, err = linear.NewDomain(attributes...)
	return g, err
}

// Histogram is the query of how many rows are in each cell. Its keys are private, so that an engine
// returns the cells that have rows and no others, however many cells there are; which those are
// stays sealed. Nobody has more than one row, so nothing is cut.
func (g *Grid) Histogram() *tree.Query {
	q := &tree.Query{Dataset: g.dataset.Name, Neighbours: g.dataset.Neighbours, From: g.scan,
		Measures: []tree.Measure{{Kind: tree.CountRows}}, RowLimit: 1, GroupLimit: 1}
	for _, c := range g.columns {
		q.Keys = append(q.Keys, tree.Key{Expr: c.coded(tree.NewColumn(g.scan, c.field)), Private: true})
	}
	return q
}

// coded is what an engine groups by: the column, or the place of its range, so that there are no
// more groups than cells.
func (c gridColumn) coded(column *tree.Column) tree.Expr {
	if !c.ranges {
		return column
	}
	typ := tree.NumberType(tree.One, new(big.Int), big.NewInt(int64(len(c.Bins))), true)
	place := func(i int) tree.Expr { return expr.FromValue(big.NewInt(int64(i)), typ) }
	// Halves of halves, so that a row is compared a few times however many ranges there are.
	var find func(from, upto int) tree.Expr
	find = func(from, upto int) tree.Expr {
		if upto-from == 1 {
			return place(from)
		}
		middle := (from + upto) / 2
		below := &tree.Compare{Op: tree.Lt, L: column, R: expr.FromValue(c.value(c.Bins[middle].Lo), c.typ)}
		return &tree.Case{Whens: []tree.When{{If: below, Then: find(from, middle)}}, Else: find(middle, upto), Typ: typ}
	}
	return &tree.Case{Whens: []tree.When{{If: &tree.IsNull{X: column}, Then: expr.NewNull(typ)}}, Else: find(0, len(c.Bins)), Typ: typ}
}

// value is a lattice point of the column as a value.
func (c gridColumn) value(point int64) tree.Value {
	return expr.FromKey(policy.Value{Int: point}, c.typ)
}

// Place returns the cell of a combination of keys of [Grid.Histogram], and false where it is in
// none: NULL, where the owner has promised that there is none. It is total, and depends on nothing
// else, so it may be applied to what is sealed.
func (g *Grid) Place(keys []policy.Value) (int, bool) {
	codes := make([]int, len(g.columns))
	for i, c := range g.columns {
		at, ok := c.place(keys[i])
		if !ok {
			return 0, false
		}
		codes[i] = at
	}
	return g.Domain.Cell(codes...), true
}

func (c gridColumn) place(v policy.Value) (int, bool) {
	switch {
	case v.Null:
		return len(c.Bins), c.Null
	case c.ranges: // which Histogram has found
		return int(v.Int), v.Int >= 0 && v.Int < int64(len(c.Bins))
	}
	if at, ok := c.listed[v]; ok {
		return at, true
	}
	return c.other, c.other >= 0
}
