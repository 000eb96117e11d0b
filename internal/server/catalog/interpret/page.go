package interpret

import (
	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// limit binds LIMIT and OFFSET.
func (s *scope) limit(st *pg.SelectStmt) (func(*env, []datum.Tuple) ([]datum.Tuple, error), error) {
	if st.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		return nil, unsupported("WITH TIES")
	}
	offset, err := s.rowCount(st.LimitOffset, "OFFSET")
	if err != nil {
		return nil, err
	}
	count, err := s.rowCount(st.LimitCount, "LIMIT")
	if err != nil {
		return nil, err
	}
	return func(e *env, rows []datum.Tuple) ([]datum.Tuple, error) {
		inner := &env{run: e.run, outer: e}
		v, err := offset.eval(inner)
		if err != nil {
			return nil, err
		}
		n, _ := v.(datum.Int)
		if n < 0 {
			return nil, Fail("2201X", "OFFSET must not be negative")
		}
		rows = rows[min(n, datum.Int(len(rows))):]
		if v, err = count.eval(inner); v == nil || err != nil {
			return rows, err
		}
		if n = v.(datum.Int); n < 0 {
			return nil, Fail("2201W", "LIMIT must not be negative")
		}
		return rows[:min(n, datum.Int(len(rows)))], nil
	}, nil
}

// rowCount binds a number of rows, which is NULL where none is given.
func (s *scope) rowCount(n *pg.Node, what string) (*expr, error) {
	if n == nil {
		return constant(oid.Int8, nil), nil
	}
	x, err := s.child(true).expr(n)
	if err != nil {
		return nil, err
	}
	if x, err = s.b.coerce(x, oid.Int8); err != nil {
		return nil, Fail("42804", "argument of %s must be type bigint", what)
	}
	return x, nil
}
