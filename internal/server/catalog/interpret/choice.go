package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// caseExpr binds CASE.
func (s *scope) caseExpr(c *pg.CaseExpr) (*expr, error) {
	var arg *expr
	var err error
	if c.Arg != nil {
		if arg, err = s.expr(c.Arg); err != nil {
			return nil, err
		}
		if arg, err = s.b.settled(arg); err != nil {
			return nil, err
		}
	}
	var whens, results []*expr
	for _, n := range c.Args {
		w := n.GetCaseWhen()
		x, err := s.expr(w.GetExpr())
		if err != nil {
			return nil, err
		}
		if arg != nil {
			x, err = s.b.comparison("=", arg, x)
		} else {
			x, err = s.b.truth(x, "CASE/WHEN")
		}
		if err != nil {
			return nil, locate(err, c.Location)
		}
		r, err := s.expr(w.GetResult())
		if err != nil {
			return nil, err
		}
		whens, results = append(whens, x), append(results, r)
	}
	otherwise := untypedNull()
	if c.Defresult != nil {
		if otherwise, err = s.expr(c.Defresult); err != nil {
			return nil, err
		}
	}
	// The last one decides the type before the others, as in PostgreSQL.
	results = append([]*expr{otherwise}, results...)
	t, err := s.b.unify(results, "CASE")
	if err != nil {
		return nil, locate(err, c.Location)
	}
	otherwise, results = results[0], results[1:]
	return &expr{typ: t, cols: results[0].cols, eval: func(e *env) (datum.Value, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		for i, w := range whens {
			v, err := w.eval(e)
			if err != nil {
				return nil, err
			}
			if v == datum.True {
				return results[i].eval(e)
			}
		}
		return otherwise.eval(e)
	}}, nil
}

// coalesce binds COALESCE: the first value that is not NULL.
func (s *scope) coalesce(list []*pg.Node) (*expr, error) {
	args, t, err := s.unified(list, "COALESCE")
	if err != nil {
		return nil, err
	}
	return &expr{typ: t, cols: args[0].cols, eval: func(e *env) (datum.Value, error) {
		if err := e.run.step(1); err != nil {
			return nil, err
		}
		for _, a := range args {
			v, err := a.eval(e)
			if v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	}}, nil
}

// minMax binds GREATEST and LEAST.
func (s *scope) minMax(m *pg.MinMaxExpr) (*expr, error) {
	greatest := m.Op == pg.MinMaxOp_IS_GREATEST
	args, t, err := s.unified(m.Args, "GREATEST")
	if err != nil {
		return nil, locate(err, m.Location)
	}
	return compute(t, args, func(_ *run, vals datum.Tuple) (best datum.Value, err error) {
		for _, v := range vals {
			if v != nil && (best == nil || (datum.Compare(v, best) > 0) == greatest) {
				best = v
			}
		}
		return best, nil
	}), nil
}
