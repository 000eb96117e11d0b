package plan

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// level says what a SELECT is over.
type level int

const (
	nothing    level = iota // no table
	publicRows              // rows of public tables alone
	ofRows                  // rows of the policy's tables, private ones among them
	answers                 // answers of questions, perhaps beside public tables
	amid                    // rows that are joined with answers
)

// classifier says what SELECTs are over.
type classifier struct{ env *env }

// ofFrom says what a SELECT's own FROM is over. A private table, a view of one, and a subquery
// of its rows make it one of rows; a subquery with aggregates makes it one over answers. It is over
// both only where the answers choose among its groups (see within.go).
func (cl classifier) ofFrom(s *pg.SelectStmt) (level, error) {
	e, err := cl.env.addNames(s.WithClause)
	if err != nil {
		return nothing, err
	}
	if isSet(s) {
		return answers, nil // of two or more
	}
	cl = classifier{e}
	found := nothing
	for _, n := range s.FromClause {
		l, err := cl.ofItem(n)
		if err != nil {
			return nothing, err
		}
		if found, err = mixed(found, l, true, syntax.Location(n)); err != nil {
			return nothing, err
		}
	}
	if found != amid {
		return found, nil
	}
	if !isAggregated(s) {
		return nothing, unmixed(first(s.FromClause))
	}
	return ofRows, nil
}

// mixed is what two items are over together. Inner says that they are joined by an inner join.
func mixed(a, b level, inner bool, pos int32) (level, error) {
	switch {
	case a == b || b == nothing:
		return a, nil
	case a == nothing || a == publicRows:
		return b, nil
	case b == publicRows:
		return a, nil
	case inner:
		return amid, nil
	}
	return nothing, unmixed(pos)
}

func unmixed(pos int32) error {
	return syntax.Refuse(pos, "ask two questions, or use subqueries with aggregates on both sides",
		"rows of a table and the answer of a question cannot be joined")
}

func (cl classifier) ofItem(n *pg.Node) (level, error) {
	switch x := n.GetNode().(type) {
	case *pg.Node_RangeVar:
		if err := cl.env.visit(x.RangeVar.Location); err != nil {
			return nothing, err
		}
		src, err := cl.env.find(x.RangeVar)
		if err != nil {
			return nothing, err
		}
		switch {
		case src.answer:
			return answers, nil
		case src.table != nil && src.table.Public:
			return publicRows, nil
		case src.table != nil:
			return ofRows, nil
		}
		l, err := classifier{src.env}.ofResult(src.query)
		if err != nil && src.isView {
			err = syntax.Refuse(x.RangeVar.Location, "ask the owner to correct it", "the view %q cannot be used here: %s",
				x.RangeVar.Relname, reason(err))
		}
		return l, err
	case *pg.Node_RangeSubselect:
		if err := cl.env.visit(syntax.Location(n)); err != nil {
			return nothing, err
		}
		return cl.ofResult(x.RangeSubselect.Subquery.GetSelectStmt())
	case *pg.Node_JoinExpr:
		l, err := cl.ofItem(x.JoinExpr.Larg)
		if err != nil {
			return nothing, err
		}
		r, err := cl.ofItem(x.JoinExpr.Rarg)
		if err != nil {
			return nothing, err
		}
		inner, at := x.JoinExpr.Jointype == pg.JoinType_JOIN_INNER, syntax.Location(x.JoinExpr.Rarg)
		if both, err := mixed(l, r, true, at); err != nil || both != amid || inner {
			return both, err
		}
		return nothing, syntax.Refuse(at, "leave LEFT, RIGHT or FULL out, which shows the groups that the answer has; or group by the "+
			"column itself, without the join, and add up the rest around the question",
			"rows and an answer can only be joined by an inner join")
	case *pg.Node_RangeFunction:
		return nothing, nil // of the outer engine, or refused
	}
	return ofRows, nil // to be refused with the rest
}

// ofResult says what a subquery's result is: rows, or an answer.
func (cl classifier) ofResult(s *pg.SelectStmt) (level, error) {
	if s == nil {
		return ofRows, nil
	}
	e, err := cl.env.descend(-1)
	if err != nil {
		return nothing, err
	}
	named, err := e.addNames(s.WithClause)
	if err != nil {
		return nothing, err
	}
	inner := classifier{named}
	if isSet(s) {
		l, err := inner.ofResult(s.Larg)
		if err != nil {
			return nothing, err
		}
		r, err := inner.ofResult(s.Rarg)
		if err != nil {
			return nothing, err
		}
		return mixed(l, r, false, -1)
	}
	l, err := classifier{e}.ofFrom(s)
	switch {
	case err != nil || l != ofRows && l != publicRows:
		return l, err
	case isAggregated(s) && (l == publicRows || !inner.byPerson(s)) || l == ofRows && inner.listsKeys(s):
		return answers, nil
	}
	return l, nil
}

// listsKeys reports whether a SELECT DISTINCT shows keys, and not whose rows there are. DISTINCT ON
// shows rows, whether or not the person is among their columns.
func (cl classifier) listsKeys(s *pg.SelectStmt) bool {
	if !isDistinct(s) || isAggregated(s) {
		return false
	}
	from, err := rowReader{cl.env}.readFrom(s)
	if err != nil || !tree.Private(from) {
		return false
	}
	in := &rowScope{env: cl.env, rows: from}
	for _, n := range s.TargetList {
		c, err := checkExpr(in, n.GetResTarget().GetVal())
		if err != nil || tree.Derived(c) != nil {
			return false
		}
	}
	return true
}

// byPerson reports whether a SELECT of rows is grouped by the unit, and perhaps by more.
func (cl classifier) byPerson(s *pg.SelectStmt) bool {
	if len(s.GroupClause) == 0 {
		return false
	}
	from, err := rowReader{cl.env}.readFrom(s)
	if err != nil || !tree.Private(from) {
		return false
	}
	in := &rowScope{env: cl.env, rows: from}
	return slices.ContainsFunc(s.GroupClause, func(n *pg.Node) bool {
		n, e, err := in.readGroupItem(n, s.TargetList)
		c, ok := e.(*tree.Column)
		return err == nil && ok && from.isUnit(c) && from.isName(n)
	})
}
