package cells

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/stream/linear"
	"github.com/discreet-dp/discreet/policy"
)

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
	g := &Grid{Stream: s, dataset: ds, scan: plan.NewScan(ds, t)}
	if !g.scan.Single() {
		return nil, fmt.Errorf("the stream %s is over a table in which a person can have several rows", s.Name)
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
