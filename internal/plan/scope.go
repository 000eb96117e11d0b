package plan

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/plan/expr"
	"github.com/discreet-dp/discreet/internal/plan/meter"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// scope says what names and functions mean in one part of a question. Below the
// noise a name is a private column and no aggregate exists; above it a name is
// a released key, and aggregates are released values.
type scope interface {
	// whole recognises an expression as a whole, before its parts are looked at.
	whole(n *pg.Node) (tree.Expr, bool)
	column(name string, pos int32) (tree.Expr, error)
	call(f *pg.FuncCall) (tree.Expr, error)
	sublink(s *pg.SubLink) (tree.Expr, error)
	meter() *meter.Meter
}

// groupingScope is a scope in which GROUPING has a meaning.
type groupingScope interface {
	groupingOf(f *pg.GroupingFunc) (tree.Expr, error)
}

// personNames is a scope in which COALESCE may name the person of a FULL JOIN; nil where it does
// not.
type personNames interface {
	person(args []*pg.Node) tree.Expr
}

// rowScope is the scope below the noise: the rows of one SELECT, and what was read of it.
type rowScope struct {
	env    *env
	rows   rows
	filter tree.Expr // WHERE
	// extend says that subqueries that are values may be joined to rows, and extended where they
	// are.
	extend   bool
	extended map[string]int
	// over is what the windows of a subquery are computed as.
	over map[*pg.FuncCall]tree.Expr
}

func (in *rowScope) person(args []*pg.Node) tree.Expr { return in.rows.person(args) }

func (in *rowScope) meter() *meter.Meter { return in.env.meter() }

func (in *rowScope) whole(*pg.Node) (tree.Expr, bool) { return nil, false }

func (in *rowScope) column(name string, pos int32) (tree.Expr, error) {
	c, err := in.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (in *rowScope) call(f *pg.FuncCall) (tree.Expr, error) {
	name := functionName(f)
	if f.Over != nil {
		if e, ok := in.over[f]; ok {
			return e, nil
		}
		return nil, syntax.Refuse(f.Location,
			"put it into the SELECT list of a subquery, partitioned by the person, and name its column here",
			"a window cannot be used here")
	}
	if isPersonal(name) {
		return nil, syntax.Refuse(f.Location, "put it into SELECT, HAVING or ORDER BY",
			"an aggregate cannot be used inside a condition on rows or inside another aggregate")
	}
	return checkCall(in, f)
}

// answerScope is the scope above the noise: released keys and aggregates.
type answerScope struct {
	*answerReader
	// named says that a name which is no key may be one of the SELECT list's: in HAVING and ORDER
	// BY.
	named bool
}

// whole recognises what is grouped by.
func (s answerScope) whole(n *pg.Node) (tree.Expr, bool) {
	if len(s.groups.keys)+len(s.groups.without) == 0 || n.GetAConst() != nil {
		return nil, false
	}
	e, inexact, err := s.in.readExact(n)
	if err != nil {
		return nil, false
	}
	e = s.in.env.normal(adoptText(e))
	if i := s.groups.keyIndex(e); i >= 0 {
		return again(s.released(s.addKey(i)), inexact), true
	}
	if i, ok := s.addAbsent(e); ok {
		return again(s.released(i), inexact), true
	}
	return nil, false
}

func (s answerScope) column(name string, pos int32) (tree.Expr, error) {
	if i := s.outputIndex(name); s.named && i >= 0 {
		return s.answer.columns[i].Expr, nil
	}
	c, err := s.in.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return nil, syntax.Refuse(pos, "put it into GROUP BY or inside an aggregate such as COUNT, SUM or AVG",
		"%s is not in GROUP BY, and values of single rows cannot be shown", c.Field.Describe())
}

func (s answerScope) call(f *pg.FuncCall) (tree.Expr, error) {
	if part, ok := intervals[functionName(f)]; ok {
		return s.readInterval(f, part)
	}
	if expr.Lookup(functionName(f)) != nil {
		return checkCall(s, f)
	}
	i, err := s.aggregates.read(f)
	if err != nil {
		return nil, err
	}
	return again(s.released(i), s.aggregates.inexact(f)), nil
}

func (s answerScope) sublink(l *pg.SubLink) (tree.Expr, error) {
	return nil, syntax.Refuse(l.Location, "ask it in FROM, as in SELECT ... FROM (SELECT ...) AS a, (SELECT ...) AS b",
		"a subquery cannot be used beside aggregates")
}

func (ar *answerReader) released(i int) tree.Expr {
	return &tree.Released{Stat: i, Typ: ar.out.stats[i].Typ}
}
