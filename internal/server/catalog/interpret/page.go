package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// limit binds LIMIT and OFFSET.
func (s *scope) limit(st *pg.SelectStmt) (func(*env, []datum.Tuple) ([]datum.Tuple, error), error) {
	number := func(n *pg.Node, what string) (*expr, error) {
		if n == nil {
			return nil, nil
		}
		if k := n.GetAConst(); k != nil && k.Isnull {
			return nil, nil
		}
		c := s.child(true)
		x, err := c.expr(n)
		if err != nil {
			return nil, err
		}
		x, err = s.b.coerce(x, oid.Int8)
		if err != nil {
			return nil, Fail("42804", "argument of %s must be type bigint", what)
		}
		return x, nil
	}
	offset, err := number(st.LimitOffset, "OFFSET")
	if err != nil {
		return nil, err
	}
	count, err := number(st.LimitCount, "LIMIT")
	if err != nil {
		return nil, err
	}
	if st.LimitOption == pg.LimitOption_LIMIT_OPTION_WITH_TIES {
		return nil, unsupported("WITH TIES")
	}
	return func(e *env, rows []datum.Tuple) ([]datum.Tuple, error) {
		inner := &env{run: e.run, outer: e}
		if offset != nil {
			v, err := offset.eval(inner)
			if err != nil {
				return nil, err
			}
			n, _ := v.(datum.Int)
			if n < 0 {
				return nil, Fail("2201X", "OFFSET must not be negative")
			}
			rows = rows[min(n, datum.Int(len(rows))):]
		}
		if count != nil {
			v, err := count.eval(inner)
			if err != nil {
				return nil, err
			}
			if n, ok := v.(datum.Int); ok {
				if n < 0 {
					return nil, Fail("2201W", "LIMIT must not be negative")
				}
				rows = rows[:min(n, datum.Int(len(rows)))]
			}
		}
		return rows, nil
	}, nil
}
