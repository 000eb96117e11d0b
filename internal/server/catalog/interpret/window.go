package interpret

import (
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// window is a call with OVER. Aggregates are over the whole partition, or without ROWS and RANGE up to the current row and its peers where there is an ORDER BY.
type window struct {
	name      string
	agg       *aggregate
	partition []*expr
	order     []*expr
	keys      []sortKey
}

var windowNames = map[string]bool{"row_number": true, "rank": true, "dense_rank": true}

func (s *scope) windowCall(name string, f *pg.FuncCall, a *aggregate) (*expr, error) {
	agg, srf, where := s.aggOK, s.srfOK, s.where
	defer func() { s.aggOK, s.winOK, s.srfOK, s.where = agg, true, srf, where }()
	over := f.Over
	if over.Name != "" || over.Refname != "" {
		ref := over.Name
		if ref == "" {
			ref = over.Refname
		}
		found := false
		for _, n := range s.clause {
			if d := n.GetWindowDef(); d != nil && d.Name == ref {
				over, found = d, true
			}
		}
		if !found {
			return nil, at(Fail("42704", "window %q does not exist", clip(ref)), f.Location)
		}
	}
	const defaultFrame = 1058 // RANGE UNBOUNDED PRECEDING to CURRENT ROW, not spelled out
	if over.StartOffset != nil || over.EndOffset != nil || over.FrameOptions != 0 && over.FrameOptions != defaultFrame {
		return nil, unsupported("a window frame")
	}
	w := &window{name: name, agg: a}
	s.winOK, s.srfOK, s.where = false, false, "a window"
	for _, n := range over.PartitionClause {
		x, err := s.expr(n)
		if err != nil {
			return nil, err
		}
		w.partition = append(w.partition, x)
	}
	for _, n := range over.OrderClause {
		b := n.GetSortBy()
		x, err := s.expr(b.GetNode())
		if err != nil {
			return nil, err
		}
		w.order, w.keys = append(w.order, x), append(w.keys, sortKeyOf(b))
	}
	t := uint32(oid.Int8)
	if a != nil {
		t = a.typ
	}
	i := len(s.wins)
	s.wins = append(s.wins, w)
	return &expr{typ: t, eval: func(e *env) (datum.Value, error) {
		if i < len(e.wins) {
			return e.wins[i], nil
		}
		return nil, nil
	}}, nil
}

// windows computes all calls with OVER.
func (s *scope) windows(e *env, list []state) error {
	for i := range list {
		if err := e.run.take(24 + 16*len(s.wins)); err != nil {
			return err
		}
		list[i].wins = make(datum.List, len(s.wins))
	}
	for k, w := range s.wins {
		parts := map[string][]int{}
		var order []string
		keys := make([]datum.Tuple, len(list))
		for i := range list {
			list[i].enter(e)
			p, err := evalAll(e, w.partition)
			if err != nil {
				return err
			}
			if keys[i], err = evalAll(e, w.order); err != nil {
				return err
			}
			id, err := e.run.rowKey(p)
			if err != nil {
				return err
			}
			if _, ok := parts[id]; !ok {
				order = append(order, id)
			}
			parts[id] = append(parts[id], i)
		}
		for _, id := range order {
			if err := w.fill(e, list, parts[id], keys, k); err != nil {
				return err
			}
		}
	}
	return nil
}

// fill computes one call for one partition.
func (w *window) fill(e *env, list []state, members []int, keys []datum.Tuple, k int) error {
	rows, sorts := make([]datum.Tuple, len(members)), make([]datum.Tuple, len(members))
	for j, i := range members {
		rows[j], sorts[j] = datum.Tuple{datum.Int(i)}, keys[i]
	}
	rows, sorts, err := sortRows(e.run, rows, sorts, w.keys)
	if err != nil {
		return err
	}
	sorted := make([]state, len(rows))
	for j, t := range rows {
		sorted[j] = list[t[0].(datum.Int)]
	}
	rank, dense := datum.Int(0), datum.Int(0)
	for j := 0; j < len(rows); {
		end := j + 1
		for end < len(rows) && compareKeys(w.keys, sorts[j], sorts[end]) == 0 {
			end++
		}
		rank, dense = datum.Int(j+1), dense+1
		var v datum.Value
		if w.agg != nil {
			if v, err = w.agg.compute(e, sorted[:end]); err != nil {
				return err
			}
		}
		for n := j; n < end; n++ {
			switch w.name {
			case "row_number":
				v = datum.Int(n + 1)
			case "rank":
				v = rank
			case "dense_rank":
				v = dense
			}
			list[rows[n][0].(datum.Int)].wins[k] = v
		}
		j = end
	}
	return nil
}
