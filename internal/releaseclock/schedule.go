package releaseclock

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Schedule says when the public times of questions are over. Those that run at once share the
// machine as a fair one shares it between threads: a question has one on every processor, and work
// on what is public has one. While there are n questions and nothing else, each gets one second of
// its public time in n seconds. That is computed, and nothing in it is measured on who runs: a
// question that is done early keeps its part until its time is over, so nobody notices that it was.
//
// Questions that take no longer than their public times are done by then in any order in which a
// fair machine works at them. One that is not done was delayed by something that is not on the
// schedule, and then it goes on, or it has worked for longer: then it runs once more, alone.
type Schedule struct {
	ended <-chan struct{} // closed when the server ends and waits no longer
	cores int
	share func() processorShare
	used  func() time.Duration // what processors have worked for this process

	mu     sync.Mutex
	free   *sync.Cond    // signalled when somebody has run
	runs   int           // how many run beside each other
	single bool          // somebody runs alone
	jobs   []*job        // whose time is not over
	served time.Duration // what each job that was always there has had of its time
	now    time.Time     // up to which served is known
	held   int           // how many run alone, or wait to: time stands still for all others
	hold   chan struct{} // closed while that is so
	rested time.Time     // when all were done that ran when it began, by public times
	timer  *time.Timer   // for the first job that is over
}

// job is a question on a schedule, from when it looks at data until that has settled.
type job struct {
	began time.Time
	open  bool          // it works on what is public, and nobody knows for how long
	looks bool          // it has private data to work on, or had
	start time.Duration // what was served when it was opened
	ends  time.Duration // when so much was served
	light span          // of what is served, in which it has one thread: what takes longer than usual to plan
	whole chan struct{} // closed when it has a thread on every processor again; nil where it has now
	over  chan struct{} // closed when the time is over; nil before the job has any work
	at    time.Time     // when that was; zero where it is still to come
	// first is how long the time was that was over first, where the job had more to do after that:
	// it was late, and leaves at a doubling of this.
	first time.Duration
}

// span is from one moment on and up to another.
type span struct{ from, to time.Duration }

// threads is how many a job has, on so many processors and when so much was served. It changes when
// something was served, and not when work begins or ends, which would be seen by all others.
func (j *job) threads(cores int, served time.Duration) int {
	if j.light.from <= served && served < j.light.to {
		return 1
	}
	return cores
}

// maxJobTime is the longest time that a job is given at once. A schedule of many such, and of some
// that have several, is within what a time.Duration holds.
const maxJobTime = 366 * 24 * time.Hour

// NewSchedule returns an empty schedule. Nobody waits for it any more when ended is closed.
func NewSchedule(ended <-chan struct{}) *Schedule {
	s := &Schedule{ended: ended, cores: runtime.GOMAXPROCS(0), share: readShare, used: readUsed, now: time.Now(), hold: make(chan struct{})}
	s.free = sync.NewCond(&s.mu)
	return s
}

// add gives a job more to do, and returns what is closed when its time is over. When it is added
// does not matter as long as the time of the job is not over, because its part of the machine is
// the same. Where it is over the job was late. What takes no time does not move when it was over:
// that would be the moment at which the work happened to be done.
func (s *Schedule) add(j *job, takes time.Duration) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	if j.began.IsZero() {
		j.began = s.now
	}
	takes = clampJobTime(takes)
	j.looks = j.looks || takes > 0
	switch {
	case slices.Contains(s.jobs, j):
		j.ends = min(j.ends+takes, s.served+maxJobTime)
	case takes > 0 || j.over == nil:
		if j.first == 0 && !j.at.IsZero() {
			j.first = j.at.Sub(j.began)
		}
		j.ends, j.light, j.over, j.at = s.served+takes, span{}, make(chan struct{}), time.Time{}
		s.jobs = append(s.jobs, j)
	}
	s.advance()
	return j.over
}

// open gives a job its part of the machine until it is closed.
func (s *Schedule) open(j *job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	j.began, j.open, j.start, j.ends, j.over = s.now, true, s.served, math.MaxInt64, make(chan struct{})
	j.light = span{s.served + usualPlain, math.MaxInt64}
	s.jobs = append(s.jobs, j)
	s.advance()
}

// close ends the work of an open job on what is public, for which a processor worked for so
// long, and gives it so much more to do. It returns for how long the first is on the schedule: more
// than that, and at least as much as it was given already.
func (s *Schedule) close(j *job, worked, more time.Duration) (plain time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance()
	plain = plainTime(worked, s.served-j.start)
	j.looks = j.looks || more > 0
	j.open, j.ends = false, max(j.start+plain+clampJobTime(more), s.served)
	if j.light.to = max(j.light.from, j.start+plain); j.light.to > max(j.light.from, s.served) {
		j.whole = make(chan struct{})
	}
	if plain+more == 0 {
		j.began = s.now // it has taken no time yet
	}
	s.advance()
	return plain
}

func clampJobTime(takes time.Duration) time.Duration { return max(0, min(takes, maxJobTime)) }

// nextChange is how much is served when the jobs change: when the time of one is over, or it has
// another number of threads.
func (s *Schedule) nextChange() time.Duration {
	next := time.Duration(math.MaxInt64)
	for _, j := range s.jobs {
		for _, at := range []time.Duration{j.light.from, j.light.to} {
			if at > s.served {
				next = min(next, at)
			}
		}
		next = min(next, j.ends)
	}
	return next
}

// parts are what the time of the machine is divided by, of which all that goes on has as many as
// there are processors.
func (s *Schedule) parts() time.Duration {
	threads := 0
	for _, j := range s.jobs {
		threads += j.threads(s.cores, s.served)
	}
	return time.Duration(max(s.cores, threads))
}

// timeUntil is how long it takes until so much is served, if the jobs stay as they are.
func (s *Schedule) timeUntil(served time.Duration) time.Duration {
	cores, parts := time.Duration(s.cores), s.parts()
	each := (served - s.served) / cores
	if each*cores < served-s.served {
		each++
	}
	return min(each, math.MaxInt64/4/parts) * parts
}

// privateTimeLeft is how long it takes until all are done that work on private data and whose
// public time is not over, if nobody comes. What others do nobody has to wait for: it is public.
// The lock is held.
func (s *Schedule) privateTimeLeft() (sum time.Duration) {
	for _, j := range s.jobs {
		if j.looks && !j.open {
			sum = min(sum+max(0, j.ends-s.served), maxJobTime)
		}
	}
	return sum
}

// advance moves the schedule to the present, and sets the timer for what comes next. What does not
// make a whole nanosecond of each job's time is left for the next call: how often there was one
// must not be seen. The lock is held.
func (s *Schedule) advance() {
	now := time.Now()
	for len(s.jobs) > 0 && s.held == 0 {
		next := s.nextChange()
		until := s.now.Add(s.timeUntil(next))
		if until.After(now) {
			parts := s.parts()
			each := now.Sub(s.now) / parts
			s.served, s.now = s.served+each*time.Duration(s.cores), s.now.Add(each*parts)
			break
		}
		s.served, s.now = max(s.served, next), until
		for _, j := range s.jobs {
			if j.whole != nil && j.light.to <= s.served {
				close(j.whole)
				j.whole = nil
			}
		}
		s.jobs = slices.DeleteFunc(s.jobs, func(j *job) bool {
			if j.ends > s.served {
				return false
			}
			j.at = until
			close(j.over)
			return true
		})
	}
	if len(s.jobs) == 0 || s.held > 0 {
		s.now = now
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	if len(s.jobs) > 0 && s.held == 0 {
		s.timer = time.AfterFunc(s.now.Add(s.timeUntil(s.nextChange())).Sub(now), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.advance()
		})
	}
}

// wait waits until the time of a job is over, and where it is over already, until the next doubling
// of it: how much too long it took is told in few steps.
func (s *Schedule) wait(j *job) {
	s.mu.Lock()
	s.advance()
	over, took := j.over, j.first
	if took == 0 && !j.at.IsZero() {
		took = j.at.Sub(j.began)
	}
	s.mu.Unlock()
	select {
	case <-over:
	case <-s.ended:
		return
	}
	if took <= 0 { // it is in time, or takes none
		return
	}
	next, since := took, time.Since(j.began)
	for next < since {
		next *= 2
	}
	s.sleep(next - since)
}

func (s *Schedule) sleep(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ended:
	}
}

// runBeside runs the work of a job beside others, until its time is over and it has worked for as
// long as it takes at most. Stopped says that it worked for longer.
//
// It begins when the schedule has given all of its time to what was planned before, which is more
// than that took. Until then the job has one thread there, and work on all processors would take
// from others what is theirs, for as long as it takes.
func (s *Schedule) runBeside(
	ctx context.Context, j *job, over <-chan struct{}, takes time.Duration, do func(context.Context) error,
) (err error, stopped bool) {
	s.mu.Lock()
	if whole := j.whole; whole != nil {
		s.mu.Unlock()
		select {
		case <-whole:
		case <-s.ended:
		}
		s.mu.Lock()
	}
	for s.held > 0 {
		s.free.Wait()
	}
	s.runs++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.runs--
		s.free.Broadcast()
	}()
	return s.runUntil(ctx, over, takes, do)
}

// runAlone runs something for as long as it takes at most, with the machine to itself. Nobody
// else's time goes on meanwhile. It lasts that long whether the work does or not, and those who run
// are waited for as long as they may: else others would see by how much their own time stood still
// how long these worked.
func (s *Schedule) runAlone(ctx context.Context, takes time.Duration, do func(context.Context) error) error {
	s.mu.Lock()
	s.advance()
	if s.held++; s.held == 1 {
		close(s.hold)
		s.rested = s.now.Add(s.privateTimeLeft())
	}
	s.advance()
	for s.runs > 0 || s.single {
		s.free.Wait()
	}
	s.single = true
	rested := s.rested
	s.mu.Unlock()
	s.sleep(time.Until(rested))
	over := make(chan struct{})
	timer := time.AfterFunc(takes, func() { close(over) })
	defer func() {
		select { // also where there was a panic
		case <-over:
		case <-s.ended:
		}
		timer.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.single = false
		s.advance()
		if s.held--; s.held == 0 {
			s.hold = make(chan struct{})
		}
		s.advance()
		s.free.Broadcast()
	}()
	err, stopped := s.runUntil(ctx, over, takes, do)
	if stopped {
		return ErrLate
	}
	return err
}

// runUntil runs something that nobody stops, until its time is over, or stands still, and it has
// worked for as long as it takes at most. What gets done after that, before it is stopped, has
// worked for longer too.
func (s *Schedule) runUntil(
	ctx context.Context, over <-chan struct{}, takes time.Duration, do func(context.Context) error,
) (err error, stopped bool) {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	worked := s.watchWork(takes)
	defer worked.end()
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	return stopWhen(ctx, stop, over, hold, takes/20, worked.workedInFull, do)
}

// stopWhen runs something until a time is over, or held, and, after that, a condition holds, which
// is looked at now and then and once more at the end. Stopped says that it does.
func stopWhen(
	ctx context.Context, stop context.CancelCauseFunc, over, hold <-chan struct{}, often time.Duration, late func() bool,
	do func(context.Context) error,
) (err error, stopped bool) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-over:
		case <-hold: // nobody's time goes on, and somebody waits for this to end
		case <-ended:
			return
		}
		for !late() {
			select {
			case <-time.After(max(often, time.Millisecond)):
			case <-ended:
				return
			}
		}
		stop(ErrLate)
	}()
	err = do(ctx)
	close(ended)
	if context.Cause(ctx) == ErrLate {
		return err, true // whatever late says by now: how busy the machine was changes
	}
	select {
	case <-over:
		return err, late()
	default:
		return err, false
	}
}

// workWatch is how long something has worked: the time that it had, times the part of the
// processors that it could have used and got. What is found out about that part is about all
// threads of the process, of which those of the engine are some, and which get alike. Nothing has
// worked for longer than all of the process has: what was spent waiting for a lock or a disk counts
// for a quarter of that, or a question that one row makes wait would tell so as often as anybody
// likes. What goroutines wait for each other the system does not see. Where others make the process
// busy, by handshakes and passwords, a question waits with them; but nobody knows whether it does,
// so that, too, makes of its time no less than a quarter.
type workWatch struct {
	takes time.Duration
	share func() processorShare
	used  func() time.Duration
	began time.Time
	had   time.Duration // used then
	timer *time.Timer

	mu      sync.Mutex
	before  processorShare // when half of the time was over, which most work does not see
	watched time.Time      // when that was read; zero before
}

// processorShare is for how long all threads of the process have worked, for how long they could
// have worked and had no processor, and for how long goroutines could have and had no thread, in
// nanoseconds.
type processorShare struct{ worked, waited, queued float64 }

func (s *Schedule) watchWork(takes time.Duration) *workWatch {
	w := &workWatch{takes: takes, share: s.share, used: s.used, began: time.Now(), had: s.used()}
	w.timer = time.AfterFunc(takes/2, func() { w.watch(w.share()) })
	return w
}

// watch notes what the threads had before, once.
func (w *workWatch) watch(now processorShare) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched.IsZero() {
		w.before, w.watched = now, time.Now()
	}
}

func (w *workWatch) end() { w.timer.Stop() }

// workedInFull reports whether it has worked for as long as it takes at most. It has not before its
// part of the processors was watched for half as long: on a machine so busy that even a timer comes
// too late, all of the time would be taken for work.
func (w *workWatch) workedInFull() bool {
	takes, least := w.takes, 0.25
	if w.used()-w.had < takes {
		takes, least = 4*min(takes, maxJobTime), 1
	}
	now := w.share()
	w.watch(now)
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.watched) < w.takes/2 {
		return false
	}
	part := 1.0
	if got := now.worked - w.before.worked; got > 0 {
		lacked := got + max(0, now.waited-w.before.waited)
		part = max(least*got/lacked, got/(lacked+max(0, now.queued-w.before.queued)))
	}
	return time.Duration(part*float64(time.Since(w.began))) >= takes
}
