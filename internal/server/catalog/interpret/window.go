package interpret

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// windowNames are the window functions that clients call.
var windowNames = []string{"row_number", "rank", "dense_rank"}

// window is a call with OVER.
type window struct {
	name      string
	partition []*expr
	order     []*expr
	keys      []sortKey
}

// windowCall binds a call with OVER.
func (s *scope) windowCall(name string, f *pg.FuncCall) (*expr, error) {
	switch over := f.Over; {
	case !slices.Contains(windowNames, strings.TrimPrefix(name, "pg_catalog.")) || len(f.Args) > 0 || f.AggStar:
		return nil, hint(Fail("42883", "window function %s does not exist", clip(name)), "There are row_number, rank and dense_rank.")
	case !s.winOK:
		return nil, Fail("42P20", "window functions are not allowed in %s", s.where)
	case over.Name != "" || over.Refname != "":
		return nil, unsupported("a named window")
	}
	agg, srf, where := s.aggOK, s.srfOK, s.where
	defer func() { s.aggOK, s.winOK, s.srfOK, s.where = agg, true, srf, where }()
	s.winOK, s.srfOK, s.where = false, false, "a window"
	w := &window{name: strings.TrimPrefix(name, "pg_catalog.")}
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
		rows, _, err := sortRows(e.run, rows, keys, w.keys)
		if err != nil {
			return err
		}
		places := map[datum.Value]*place{}
		for _, t := range rows {
			i := t[0].(datum.Int)
			p := places[t[1]]
			if p == nil {
				p = &place{}
				places[t[1]] = p
			}
			p.next(keys[i], w.keys)
			list[i].wins[k] = map[string]datum.Int{"row_number": p.number, "rank": p.rank, "dense_rank": p.dense}[w.name]
		}
	}
	return nil
}

// place is where a row stands in its partition: its number, and its ranks with and without gaps.
type place struct {
	number, rank, dense datum.Int
	keys                datum.Tuple
}

// next goes on to a row with these keys. Rows with the same keys have the same ranks.
func (p *place) next(keys datum.Tuple, ks []sortKey) {
	p.number++
	if p.number == 1 || compareKeys(ks, p.keys, keys) != 0 {
		p.rank, p.dense = p.number, p.dense+1
	}
	p.keys = keys
}
