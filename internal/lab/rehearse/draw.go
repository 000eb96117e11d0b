package rehearse

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/ledger/memledger"
	"github.com/discreet-dp/discreet/internal/planner/tree"
)

// drawn is what came of an answer with noise, many times.
type drawn struct {
	exact             *view
	off               map[string][][]float64 // how far off each column was, by the keys of rows
	dropped, invented []float64              // how many rows
}

// draw asks a question so many times of a curator that nobody has asked before. A ledger in memory
// is charged, and forgotten with the noise.
func (r *Rehearsal) draw(ctx context.Context, q api.Question, exact *view, noisy []bool, draws int) (*drawn, error) {
	data := &computedOnce{pinned: r.asked.engine, results: map[string]*engine.Result{}}
	releaser := mech.NewReleaser(noise.NewSource())
	out := &drawn{exact: exact, off: map[string][][]float64{}}
	for i := range draws {
		r.tell(fmt.Sprintf("drawing %d of %d", i+1, draws))
		q.Request = fmt.Sprint("rehearsal ", i+1)
		a, err := curator.New(r.asked.Dataset, data, memledger.New(), releaser).Ask(ctx, q)
		if err != nil {
			return nil, err
		}
		out.add(a, noisy)
	}
	return out, nil
}

// add takes in one answer.
func (d *drawn) add(a *api.Answer, noisy []bool) {
	invented := 0
	for n, values := range a.Rows {
		one := readRow(values, a.Errors[n], noisy)
		if d.exact.rows[one.key] == nil {
			invented++
			continue
		}
		if d.off[one.key] == nil {
			d.off[one.key] = make([][]float64, len(one.values))
		}
		for at, value := range one.values {
			if off := difference(value, d.exact.value(one.key, at)); off != nil {
				d.off[one.key][at] = append(d.off[one.key][at], math.Abs(*off))
			}
		}
	}
	d.invented = append(d.invented, float64(invented))
	d.dropped = append(d.dropped, float64(len(d.exact.rows)-len(a.Rows)+invented))
}

// computedOnce is an engine that remembers what it has computed of one question, sealed as it is.
type computedOnce struct {
	pinned
	results map[string]*engine.Result
}

func (c *computedOnce) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	name := q.Hash()
	if known := c.results[name]; known != nil {
		return known, nil
	}
	found, err := c.pinned.Run(ctx, q)
	if err == nil {
		c.results[name] = found
	}
	return found, err
}
