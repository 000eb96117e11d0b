package releaseclock

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ask is a question of one run, which leaves on ticks of 100 ms.
func ask(s *Schedule, public time.Duration, do func(context.Context) error) error {
	p := New(func() {
		if past := time.Since(s.began()) % (100 * time.Millisecond); past > 0 {
			time.Sleep(100*time.Millisecond - past)
		}
	})
	p.SetSchedule(s, time.Hour, nil)
	err := Run(p.WithClock(context.Background()), public, do)
	p.Settle()
	return err
}

var begins sync.Map // by schedule, when it was made

func (s *Schedule) began() time.Time {
	at, _ := begins.Load(s)
	return at.(time.Time)
}

// busySchedule makes a schedule on a machine of whose processors a question gets a part.
func busySchedule(part float64) *Schedule {
	s := NewSchedule(nil)
	s.cores = 1
	begin := time.Now()
	begins.Store(s, begin)
	s.share = func() processorShare {
		since := float64(time.Since(begin))
		return processorShare{worked: part * since, waited: (1 - part) * since}
	}
	s.used = func() time.Duration { return time.Since(begin) }
	return s
}

// workFor is work that gets a part of the machine.
func workFor(d ...time.Duration) func(context.Context) error {
	run := 0
	return func(ctx context.Context) error {
		run++
		select {
		case <-time.After(d[min(run, len(d))-1]):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// A question that has worked for its public time and is not done runs once more, alone, and where
// that is not enough either it has failed. What was delayed by others has not. Either way it leaves
// at a doubling of its time.
func TestLate(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		part float64
		do   func(context.Context) error
		late bool
		left time.Duration
	}{
		"in time":                 {1, workFor(second - 1), false, second},
		"busy, in time":           {0.1, workFor(second - 1), false, second},
		"in the way of others":    {1, workFor(3*second/2, second/2), false, 2 * second},
		"too long":                {1, workFor(3*second/2, 3*second/2), true, 2 * second},
		"far too long":            {1, workFor(time.Hour), true, 2 * second},
		"on a busy machine":       {0.25, workFor(3*second + second/2), false, 4 * second},
		"too long, on a busy one": {0.25, workFor(5 * second), true, 8 * second},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(c.part)
			err := ask(s, second, c.do)
			if late := errors.Is(err, ErrLate); late != c.late || !late && err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if left := time.Since(s.began()); left != c.left {
				t.Errorf("%s: it left after %v, and not after %v", name, left, c.left)
			}
		})
	}
}

// A short question has not failed by a pause of the machine, and has by what it does.
func TestPause(t *testing.T) {
	const pauses = time.Second
	for name, c := range map[string]struct {
		public time.Duration
		do     func(context.Context) error
		late   bool
	}{
		"a pause":       {10 * time.Millisecond, workFor(pauses, pauses, 9*time.Millisecond), false},
		"work":          {10 * time.Millisecond, workFor(11 * time.Millisecond), true},
		"a long one":    {time.Second, workFor(2*pauses, 2*pauses, time.Millisecond), true},
		"a long pause":  {10 * time.Millisecond, workFor(pauses, pauses, pauses, pauses, 1), true},
		"no pause then": {10 * time.Millisecond, workFor(pauses, 9*time.Millisecond), false},
	} {
		synctest.Test(t, func(t *testing.T) {
			if err := ask(busySchedule(1), c.public, c.do); errors.Is(err, ErrLate) != c.late {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Somebody's question that works for too long delays what runs beside it, and makes none of it
// fail.
func TestLateBesideOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(1)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 700 * time.Millisecond)
				work := workFor(700 * time.Millisecond)
				if i == 0 {
					work = workFor(time.Hour)
				}
				if err := ask(s, time.Second, work); errors.Is(err, ErrLate) != (i == 0) {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		all.Wait()
	})
}

// When public times are over is what sharing the machine in equal parts gives, whatever questions
// do with theirs.
func TestShared(t *testing.T) {
	for seed := range uint64(50) {
		var first []time.Duration
		for _, part := range []float64{0, 0.3, 0.99} {
			r := rand.New(rand.NewPCG(seed, 0))
			n := 2 + r.IntN(6)
			left := make([]time.Duration, n)
			synctest.Test(t, func(t *testing.T) {
				s := busySchedule(1)
				var all sync.WaitGroup
				sum, last := time.Duration(0), time.Duration(0)
				for i := range n {
					arrives := time.Duration(r.IntN(2000)) * time.Millisecond
					public := time.Duration(1+r.IntN(2000)) * time.Millisecond
					sum, last = sum+public, max(last, arrives)
					all.Go(func() {
						time.Sleep(arrives)
						if err := ask(s, public, workFor(time.Duration(part*float64(public)))); err != nil {
							t.Error(err)
						}
						left[i] = time.Since(s.began())
						if left[i] < arrives+public {
							t.Errorf("seed %d: it left before its public time", seed)
						}
					})
				}
				all.Wait()
				if left := time.Since(s.began()); left > last+sum+100*time.Millisecond {
					t.Errorf("seed %d: the last one left after %v, and all together take %v", seed, left, sum)
				}
			})
			if first == nil {
				first = left
			}
			for i := range left {
				if left[i] != first[i] {
					t.Errorf("seed %d: question %d left after %v or %v", seed, i, first[i], left[i])
				}
			}
		}
	}
}

// What waits, for a lock or a disk, works for a quarter of that: it is late, and has failed where
// it waits for far longer than its public time.
func TestWaits(t *testing.T) {
	for waits, late := range map[time.Duration]bool{3 * time.Second: false, 7 * time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			s.used = func() time.Duration { return time.Since(s.began()) / 100 }
			err := ask(s, time.Second, workFor(waits))
			if left := time.Since(s.began()); errors.Is(err, ErrLate) != late || !late && left != 4*time.Second {
				t.Error(waits, err, left)
			}
		})
	}
}

// What was stopped because it had worked for too long was stopped, whatever is found out about how
// long it worked afterwards: how busy the machine is changes, and so does what is made of it. Else
// a busy machine makes a failure of a question that only has to run again.
func TestStoppedStaysStopped(t *testing.T) {
	for _, when := range []string{"over", "held"} {
		over, hold := make(chan struct{}), make(chan struct{})
		map[string]func(){"over": func() { close(over) }, "held": func() { close(hold) }}[when]()
		ctx, stop := context.WithCancelCause(t.Context())
		looks := 0
		late := func() bool {
			looks++
			return looks == 1
		}
		err, stopped := stopWhen(ctx, stop, over, hold, time.Millisecond, late, func(ctx context.Context) error {
			<-ctx.Done()
			if when == "held" {
				close(over) // it is over meanwhile
			}
			return ctx.Err()
		})
		if err == nil || !stopped {
			t.Errorf("%s: %v, %v", when, err, stopped)
		}
	}
}

// On a machine that is so busy that even a timer comes too late, nothing is known about the part
// that a question got, and it has not worked all the time.
func TestWatchedTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(0.25)
		w := s.watchWork(time.Second)
		w.end() // the timer comes after the first look
		time.Sleep(2 * time.Second)
		if w.workedInFull() {
			t.Error("after 2 s, of which it got a quarter, it has worked for 1 s")
		}
		time.Sleep(500 * time.Millisecond)
		if w.workedInFull() {
			t.Error("after 2.5 s too")
		}
		time.Sleep(1500 * time.Millisecond)
		if !w.workedInFull() {
			t.Error("after 4 s it has not")
		}
	})
}

// Where goroutines wait for each other a question is taken to wait with them, and to have worked
// for a quarter of its time all the same.
func TestQueued(t *testing.T) {
	for _, c := range []struct{ queued, late float64 }{{0, 1}, {0.5, 1.5}, {1, 2}, {100, 4}} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			begin := time.Now()
			s.share = func() processorShare {
				since := float64(time.Since(begin))
				return processorShare{worked: since, queued: c.queued * since}
			}
			w := s.watchWork(time.Second)
			defer w.end()
			time.Sleep(time.Duration(c.late*float64(time.Second)) - time.Millisecond)
			if w.workedInFull() {
				t.Errorf("%v: it has worked too early", c)
			}
			time.Sleep(2 * time.Millisecond)
			if !w.workedInFull() {
				t.Errorf("%v: it has not worked", c)
			}
		})
	}
}

// Goroutines that have no thread are seen to wait.
func TestReadQueued(t *testing.T) {
	if readShare().worked == 0 {
		t.Skip("nobody knows it here")
	}
	before := readShare()
	var all sync.WaitGroup
	for range 8 * runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for begin := time.Now(); time.Since(begin) < 50*time.Millisecond; {
				runtime.Gosched()
			}
		})
	}
	all.Wait()
	after := readShare()
	if after.queued-before.queued < float64(50*time.Millisecond) {
		t.Errorf("%v waited", time.Duration(after.queued-before.queued))
	}
}

// Who runs alone waits for those who work on private data, and not for those who work on what is
// public: their time can be long, and everybody stands still meanwhile.
func TestAloneBesidePublic(t *testing.T) {
	for _, c := range []struct{ private, most time.Duration }{{0, 4 * time.Second}, {10 * time.Second, 20 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			j := &job{}
			s.open(j)
			s.close(j, 10*time.Second, c.private)
			p := New(func() {})
			p.SetSchedule(s, time.Hour, nil)
			begin := time.Now()
			if err := Run(p.WithClock(t.Context()), time.Second, workFor(time.Minute, time.Second/2)); err != nil {
				t.Error(err)
			}
			took := time.Since(begin)
			if took > c.most && c.private == 0 || took < c.most && c.private > 0 {
				t.Errorf("beside %v of private work it took %v", c.private, took)
			}
			<-j.over
		})
	}
}

// runLooks is a question of several looks, one after the other, and when it left.
func runLooks(t *testing.T, looks ...func(context.Context) error) (left time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		s := busySchedule(0.1) // what is late was delayed by others, and goes on
		p := New(func() {})
		p.SetSchedule(s, time.Hour, nil)
		for _, look := range looks {
			if err := look(p.WithClock(context.Background())); err != nil {
				t.Error(err)
			}
		}
		p.Settle()
		left = time.Since(s.began())
	})
	return left
}

func run(public, takes time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		return Run(ctx, public, func(context.Context) error {
			time.Sleep(takes)
			return nil
		})
	}
}

// A question that looks several times leaves when the times of all its looks are over, and where
// one of them was late, at a doubling of what was over first: not when it happens to be done.
func TestSeveralLooks(t *testing.T) {
	memory := func(ctx context.Context) error {
		BeginPrivateWork(ctx)
		return nil
	}
	const second = time.Second
	for name, c := range map[string]struct {
		left  time.Duration
		looks []func(context.Context) error
	}{
		"two runs":                  {3 * second, []func(context.Context) error{run(second, 1), run(2*second, 1)}},
		"memory first":              {2 * second, []func(context.Context) error{memory, run(2*second, 1)}},
		"memory last":               {2 * second, []func(context.Context) error{run(2*second, 1), memory}},
		"a late run, and memory":    {4 * second, []func(context.Context) error{run(second, 2*second+1), memory}},
		"a later run, and memory":   {4 * second, []func(context.Context) error{run(second, 3*second+1), memory}},
		"a late run, and one more":  {8 * second, []func(context.Context) error{run(second, 3*second/2), run(5*second, 1)}},
		"a late run, and a longer":  {8 * second, []func(context.Context) error{run(second, 3*second/2), run(5*second, 4*second)}},
		"two late runs":             {8 * second, []func(context.Context) error{run(second, 3*second/2), run(second, 4*second)}},
		"late, memory and one more": {8 * second, []func(context.Context) error{run(second, 3*second/2), memory, run(5*second, 1)}},
	} {
		if left := runLooks(t, c.looks...); left != c.left {
			t.Errorf("%s: it left after %v, and not after %v", name, left, c.left)
		}
	}
}

// A public time beyond all measure is nobody else's harm.
func TestBeyondMeasure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		s := NewSchedule(ended)
		s.share = func() processorShare { return processorShare{} }
		s.used = func() time.Duration { return time.Since(s.began()) }
		begins.Store(s, time.Now())
		for range 8 {
			p := New(func() {})
			p.SetSchedule(s, time.Hour, nil)
			for range 8 {
				AddPublicTime(p.WithClock(context.Background()), math.MaxInt64/2)
			}
			go p.Settle()
		}
		began := time.Now()
		if err := ask(s, time.Second, workFor(1)); err != nil && !errors.Is(err, ErrLate) {
			t.Error(err)
		}
		if took := time.Since(began); took != 9*time.Second {
			t.Errorf("it took %v", took)
		}
		close(ended)
	})
}

// While somebody waits to run alone nobody's time goes on, and it does not tell how long others
// work who are waited for.
func TestHeldForPublicTime(t *testing.T) {
	const second = time.Second
	var left []time.Duration
	for _, private := range []time.Duration{second, 4 * second, 9 * second} {
		synctest.Test(t, func(t *testing.T) {
			s := busySchedule(1)
			var all sync.WaitGroup
			all.Go(func() { ask(s, 10*second, workFor(private)) })
			all.Go(func() { ask(s, second, workFor(time.Minute, 1)) }) // it is late, and then it is not
			all.Go(func() {
				ask(s, 20*second, workFor(1))
				left = append(left, time.Since(s.began()))
			})
			all.Wait()
		})
	}
	if left[0] != left[1] || left[0] != left[2] {
		t.Errorf("beside others who work for longer it left after %v", left)
	}
}

// What was stopped because it was late is late, also where it got done and the machine has become
// so busy since that its work would count for less.
func TestLateOnce(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	over, asked := make(chan struct{}), 0
	close(over)
	late := func() bool { asked++; return asked == 1 }
	err, stopped := stopWhen(ctx, stop, over, nil, time.Millisecond, late, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
	if err != nil || !stopped {
		t.Errorf("%v, stopped %v", err, stopped)
	}
}
