package planner

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// kept is a join in which rows of a public table stay that nobody has a row for, as in
//
//	SELECT w.ward, COUNT(v.pid) FROM wards w LEFT JOIN visits v ON v.ward = w.ward GROUP BY w.ward
//
// Every ward is in the answer in any case, because its name is public. So the join is an inner one,
// in which the rows that stay are not: in them all columns of the private side are NULL, and only
// aggregates may be asked that are of these and leave NULL out. COUNT(*) is 1 there, which would
// tell where nobody is.
type kept struct {
	join       *tree.Join
	from, upto int // the fields of the private side
}

// innerJoin writes such a join as an inner one, with the private table on the left where no name
// means both sides, and with the public one there where a name of USING does: it is the public
// side's, whose rows stay. It is nil where FROM is something else.
func innerJoin(j *pg.JoinExpr, left, right level) *pg.JoinExpr {
	switch {
	case j.GetJointype() == pg.JoinType_JOIN_LEFT && left == overPublic && right == overRows:
	case j.GetJointype() == pg.JoinType_JOIN_RIGHT && left == overRows && right == overPublic:
	default:
		return nil
	}
	out := &pg.JoinExpr{Jointype: pg.JoinType_JOIN_INNER, Larg: j.Larg, Rarg: j.Rarg, Quals: j.Quals, UsingClause: j.UsingClause,
		IsNatural: j.IsNatural, Alias: j.Alias}
	if (j.Quals != nil) == (left == overPublic) {
		out.Larg, out.Rarg = j.Rarg, j.Larg
	}
	return out
}

// newKept finds the private side. A condition of ON about the public table alone would not leave
// out its rows, and in an inner join it does.
func newKept(r rows, pos int32) (*kept, error) {
	j, ok := r.Relation.(*tree.Join)
	if !ok {
		return nil, syntax.Refuse(syntax.Unsupported, pos, "put the private table on the left",
			"rows of a public table that belong to nobody cannot be kept")
	}
	n := len(j.L.Fields())
	k := &kept{j, 0, n}
	if !tree.Private(j.L) {
		k = &kept{j, n, len(j.Row)}
	}
	for _, c := range expr.Conjuncts(j.On) {
		columns, simple := columnsOf(c)
		if !simple || !slices.ContainsFunc(columns, k.has) {
			return nil, syntax.Refuse(syntax.Unsupported, pos,
				"put it into WHERE, or join a subquery with it, as in FROM (SELECT ... FROM wards WHERE ...) "+
					"AS w LEFT JOIN ...", "ON has a condition that does not name the private table, and all rows of the public table stay")
		}
	}
	return k, nil
}

// stays reports whether a field of a relation is the public side's, of which ON leaves out no row.
func (k *kept) stays(r *tree.Join, c *tree.Column) bool { return k.join == r && !k.has(c) }

func (k *kept) has(c *tree.Column) bool { return c.Index >= k.from && c.Index < k.upto }

// refuse refuses an aggregate that a row which stays adds something to.
func (k *kept) refuse(in *rowScope, f *pg.FuncCall) error {
	absent := expr.Absent(k.has)
	if f.AggFilter != nil {
		filter, err := checkCondition(in, f.AggFilter)
		if err != nil {
			return err
		}
		if absent.IsUntrue(in.env.truth(filter)) {
			return nil
		}
	}
	of := f.Args
	if len(f.AggOrder) > 0 {
		of = []*pg.Node{f.AggOrder[0].GetSortBy().GetNode()}
	}
	if len(of) > 0 {
		e, _, err := in.readExact(of[0])
		if err != nil || absent.IsNull(e) || functionName(f) == "sum" && addsNothing(absent, e) {
			return err
		}
	}
	name := ""
	for _, f := range in.rows.Fields()[k.from:k.upto] {
		if name == "" && !f.Raw() {
			name = f.Name
		}
	}
	if unit := in.rows.Fields()[in.rows.Unit()].Name; unit != "" {
		name = unit
	}
	name = in.rows.owner(k.from) + "." + name
	return syntax.Refuse(syntax.Private, f.Location, "write COUNT("+name+"), which is 0 for these rows, or name columns of that table",
		"rows of the public table stay that nobody has a row for, and this aggregate would count them: it would tell where nobody is")
}

// addsNothing reports whether an expression is NULL or 0 in the rows that stay.
func addsNothing(absent expr.Absent, e tree.Expr) bool {
	switch e := e.(type) {
	case *tree.Case:
		for _, w := range e.Whens {
			if !absent.IsUntrue(w.If) && !addsNothing(absent, w.Then) {
				return false
			}
		}
		return addsNothing(absent, e.Else)
	case *tree.Call:
		if e.Fn == "coalesce" {
			return !slices.ContainsFunc(e.Args, func(a tree.Expr) bool { return !addsNothing(absent, a) })
		}
	}
	return expr.IsNumber(e, 0) || absent.IsNull(e)
}
