package interpret

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// window is row_number() OVER (...), the one window function that clients call.
type window struct {
	partition []*expr
	order     []*expr
	keys      []sortKey
}

// windowCall binds a call with OVER.
func (s *scope) windowCall(name string, f *pg.FuncCall) (*expr, error) {
	switch over := f.Over; {
	case strings.TrimPrefix(name, "pg_catalog.") != "row_number" || len(f.Args) > 0 || f.AggStar:
		return nil, hint(Fail("42883", "window function %s does not exist", clip(name)), "There is row_number.")
	case !s.winOK:
		return nil, Fail("42P20", "window functions are not allowed in %s", s.where)
	case over.Name != "" || over.Refname != "":
		return nil, unsupported("a named window")
	}
	agg, srf, where := s.aggOK, s.srfOK, s.where
	defer func() { s.aggOK, s.winOK, s.srfOK, s.where = agg, true, srf, where }()
	s.winOK, s.srfOK, s.where = false, false, "a window"
	w := &window{}
	var err error
	if w.partition, err = s.exprs(f.Over.PartitionClause); err != nil {
		return nil, err
	}
	if w.keys, w.order, err = s.sortedBy(f.Over.OrderClause); err != nil {
		return nil, err
	}
	i := len(s.wins)
	s.wins = append(s.wins, w)
	return &expr{typ: oid.Int8, eval: func(e *env) (datum.Value, error) {
		if i < len(e.wins) {
			return e.wins[i], nil
		}
		return nil, nil
	}}, nil
}

// numberRows computes all calls with OVER.
func (s *scope) numberRows(e *env, list []state) error {
	for i := range list {
		if len(s.wins) > 0 {
			if err := e.run.take(24 + 16*len(s.wins)); err != nil {
				return err
			}
			list[i].wins = make([]datum.Value, len(s.wins))
		}
	}
	for k, w := range s.wins {
		var rows, keys []datum.Tuple
		for i := range list {
			list[i].enter(e)
			p, err := evalAll(e, w.partition)
			if err != nil {
				return err
			}
			id, err := e.run.rowKey(p)
			if err != nil {
				return err
			}
			sorts, err := evalAll(e, w.order)
			if err != nil {
				return err
			}
			rows, keys = append(rows, datum.Tuple{datum.Int(i), datum.Text(id)}), append(keys, sorts)
		}
		rows, err := sortRows(e.run, rows, keys, w.keys)
		if err != nil {
			return err
		}
		last := map[datum.Value]datum.Int{}
		for _, t := range rows {
			last[t[1]]++
			list[t[0].(datum.Int)].wins[k] = last[t[1]]
		}
	}
	return nil
}
