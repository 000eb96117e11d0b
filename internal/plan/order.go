package plan

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// answer is what is made of released values: the columns that are shown, and of which groups.
type answer struct {
	columns []tree.Output
	having  tree.Expr
	order   []tree.Order
	limit   *int64
	offset  int64
	within  []tree.Among
}

// answerReader reads what is above the noise, and adds the aggregates that it names to what is
// released.
type answerReader struct {
	in         *rowScope
	groups     *groups
	aggregates *aggregator
	out        *releases
	answer     *answer
	targets    []*pg.Node
}

func newAnswerReader(in *rowScope, groups *groups, targets []*pg.Node) *answerReader {
	out := &releases{calculator: in.env.calculator, measures: map[string]tree.Measure{}, quantiles: map[string]*quantiles{}}
	return &answerReader{in: in, groups: groups, aggregates: &aggregator{in: in, groups: groups, out: out}, out: out, answer: &answer{},
		targets: targets}
}

func (ar *answerReader) meter() *meter.Meter { return ar.in.env.meter() }

// read reads the clauses in the order in which names of the one may stand in the other.
func (ar *answerReader) read(s *pg.SelectStmt, chosen []*chosen) error {
	for _, clause := range []func(*pg.SelectStmt) error{ar.readColumns, refuseDistinctOn, ar.readHaving, ar.readOrder, ar.readLimit} {
		if err := clause(s); err != nil {
			return err
		}
	}
	return ar.readWithin(chosen)
}

func (ar *answerReader) readOrder(s *pg.SelectStmt) error {
	for _, n := range s.SortClause {
		o, err := sortOrder(n)
		if err != nil {
			return err
		}
		if o.By, err = ar.readOrderItem(n.GetSortBy().Node); err != nil {
			return err
		}
		ar.answer.order = append(ar.answer.order, o)
	}
	return nil
}

// sortOrder reads the direction of an item of ORDER BY.
func sortOrder(n *pg.Node) (tree.Order, error) {
	by := n.GetSortBy()
	if by == nil || len(by.UseOp) > 0 {
		return tree.Order{}, syntax.Refuse(syntax.Location(n), "write ORDER BY column ASC or DESC", "ORDER BY ... USING cannot be used")
	}
	o := tree.Order{Descending: by.SortbyDir == pg.SortByDir_SORTBY_DESC}
	// As in PostgreSQL, NULL counts as larger than everything.
	o.NullsFirst = o.Descending
	switch by.SortbyNulls {
	case pg.SortByNulls_SORTBY_NULLS_FIRST:
		o.NullsFirst = true
	case pg.SortByNulls_SORTBY_NULLS_LAST:
		o.NullsFirst = false
	}
	return o, nil
}

// orderItem reads a position, a name of the SELECT list, or an expression on
// released values.
func (ar *answerReader) readOrderItem(n *pg.Node) (tree.Expr, error) {
	if k := n.GetAConst(); k != nil {
		i, ok := ordinal(n, len(ar.answer.columns))
		if !ok {
			return nil, syntax.Refuse(k.Location, "write the column's name or position", "this is not a column of the SELECT list")
		}
		return ar.answer.columns[i].Expr, nil
	}
	if ref := n.GetColumnRef(); ref != nil {
		if name, err := columnName(ref); err == nil {
			if i := ar.outputIndex(name); i >= 0 {
				return ar.answer.columns[i].Expr, nil
			}
		}
	}
	e, err := checkExpr(answerScope{answerReader: ar, named: true}, n)
	if err == nil {
		err = expr.CheckLevels(e, syntax.Location(n))
	}
	return e, err
}

// outputIndex finds a column of the SELECT list by its name.
func (ar *answerReader) outputIndex(name string) int {
	return slices.IndexFunc(ar.answer.columns, func(o tree.Output) bool { return strings.EqualFold(o.Name, name) })
}

func (ar *answerReader) readLimit(s *pg.SelectStmt) error {
	for _, l := range []struct {
		node *pg.Node
		set  func(int64)
		what string
	}{
		{s.LimitCount, func(n int64) { ar.answer.limit = &n }, "LIMIT"},
		{s.LimitOffset, func(n int64) { ar.answer.offset = n }, "OFFSET"},
	} {
		if l.node == nil || l.node.GetAConst().GetIsnull() { // LIMIT ALL
			continue
		}
		v, ok := l.node.GetAConst().GetVal().(*pg.A_Const_Ival)
		if !ok || v.Ival.GetIval() < 0 {
			return syntax.Refuse(syntax.Location(l.node), "write a whole number from 0 to 2147483647",
				"%s takes a constant number of rows", l.what)
		}
		l.set(int64(v.Ival.GetIval()))
	}
	return nil
}
