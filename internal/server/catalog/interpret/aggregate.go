package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// aggregate is a call of an aggregate function in a SELECT.
type aggregate struct {
	*aggregateFunction
	star     bool
	distinct bool
	args     []*expr
	filter   *expr
	order    []*expr
	keys     []sortKey
	typ      uint32
}

// aggregateCall binds an aggregate of this SELECT. Where it is evaluated later, its value is that
// of the group.
func (s *scope) aggregateCall(name string, f *pg.FuncCall) (*expr, error) {
	if !s.aggOK {
		return nil, locate(Fail("42803", "aggregate functions are not allowed in %s", s.where), f.Location)
	}
	if f.AggWithinGroup {
		return nil, unsupported("WITHIN GROUP")
	}
	a := &aggregate{aggregateFunction: aggregates[name], star: f.AggStar, distinct: f.AggDistinct}
	if err := s.aggregateParts(a, f); err != nil {
		return nil, err
	}
	fits := a.star && name == "count" || !a.star && len(a.args) == len(a.untyped)
	if fits {
		a.typ = a.result(a.args)
	}
	if a.typ == 0 {
		return nil, locate(s.b.noFunction(name, a.args), f.Location)
	}
	var cols []datum.Column
	if name == "array_agg" {
		cols = a.args[0].cols
	}
	i := len(s.aggs)
	s.aggs = append(s.aggs, a)
	return &expr{typ: a.typ, cols: cols, eval: func(e *env) (datum.Value, error) {
		if i < len(e.aggs) {
			return e.aggs[i], nil
		}
		return nil, nil
	}}, nil
}

// aggregateParts binds what is inside of an aggregate, where no other and no set may be.
func (s *scope) aggregateParts(a *aggregate, f *pg.FuncCall) error {
	agg, win, srf, where := s.aggOK, s.winOK, s.srfOK, s.where
	s.aggOK, s.winOK, s.srfOK, s.where = false, false, false, "an aggregate function"
	defer func() { s.aggOK, s.winOK, s.srfOK, s.where = agg, win, srf, where }()
	if s.group != nil {
		s.group.off++
		defer func() { s.group.off-- }()
	}
	for _, n := range f.Args {
		x, err := s.expr(n)
		if err == nil && x.untyped() {
			x, err = s.b.coerce(x, a.untyped[0])
		}
		if err != nil {
			return err
		}
		a.args = append(a.args, x)
	}
	if f.AggFilter != nil {
		x, err := s.expr(f.AggFilter)
		if err != nil {
			return err
		}
		if a.filter, err = s.b.truth(x, "FILTER"); err != nil {
			return err
		}
	}
	var err error
	a.keys, a.order, err = s.sortedBy(f.AggOrder)
	return err
}

// compute computes an aggregate of some rows.
func (a *aggregate) compute(e *env, members []state) (datum.Value, error) {
	var rows, keys []datum.Tuple
	seen := map[string]bool{}
	for i := range members {
		members[i].enter(e)
		if a.filter != nil {
			v, err := a.filter.eval(e)
			if err != nil {
				return nil, err
			}
			if v != datum.True {
				continue
			}
		}
		t, err := evalAll(e, a.args)
		if err != nil {
			return nil, err
		}
		if a.distinct {
			k, err := e.run.rowKey(t)
			if err != nil {
				return nil, err
			}
			if seen[k] {
				continue
			}
			seen[k] = true
		}
		k, err := evalAll(e, a.order)
		if err != nil {
			return nil, err
		}
		rows, keys = append(rows, t), append(keys, k)
	}
	var err error
	switch {
	case len(a.keys) > 0:
		rows, _, err = sortRows(e.run, rows, keys, a.keys)
	case a.distinct && len(a.args) > 0:
		rows, _, err = sortRows(e.run, rows, rows, make([]sortKey, 1))
	}
	if err != nil {
		return nil, err
	}
	return a.total(e.run, a, rows)
}
