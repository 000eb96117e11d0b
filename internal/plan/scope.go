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

// below is the scope below the noise: private rows.
type below struct{ *question }

func (s below) whole(*pg.Node) (tree.Expr, bool) { return nil, false }

func (s below) column(name string, pos int32) (tree.Expr, error) {
	c, err := s.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s below) call(f *pg.FuncCall) (tree.Expr, error) {
	name := functionName(f)
	if f.Over != nil {
		if e, ok := s.over[f]; ok {
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
	return checkCall(s, f)
}

// above is the scope above the noise: released keys and aggregates.
type above struct {
	*question
	// named says that a name which is no key may be one of the SELECT list's: in HAVING and ORDER
	// BY.
	named bool
}

// whole recognises what is grouped by.
func (s above) whole(n *pg.Node) (tree.Expr, bool) {
	if len(s.keys)+len(s.without) == 0 || n.GetAConst() != nil {
		return nil, false
	}
	e, inexact, err := s.exactly(n)
	if err != nil {
		return nil, false
	}
	e = s.normal(adoptText(e))
	if i := s.keyIndex(e); i >= 0 {
		return again(s.released(s.keyStat(i)), inexact), true
	}
	if i, ok := s.absent(e); ok {
		return again(s.released(i), inexact), true
	}
	return nil, false
}

func (s above) column(name string, pos int32) (tree.Expr, error) {
	if i := s.outputIndex(name); s.named && i >= 0 {
		return s.output[i].Expr, nil
	}
	c, err := s.rows.resolve(name, pos)
	if err != nil {
		return nil, err
	}
	return nil, syntax.Refuse(pos, "put it into GROUP BY or inside an aggregate such as COUNT, SUM or AVG",
		"%s is not in GROUP BY, and values of single rows cannot be shown", c.Field.Describe())
}

func (s above) call(f *pg.FuncCall) (tree.Expr, error) {
	if part, ok := intervals[functionName(f)]; ok {
		return s.interval(f, part)
	}
	if expr.Lookup(functionName(f)) != nil {
		return checkCall(s, f)
	}
	i, err := s.aggregate(f)
	if err != nil {
		return nil, err
	}
	return again(s.released(i), s.inexact(f)), nil
}

func (s above) sublink(l *pg.SubLink) (tree.Expr, error) {
	return nil, syntax.Refuse(l.Location, "ask it in FROM, as in SELECT ... FROM (SELECT ...) AS a, (SELECT ...) AS b",
		"a subquery cannot be used beside aggregates")
}

func (q *question) released(i int) tree.Expr { return &tree.Released{Stat: i, Typ: q.stats[i].Typ} }
