package curator

import (
	"context"
	"slices"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answers"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
)

// computation is what runs of a question, and what is known of the data that it ran on.
type computation struct {
	states   *dataStates
	releaser *releaser

	data  sessionhost.Data // that the question was asked of
	other bool             // something ran on other data, which may be gone again
	loose bool             // something ran on data that may change while it is read
	sure  bool             // all of it ran on that data; known when it was asked whether it moved
	had   time.Duration    // the public time of what ran
}

// run computes a query, and notes what it ran on.
func (r *computation) run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if takes, err := r.states.runner.publicTime(ctx, q); err == nil {
		r.had = addTimes(r.had, takes)
	}
	exactly, err := r.states.runner.Run(ctx, q)
	if err == nil {
		r.note(exactly.ReadFrom)
	}
	return exactly, err
}

// takeReleaseTime lets a question take the time of a release that is more than noise on each
// number. It begins when the engine is done: what it takes beyond the public time would tell when
// that was.
func (r *computation) takeReleaseTime(ctx context.Context, b *pricing.Purchase) error {
	takes, err := r.states.runner.releaseTime(ctx, b)
	if err == nil && takes > 0 {
		r.had = addTimes(r.had, takes)
		releaseclock.AddPublicTime(ctx, takes)
	}
	return err
}

// note notes what something was read from.
func (r *computation) note(read engine.ReadFrom) {
	r.other = r.other || read.State != "" && read.State != r.data.State
	r.loose = r.loose || read.State == "" || !read.Copied
}

// takeRemainingTime lets a question that has failed take the time of what it did not get to: under
// a lockout what fails and what does not are told the same, and at the same time.
func (r *computation) takeRemainingTime(ctx context.Context, buys []*pricing.Purchase) {
	if all, err := r.states.runner.timeOfAll(ctx, buys); err == nil {
		releaseclock.AddPublicTime(ctx, all-r.had)
	}
}

// ranOnSameData reports whether all that ran is known to be of the data that the question was asked
// of. That this is there again is not enough: it may have been other data in between.
func (r *computation) ranOnSameData(ctx context.Context) bool {
	return r.data.Whole && !r.other && (!r.loose || r.states.unmoved(ctx, r.data))
}

// moved reports whether something ran on other data, or may have: the data is another by now, and
// would be known to be the same.
func (r *computation) moved(ctx context.Context) bool {
	r.sure = r.ranOnSameData(ctx)
	return r.other || r.data.Whole && !r.sure
}

// maker names what computed what was bought, where others may be made of it and it is known to be
// of the data that it is kept under.
func (r *computation) maker() string {
	if !r.sure {
		return ""
	}
	return program()
}

// compute runs all that was paid for, and releases it. What goes wrong can depend on the data.
func (r *computation) compute(ctx context.Context, buys []*pricing.Purchase, of bases, room int) (bought []*answers.Released, err error) {
	defer sessionhost.Catch(&err)
	bought = make([]*answers.Released, len(buys))
	for i, b := range buys {
		if bought[i] != nil {
			continue // with others
		}
		if b.Cube != nil {
			if err := r.computeCube(ctx, b, buys, bought); err != nil {
				return nil, err
			}
			continue
		}
		exactly, err := r.run(ctx, b.Query)
		if err != nil {
			return nil, err
		}
		if err := r.takeReleaseTime(ctx, b); err != nil {
			return nil, err
		}
		if of.of[b] != nil && !r.ranOnSameData(ctx) {
			return nil, api.ErrMoved
		}
		if bought[i], err = r.releaser.release(b, exactly, of.of[b], room); err != nil {
			return nil, err
		}
	}
	return bought, nil
}

// computeCube runs the table of a cube, and releases all its members of the one result.
func (r *computation) computeCube(ctx context.Context, of *pricing.Purchase, buys []*pricing.Purchase, bought []*answers.Released) error {
	cube := of.Cube
	table := &pricing.Purchase{Query: cube.Query}
	exactly, err := r.run(ctx, cube.Query)
	if err != nil {
		return err
	}
	if err := r.takeReleaseTime(ctx, of); err != nil {
		return err
	}
	if !hasShape(table, exactly) {
		return sessionhost.ErrRun
	}
	for _, b := range cube.Members {
		bought[slices.Index(buys, b)] = &answers.Released{Quantiles: make([][][]int64, len(cube.Noise))}
	}
	for i, n := range cube.Noise {
		margins := r.releaser.noise.ReleaseMarginals(exactly.Measures[i], n)
		for k, b := range cube.Members {
			out := bought[slices.Index(buys, b)]
			out.Measures, out.Off = append(out.Measures, margins.Values[k]), append(out.Off, margins.ExtraSteps[k])
		}
	}
	return nil
}
