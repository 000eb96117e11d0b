package releaseclock

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// burn keeps a processor busy for so long, which a test's clock does not notice.
func burn(d time.Duration) {
	for t, x := thisThread(), 0; t.worked() < d; x++ {
	}
}

// plain is a question that works on what is public, for real, and looks at nothing private.
func plain(s *Schedule, work func()) time.Duration {
	began := time.Now()
	p := New(func() {})
	p.SetSchedule(s, time.Hour, nil)
	p.Begin()
	defer p.End()
	work()
	p.Leave()
	return time.Since(began)
}

// What comes of work on what is public leaves when more than its processor time is over on the
// schedule, in few steps, and is not seen to wait for a question beside it.
func TestPlainWork(t *testing.T) {
	for _, beside := range []time.Duration{0, time.Millisecond, 900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			var all sync.WaitGroup
			parts := time.Duration(1)
			if beside > 0 {
				all.Go(func() { ask(s, time.Second, workFor(beside)) })
				parts = 2
			}
			synctest.Wait()
			var worked time.Duration
			left := plain(s, func() {
				before := thisThread().worked()
				burn(before + 30*time.Millisecond)
				worked = thisThread().worked() - before
			})
			steps := left / parts
			if steps != 64*time.Millisecond && steps != 128*time.Millisecond || steps < worked+worked/2 {
				t.Errorf("beside %v, %v of work left after %v", beside, worked, left)
			}
			if left := plain(s, func() {}); left != 0 {
				t.Errorf("what takes no time left after %v", left)
			}
			all.Wait()
		})
	}
}

// The same for what is no question: beside one that works, and beside one that is done and keeps
// its part, it leaves at the same time.
func TestPacedBeside(t *testing.T) {
	for _, beside := range []time.Duration{time.Millisecond, 900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			var all sync.WaitGroup
			all.Go(func() { ask(s, time.Second, workFor(beside)) })
			synctest.Wait()
			began := time.Now()
			worked, err := s.Beside(t.Context(), true, func(context.Context) error {
				burn(thisThread().worked() + 30*time.Millisecond)
				return nil
			})
			left := time.Since(began)
			if steps := left / 2; err != nil || steps != 64*time.Millisecond && steps != 128*time.Millisecond || steps < worked+worked/2 {
				t.Errorf("beside %v, %v of work left after %v, %v", beside, worked, left, err)
			}
			began = time.Now()
			if _, err := s.Beside(t.Context(), true, func(context.Context) error { return nil }); err != nil || time.Since(began) != 0 {
				t.Errorf("what takes no time left after %v, %v", time.Since(began), err)
			}
			all.Wait()
		})
	}
}

// keepBusy begins some work on what is public, which goes on for a minute.
func keepBusy(t *testing.T, s *Schedule, all *sync.WaitGroup, many int) {
	t.Helper()
	for range many {
		all.Go(func() {
			s.Beside(t.Context(), false, func(context.Context) error {
				time.Sleep(time.Minute)
				return nil
			})
		})
	}
	synctest.Wait()
}

// A question has its public time although others work on what is public beside it, and they do not
// make it late: they have their part of the machine.
func TestBesidePlainWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(0.5)
		var all sync.WaitGroup
		keepBusy(t, s, &all, 3)
		began := time.Now()
		if err := ask(s, time.Second, workFor(3900*time.Millisecond)); err != nil || time.Since(began) != 4*time.Second {
			t.Error(err, time.Since(began))
		}
		all.Wait()
	})
}

// Work on what is public has one thread, so on four processors four of them take half of the
// machine from a question, once they take longer than planning usually does.
func TestThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(0.5)
		s.cores = 4
		var all sync.WaitGroup
		keepBusy(t, s, &all, 4)
		began := time.Now()
		if err := ask(s, time.Second, workFor(time.Second)); err != nil || time.Since(began) != 2100*time.Millisecond {
			t.Error(err, time.Since(began))
		}
		all.Wait()
	})
}

// When times are over depends on when jobs came and on what they take, and not on how often
// somebody looked, nor on when those who plan were done within a step.
func TestLookedAt(t *testing.T) {
	for seed := range uint64(20) {
		var first []time.Duration
		for variant := range 3 {
			r := rand.New(rand.NewPCG(seed, 0))
			left := make([]time.Duration, 8)
			synctest.Test(t, func(t *testing.T) {
				s := busySchedule(1)
				s.cores = 3
				ended := make(chan struct{})
				if variant > 0 {
					go func() {
						for {
							select {
							case <-time.After(time.Duration(1+variant*7919) * time.Microsecond / 3):
							case <-ended:
								return
							}
							s.mu.Lock()
							s.advance()
							s.mu.Unlock()
						}
					}()
				}
				var all sync.WaitGroup
				for i := range left {
					comes, works := time.Duration(r.IntN(1e9)), time.Duration(r.IntN(2))*time.Duration(10+r.IntN(50))*time.Millisecond
					takes := time.Duration(r.IntN(2)) * time.Duration(r.IntN(1e9))
					all.Go(func() {
						time.Sleep(comes)
						j := &job{}
						s.open(j)
						time.Sleep(works * time.Duration(variant) / 10) // within its step
						s.close(j, works, takes)
						if works+takes > 0 {
							<-j.over
						}
						left[i] = time.Since(s.began())
					})
				}
				all.Wait()
				close(ended)
			})
			if first == nil {
				first = left
			}
			for i := range left {
				if left[i] != first[i] {
					t.Errorf("seed %d: job %d was over after %v or %v", seed, i, first[i], left[i])
				}
			}
		}
	}
}

// Planning is a part of the time of a question that then looks at data.
func TestPlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(1)
		began := time.Now()
		p := New(func() {})
		p.SetSchedule(s, time.Hour, nil)
		p.Begin()
		burn(thisThread().worked() + 30*time.Millisecond)
		if err := Run(p.WithClock(t.Context()), time.Second, workFor(time.Millisecond)); err != nil {
			t.Error(err)
		}
		p.Leave()
		p.End()
		if left := time.Since(began) - time.Second; left != 64*time.Millisecond && left != 128*time.Millisecond {
			t.Errorf("it left %v after its public time", left)
		}
	})
}

// What looks at data on all processors begins when the schedule is done with what was planned on
// one: others have the rest of the machine until then. It leaves as early as if it had begun
// before.
func TestBeginsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(1)
		s.cores = 4
		began := time.Now()
		p := New(func() {})
		p.SetSchedule(s, time.Hour, nil)
		p.Begin()
		burn(thisThread().worked() + 30*time.Millisecond)
		var first time.Duration
		if err := Run(p.WithClock(t.Context()), time.Second, func(ctx context.Context) error {
			first = time.Since(began)
			return workFor(900 * time.Millisecond)(ctx)
		}); err != nil {
			t.Error(err)
		}
		p.Leave()
		p.End()
		if left := time.Since(began) - time.Second; first < 64*time.Millisecond || first != left {
			t.Errorf("it began after %v, and left %v after its public time", first, left)
		}
	})
}

// A question that waits for the machine does not wait for ever for one that works for too long: the
// time of that one stands still, but it is stopped when it has worked enough.
func TestStoppedForOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(1)
		var all sync.WaitGroup
		all.Go(func() {
			if err := ask(s, 10*time.Second, workFor(time.Hour)); !errors.Is(err, ErrLate) {
				t.Error(err)
			}
		})
		all.Go(func() {
			if err := ask(s, time.Second, workFor(time.Minute, time.Millisecond)); err != nil {
				t.Error(err)
			}
		})
		all.Wait()
		if left := time.Since(s.began()); left > time.Minute {
			t.Errorf("they left after %v", left)
		}
	})
}

// What panics when it has the machine to itself keeps it for as long as what does not.
func TestPanicAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(1)
		defer func() {
			if recover() == nil || time.Since(s.began()) != time.Second {
				t.Errorf("others wait for %v", time.Since(s.began()))
			}
		}()
		s.runAlone(t.Context(), time.Second, func(context.Context) error { panic("it") })
	})
}
