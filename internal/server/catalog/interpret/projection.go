package interpret

import "github.com/discreet-dp/discreet/internal/server/catalog/datum"

// state is a row on its way through a SELECT.
type state struct {
	row  []datum.Tuple
	aggs []datum.Value
	wins []datum.Value
}

func (t *state) enter(e *env) { e.row, e.aggs, e.wins = t.row, t.aggs, t.wins }

// project evaluates the output, and what it is sorted by, of each row. A function that returns a
// set makes several rows of one.
func (s *scope) project(e *env, list []state, outs, keys []*expr) (out, sorts []datum.Tuple, err error) {
	one := func() error {
		t, err := evalAll(e, outs)
		if err != nil {
			return err
		}
		out = append(out, t)
		if len(keys) > 0 {
			k, err := evalAll(&env{run: e.run, outer: e.outer, row: e.row, aggs: e.aggs, wins: e.wins, srfs: e.srfs, out: t}, keys)
			if err != nil {
				return err
			}
			sorts = append(sorts, k)
		} else {
			sorts = append(sorts, nil)
		}
		return nil
	}
	for i := range list {
		list[i].enter(e)
		if err := e.run.step(1); err != nil {
			return nil, nil, err
		}
		if len(s.srfs) == 0 {
			if err := one(); err != nil {
				return nil, nil, err
			}
			continue
		}
		sets := make([][]datum.Value, len(s.srfs))
		longest := 0
		e.srfs = make([]datum.Value, len(s.srfs))
		for j, f := range s.srfs {
			if sets[j], err = f.evalSet(e); err != nil {
				return nil, nil, err
			}
			longest = max(longest, len(sets[j]))
		}
		for k := range longest {
			e.srfs = make([]datum.Value, len(s.srfs))
			for j := range sets {
				if k < len(sets[j]) {
					e.srfs[j] = sets[j][k]
				}
			}
			if err := e.run.step(len(sets)); err != nil {
				return nil, nil, err
			}
			if err := one(); err != nil {
				return nil, nil, err
			}
		}
		e.srfs = nil
	}
	return out, sorts, nil
}
