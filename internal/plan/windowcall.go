package plan

import (
	"slices"

	"math/big"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// windowAggregate reads an aggregate over a frame.
func (wr *windowReader) readAggregate(f *pg.FuncCall, name string, base tree.Over) (*over, error) {
	d := &over{}
	if base.Frame == tree.Everything {
		base.Order = nil // in which order all rows are makes no difference
	}
	add := func(p tree.Part, t tree.Type) tree.Expr {
		o := base
		o.Part = p
		d.add(o, t, name)
		return nil
	}
	if name != "avg" {
		_, err := partReader{wr.in}.aggregate(f, name, add)
		return d, err
	}
	sum, total, err := partReader{wr.in}.read(f, "sum", true)
	if err != nil {
		return nil, err
	}
	count, n, err := partReader{wr.in}.read(f, "count", true)
	if err != nil {
		return nil, err
	}
	add(sum, total)
	add(count, n)
	d.made = func(all []tree.Expr) (tree.Expr, error) { return average(all[0], all[1], sum.Arg.Type(), f.Location) }
	return d, nil
}

// windowFunction reads a function that is about the order of rows.
func (wr *windowReader) readFunction(f *pg.FuncCall, name string, base tree.Over) (*over, error) {
	kind, ok := windowFunctions[name]
	if !ok {
		return nil, syntax.Refuse(f.Location, "use COUNT, SUM, AVG, MIN, MAX, bool_or, bool_and, first_value, last_value, nth_value, "+
			"lag, lead, row_number, rank, dense_rank or ntile", "%s cannot be used as a window", name)
	}
	if f.AggDistinct || f.AggFilter != nil || f.AggStar || len(f.AggOrder) > 0 || f.AggWithinGroup || f.FuncVariadic {
		return nil, syntax.Refuse(f.Location, "write the function and OVER (PARTITION BY ... ORDER BY ...) alone",
			"%s is not an aggregate", name)
	}
	least, most := 0, 0
	switch kind {
	case tree.PartTile:
		least, most = 1, 1
	case tree.PartFirst, tree.PartLast:
		least, most = 1, 1
	case tree.PartNth:
		least, most = 2, 2
	case tree.PartLag, tree.PartLead:
		least, most = 1, 3
	}
	if len(f.Args) < least || len(f.Args) > most {
		return nil, syntax.Refuse(f.Location, "write it as PostgreSQL does", "%s has another number of arguments", name)
	}
	base.Kind = kind
	d := &over{}
	if !base.Framed() {
		base.Frame = tree.Frame{}
	}
	if kind >= tree.PartNumber {
		return d, wr.addNumbering(f.Args, base, d, name)
	}
	return d, wr.addShifted(f, name, base, d)
}

var windowFunctions = map[string]tree.PartKind{
	"first_value": tree.PartFirst, "last_value": tree.PartLast, "nth_value": tree.PartNth, "lag": tree.PartLag, "lead": tree.PartLead,
	"row_number": tree.PartNumber, "rank": tree.PartRank, "dense_rank": tree.PartDense, "ntile": tree.PartTile,
}

// numbering reads what numbers rows. A number is at most the limit of rows, but row_number tells
// the first from the others in any case.
func (wr *windowReader) addNumbering(args []*pg.Node, base tree.Over, d *over, name string) error {
	most := wr.in.rows.PersonRows()
	switch base.Kind {
	case tree.PartNumber:
		most = max(2, most)
	case tree.PartTile:
		n, err := wr.wholeNumber(args[0], 1)
		if err != nil {
			return err
		}
		base.N, most = n, n
	}
	d.add(base, tree.NumberType(tree.One, big.NewInt(1), big.NewInt(most), true), name)
	return nil
}

// shifted reads what is the value of another row.
func (wr *windowReader) addShifted(f *pg.FuncCall, name string, base tree.Over, d *over) error {
	arg, err := wr.in.read(f.Args[0])
	if err != nil {
		return err
	}
	base.Arg = adoptText(arg)
	if base.Arg.Type().Kind == tree.Identity {
		return syntax.Refuse(f.Location, "select the column as it is",
			"%s cannot be computed of a column that says who or what a row is about", name)
	}
	if base.Kind == tree.PartLag || base.Kind == tree.PartLead {
		base.N = 1
	}
	if len(f.Args) > 1 {
		least := int64(1)
		if base.Kind != tree.PartNth {
			least = 0
		}
		if base.N, err = wr.wholeNumber(f.Args[1], least); err != nil {
			return err
		}
	}
	t := base.Arg.Type()
	if len(f.Args) > 2 {
		other, err := wr.in.read(f.Args[2])
		if err != nil {
			return err
		}
		both, err := expr.Unify([]tree.Expr{base.Arg, other}, name, f.Location)
		if err != nil {
			return err
		}
		base.Arg, base.Otherwise = wr.in.env.normal(both[0]), wr.in.env.normal(both[1])
		t = expr.Hull(both)
	}
	if base.Framed() && base.Frame.Peers {
		if base, err = withoutPeers(base, name, f.Location); err != nil {
			return err
		}
	}
	d.add(base, t, name)
	return nil
}

// withoutPeers says the same of the first or the last row of a frame that goes by peers with one
// that goes by rows: which of the peers comes first is decided by what else is in them.
func withoutPeers(o tree.Over, name string, pos int32) (tree.Over, error) {
	from, upto := o.Frame.Start.Open, o.Frame.End.Open
	inexact := slices.ContainsFunc(o.Order, func(by tree.Order) bool { return by.By.Type().Kind == tree.Real })
	switch {
	case from && upto, o.Kind == tree.PartFirst && from, o.Kind == tree.PartLast && upto:
	case inexact: // no rows are grouped by a real number
		return o, syntax.Refuse(pos,
			"round it, as in ORDER BY round(x, 2), or write ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW after it",
			"%s needs a frame in rows where the order is by the result of a division or a decimal without granularity", name)
	case o.Kind == tree.PartFirst && !from, o.Kind == tree.PartLast && !upto, !from && !upto:
		// It is among the peers of the row, which are those that are equal to it in the order.
		for _, by := range o.Order {
			o.By = addKey(o.By, by.By)
		}
		o.Order = nil
	default:
		return o, syntax.Refuse(pos, "write ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING, or AND CURRENT ROW, after ORDER BY",
			"%s needs a frame in rows here", name)
	}
	o.Frame = tree.Everything
	return o, nil
}

// positive reads a constant whole number.
func (wr *windowReader) wholeNumber(n *pg.Node, least int64) (int64, error) {
	e, err := wr.in.read(n)
	if err == nil {
		if l, ok := expr.Constant(expr.AdoptNumber(e)); ok && l.Number != nil && l.Typ.Integer() && l.Number.IsInt64() {
			if v := l.Number.Int64(); v >= least && v <= tree.MostRows {
				return v, nil
			}
		}
	}
	return 0, syntax.Refuse(syntax.Location(n), "write a number there", "this must be a constant whole number from %d to %d", least,
		int64(tree.MostRows))
}
