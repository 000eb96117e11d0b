package admission

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/discreet-dp/discreet/policy"
)

// What takes the server longer than usual counts as more than one, so that who makes it work all
// the time has a tenth of a processor, at the usual rate. One counts for no more than [limits.add]
// says, so with looks of many seconds it is more.
const (
	planTimePerQuestion = 10 * time.Millisecond // of planning count as a question
	lookTimePerLook     = time.Millisecond      // of looking at the catalogue count as a look
)

// limits are how fast each analyst may ask.
type limits struct {
	what      string // that is counted
	perMinute int
	of        atomic.Pointer[map[string]*rate.Limiter] // of analysts, so that no name that somebody makes up takes memory
	others    *rate.Limiter
}

func newLimits(p *policy.Policy, what string, perMinute int) *limits {
	l := &limits{what: what, perMinute: perMinute}
	l.of.Store(&map[string]*rate.Limiter{})
	l.others = l.limiter()
	l.follow(p)
	return l
}

// follow takes the analysts of a policy. Who was there before has the limiter from before.
func (l *limits) follow(p *policy.Policy) {
	before, all := *l.of.Load(), map[string]*rate.Limiter{}
	for _, d := range p.Datasets {
		for name := range d.Analysts {
			if all[name] = before[name]; all[name] == nil {
				all[name] = l.limiter()
			}
		}
	}
	l.of.Store(&all)
}

func (l *limits) limiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(float64(l.perMinute)/60), max(l.perMinute/6, min(l.perMinute, 10)))
}

// nameOf is the name that an analyst is counted under. Those whom the policy does not know share
// one, which no analyst has.
func (l *limits) nameOf(analyst string) string {
	if (*l.of.Load())[analyst] == nil {
		return ""
	}
	return analyst
}

// wait counts something, as often as n says, and waits until it is no longer too early for it. Who
// would wait for more than patience is told how long it is, and is not counted. How long somebody
// waits follows from when they asked and from what that took to plan. Gone ends the wait.
func (l *limits) wait(ctx context.Context, analyst string, n int, patience time.Duration, gone <-chan struct{}) error {
	limiter := l.limiterOf(analyst)
	now := time.Now()
	r := limiter.ReserveN(now, min(n, limiter.Burst()))
	wait := r.DelayFrom(now)
	if wait <= 0 {
		return nil
	}
	if wait > patience {
		r.CancelAt(now)
		return &LimitError{fmt.Sprintf("this is more than %d %s a minute: free and refused ones count too, and a long or slow one counts "+
			"as several; nothing was charged", l.perMinute, l.what), wait}
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ErrWithdrawn
	case <-gone:
		return ErrEnding
	}
}

// add counts, afterwards, that something was worth n more, and no more than so many times what may
// come at once. The next one waits for that. With once, who asks one thing after another waits for
// 10 seconds at most, whatever each takes, and is not turned away.
func (l *limits) add(analyst string, n, times int) {
	limiter := l.limiterOf(analyst)
	now := time.Now()
	for n = min(n, times*limiter.Burst()-1); n > 0; n -= limiter.Burst() {
		limiter.ReserveN(now, min(n, limiter.Burst()))
	}
}

func (l *limits) limiterOf(analyst string) *rate.Limiter {
	if limiter := (*l.of.Load())[analyst]; limiter != nil {
		return limiter
	}
	return l.others
}
