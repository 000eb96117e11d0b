package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// rowReader reads FROM, and the subqueries in it, as rows of which it is known whose they are.
type rowReader struct{ env *env }

// readFrom reads a FROM clause: tables, subqueries and joins of rows. What stands between commas,
// or in a CROSS JOIN, is joined by what WHERE says of it: where two are private, by the conditions
// that both rows are about one person. These are then part of the join and not of WHERE.
func (rr rowReader) readFrom(s *pg.SelectStmt) (rows, error) {
	nodes := crossed(s.FromClause)
	if len(nodes) == 0 {
		return rows{}, syntax.Refuse(-1, "write SELECT ... FROM a table; "+known("tables", rr.env.dataset.Tables), "there is no FROM")
	}
	all := make([]rows, len(nodes))
	for i, n := range nodes {
		var err error
		if all[i], err = rr.readItem(n); err != nil {
			return rows{}, err
		}
	}
	out, saying := all[0], conditions(s.WhereClause)
	var said []*pg.Node
	for left := seq(1, len(all)); len(left) > 0; {
		at, on, used := rr.chooseNext(out, all, left, saying)
		var err error
		if out, err = rr.join(out, all[left[at]], on, false, syntax.Location(nodes[left[at]]), true); err != nil {
			return rows{}, err
		}
		said = append(said, used...)
		left = slices.Delete(left, at, at+1)
	}
	slices.SortStableFunc(out.names, func(a, b binding) int { return itemOf(all, a.name) - itemOf(all, b.name) })
	out.said = said
	return out, nil
}

// readTables is readFrom for all of a question.
func (rr rowReader) readTables(s *pg.SelectStmt) (rows, error) {
	from, err := rr.readFrom(s)
	if err != nil {
		return rows{}, err
	}
	tables := 0
	if from.EachTable(func(*policy.Table) { tables++ }); tables > maxTables {
		return rows{}, tooManyTables(first(s.FromClause))
	}
	return from, nil
}

// chooseNext chooses what is joined next: the first that belongs to nobody, or that WHERE says to
// be about the same person as what there is. Where there is none it is the first, to be refused.
func (rr rowReader) chooseNext(out rows, all []rows, left []int, saying []*pg.Node) (at int, on tree.Expr, used []*pg.Node) {
	for at, i := range left {
		if !tree.Private(out) || !tree.Private(all[i]) {
			return at, nil, nil
		}
		if on, used := rr.linksIn(out, all[i], saying); on != nil {
			return at, on, used
		}
	}
	return 0, nil, nil
}

// linksIn returns the conditions of WHERE that say that a row of the one and a row of the other
// are about one person.
func (rr rowReader) linksIn(l, r rows, saying []*pg.Node) (on tree.Expr, used []*pg.Node) {
	both, err := l.joined(r, newJoin(l.Relation, r.Relation, nil, false))
	if err != nil {
		return nil, nil // which the join will say
	}
	var links []tree.Expr
	for _, n := range saying {
		x := n.GetAExpr()
		if x.GetLexpr().GetColumnRef() == nil || x.GetRexpr().GetColumnRef() == nil {
			continue
		}
		c, err := checkCondition(&rowScope{env: rr.env, rows: both}, n)
		if err == nil && expr.Linked(c, len(l.Fields())) {
			links, used = append(links, c), append(used, n)
		}
	}
	if len(links) == 0 {
		return nil, nil
	}
	return expr.Normal(&tree.Logic{Op: tree.And, Args: links}), used
}

// crossed are the items of FROM: a CROSS JOIN is two of them.
func crossed(nodes []*pg.Node) []*pg.Node {
	var out []*pg.Node
	for _, n := range nodes {
		j := n.GetJoinExpr()
		if j == nil || j.Jointype != pg.JoinType_JOIN_INNER || j.Quals != nil || j.IsNatural || len(j.UsingClause) > 0 || j.Alias != nil {
			out = append(out, n)
			continue
		}
		out = append(out, crossed([]*pg.Node{j.Larg, j.Rarg})...)
	}
	return out
}

// unsaid is a WHERE without the conditions that FROM has taken.
func (r rows) unsaid(where *pg.Node) *pg.Node {
	if len(r.said) == 0 {
		return where
	}
	return everyOf(slices.DeleteFunc(conditions(where), func(n *pg.Node) bool { return slices.Contains(r.said, n) }))
}

// itemOf is which item of FROM a name comes from.
func itemOf(all []rows, name string) int {
	return slices.IndexFunc(all, func(r rows) bool {
		return slices.ContainsFunc(r.names, func(b binding) bool { return strings.EqualFold(b.name, name) })
	})
}

// seq are the numbers from one up to another.
func seq(from, upto int) []int {
	out := make([]int, 0, upto-from)
	for i := from; i < upto; i++ {
		out = append(out, i)
	}
	return out
}
