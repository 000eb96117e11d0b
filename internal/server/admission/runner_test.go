package admission

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/ledger"
)

func TestEnds(t *testing.T) {
	hour := func(ctx context.Context) error { return work(ctx, time.Hour) }
	refusal, budget := &api.Refusal{Reason: "no"}, &ledger.BudgetError{Account: "ana"}
	broken, dispute := errors.New("the disk is full"), &api.Disagreement{Detail: "field 7 of a row that has 6"}
	brokenLedger := &ledger.WriteError{Path: "h.ledger", Broken: true, Err: &ledger.CorruptError{Path: "h.ledger", Where: "record 12"}}
	files := &api.DataError{Err: errors.New("there is no file p.csv")}
	for name, c := range map[string]struct {
		work     func(context.Context) error
		patience time.Duration
		want     error
		outcome  outcome
	}{
		"answer":                   {func(context.Context) error { return nil }, time.Hour, nil, answered},
		"timeout":                  {hour, time.Hour, ErrTimeout, timeout},
		"canceled":                 {hour, time.Second, ErrCanceled, canceled},
		"withdrawn":                {hour, 0, ErrWithdrawn, withdrawn},
		"answer after the timeout": {func(ctx context.Context) error { hour(ctx); return nil }, time.Hour, nil, answered},
		"answer after the cancel":  {func(ctx context.Context) error { hour(ctx); return nil }, time.Second, nil, answered},
		"failure":                  {func(context.Context) error { return broken }, time.Hour, broken, failed},
		"broken ledger":            {func(context.Context) error { return brokenLedger }, time.Hour, brokenLedger, failed},
		"data":                     {func(context.Context) error { return files }, time.Hour, files, failed},
		"refusal":                  {func(context.Context) error { return refusal }, time.Hour, refusal, refused},
		"refusal after the cancel": {func(ctx context.Context) error { hour(ctx); return refusal }, time.Second, refusal, refused},
		"dispute":                  {func(context.Context) error { return dispute }, time.Hour, dispute, disputed},
		"dispute after the cancel": {func(ctx context.Context) error { hour(ctx); return dispute }, time.Second, dispute, disputed},
		"budget":                   {func(context.Context) error { return budget }, time.Hour, budget, exhausted},
		"budget after the timeout": {func(ctx context.Context) error { hour(ctx); return budget }, time.Hour, budget, exhausted},
		"panic":                    {func(context.Context) error { panic("secret 4711") }, time.Hour, ErrInternal, internal},
		"panic after the timeout":  {func(ctx context.Context) error { hour(ctx); panic(ctx) }, time.Hour, ErrInternal, internal},
		"runtime panic": {func(context.Context) error {
			var secret any = "4711"
			return secret.(error)
		}, time.Hour, ErrInternal, internal},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
					return paidFor(), c.work(ctx) // an answer beside an error, to see that it does not get out
				}}, Options{Timeout: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil))})
				ctx, stop := context.WithTimeout(t.Context(), c.patience)
				defer stop()
				a, err := d.Ask(ctx, from("ana"))
				if !errors.Is(err, c.want) || (a == nil) != (err != nil) {
					t.Errorf("got %v, %v; want %v", a, err, c.want)
				}
				if !strings.Contains(log.String(), " outcome="+string(c.outcome)+" ") || strings.Contains(log.String(), "4711") {
					t.Errorf("the log is %s", &log)
				}
				owners := c.outcome == internal || c.outcome == disputed || c.want == brokenLedger || c.want == files
				if strings.Contains(log.String(), `level=ERROR`) != owners ||
					strings.Contains(log.String(), `difference="field 7 of a row that has 6"`) != (c.outcome == disputed) ||
					strings.Contains(log.String(), `ledger="the ledger h.ledger is damaged: record 12. `) != (c.want == brokenLedger) ||
					strings.Contains(log.String(), `data="there is no file p.csv"`) != (c.want == files) {
					t.Errorf("the log is %s", &log)
				}
				if n := d.Stats().Disputed; (n == 1) != (c.outcome == disputed) {
					t.Errorf("%d are counted as disputed", n)
				}
				if d.Stopped() != (c.want == brokenLedger) {
					t.Errorf("the ledger has stopped: %v", d.Stopped())
				}
				quiet(t, d)
			})
		})
	}
}

// What is stopped and charges nothing is told so, and speaks of no answer that is kept; what is
// asked of a session speaks of what that has cost.
func TestEndsByKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), fake{
			ask: func(ctx context.Context, q api.Question) (*api.Answer, error) { return nil, work(ctx, time.Hour) },
			train: func(ctx context.Context, _ api.TrainingQuestion) (*api.Training, error) {
				return nil, work(ctx, time.Hour)
			},
			score: func(ctx context.Context, _ api.HoldoutQuestion) (*api.HoldoutAnswer, error) {
				return nil, work(ctx, time.Hour)
			},
		}, Options{Timeout: time.Minute})
		s, err := d.Sessions().OpenHoldout(t.Context(), "ana", "people", "only")
		must(t, err)
		free := from("ana")
		free.Free = true
		const none = "nothing was charged"
		for kind, c := range map[string]struct {
			ask        func(context.Context) (any, error)
			free, says string
		}{
			"ask":     {func(ctx context.Context) (any, error) { return d.Ask(ctx, from("ana")) }, "", "the same request is answered"},
			"free":    {func(ctx context.Context) (any, error) { return d.Ask(ctx, free) }, none, ""},
			"explain": {func(ctx context.Context) (any, error) { return d.Explain(ctx, from("ana")) }, none, ""},
			"quote":   {func(ctx context.Context) (any, error) { return d.Models().Quote(ctx, model("ana")) }, none, ""},
			"score": {func(ctx context.Context) (any, error) {
				return d.Sessions().AskHoldout(ctx, "ana", s.ID, api.HoldoutQuestion{})
			},
				"", "for the session"},
		} {
			for _, wait := range []time.Duration{time.Second, time.Hour} {
				ctx, stop := context.WithTimeout(t.Context(), wait)
				_, err := c.ask(ctx)
				stop()
				late, stopped := wait == time.Hour, (*Stopped)(nil)
				if !errors.As(err, &stopped) || errors.Is(err, ErrTimeout) != late || errors.Is(err, ErrCanceled) == late ||
					stopped.Free != (c.free != "") || !strings.Contains(err.Error(), c.free) ||
					stopped.Free && strings.Contains(err.Error(), "stays") || late && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s after %v: %v", kind, wait, err)
				}
			}
		}
	})
}

func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 10s}"), takes(time.Second), Options{Running: 1})
		begin := time.Now()
		var all sync.WaitGroup
		all.Go(func() {
			if a, err := d.Ask(t.Context(), from("ana")); a == nil || err != nil {
				t.Errorf("what ran got %v", err)
			}
		})
		synctest.Wait()
		for _, name := range []string{"ana", "ben", "ben"} {
			all.Go(func() {
				if _, err := d.Ask(t.Context(), from(name)); err != ErrEnding || time.Since(begin) > 0 {
					t.Errorf("what waited got %v after %v", err, time.Since(begin))
				}
			})
		}
		synctest.Wait()
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := d.Drain(ctx); err != errUnfinished {
			t.Errorf("got %v", err)
		}
		if _, err := d.Ask(t.Context(), from("cleo")); err != ErrEnding {
			t.Errorf("a new one got %v", err)
		}
		// The time was over, so what runs finishes, and waits for no tick.
		if err := d.Drain(t.Context()); err != nil || time.Since(begin) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		if err := d.Drain(ctx); err != nil {
			t.Errorf("a second time: %v", err)
		}
		all.Wait()
		quiet(t, d)
	})
}

// A tick that is longer than the time for ending holds nothing up: neither what waits for it, nor
// what is interrupted. Before that time is over it is as always.
func TestDrainWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 60s}"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			if q.Analyst == "ana" {
				return paidFor(), work(ctx, time.Second)
			}
			return paidFor(), work(ctx, time.Hour)
		}}, Options{Running: 2, Timeout: 2 * time.Hour})
		begin := time.Now()
		cut, interrupt := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for _, name := range []string{"ana", "ben"} {
			all.Go(func() {
				if _, err := d.Ask(cut, from(name)); (err == nil) != (name == "ana") || time.Since(begin) != 30*time.Second {
					t.Errorf("%s: %v after %v", name, err, time.Since(begin))
				}
			})
		}
		time.Sleep(2 * time.Second)
		ctx, stop := context.WithTimeout(t.Context(), 28*time.Second)
		defer stop()
		if err := d.Drain(ctx); err != errUnfinished {
			t.Error(err)
		}
		interrupt()
		late, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		if err := d.Drain(late); err != nil {
			t.Errorf("the server would be killed: %v", err)
		}
		all.Wait()
		quiet(t, d)
	})
}

func TestDrainNothing(t *testing.T) {
	d := newDispatcher(people(t, "immediate"), takes(0), Options{})
	if err := d.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}

// The log has what an owner needs, and neither text nor numbers.
func TestLog(t *testing.T) {
	for _, texts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			d := newDispatcher(people(t, "immediate"), takes(3*time.Second),
				Options{Texts: texts, Rate: 1, Log: slog.New(slog.NewJSONHandler(&log, nil))})
			q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM people WHERE name = 'Smith'"}
			d.Ask(t.Context(), q)
			d.Ask(t.Context(), q) // over the limit, and not logged at this level
			line := log.String()
			if strings.Count(line, "\n") != 1 || strings.Contains(line, "Smith") != texts {
				t.Errorf("texts %v: the log is %s", texts, line)
			}
			for _, want := range []string{`"kind":"ask"`, `"analyst":"ana"`, `"dataset":"people"`, `"outcome":"answered"`,
				`"hash":"` + hash(q.SQL) + `"`, `"epsilon":"0.1"`, `"sequence":7`, `"ms":3000`} {
				if !strings.Contains(line, want) {
					t.Errorf("there is no %s in %s", want, line)
				}
			}
		})
	}
}

// remembers is a library whose engine takes as long as work, and which has some answers in memory.
func remembers(work time.Duration, looks func(api.Question)) fake {
	answer := func() *api.Answer { return &api.Answer{Receipt: api.Receipt{Free: true, Sequence: 3}} }
	return fake{
		ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
			if q.SQL == "kept" {
				time.Sleep(time.Millisecond)
				return answer(), nil
			}
			time.Sleep(work)
			return paidFor(), nil
		},
		recall: func(_ context.Context, q api.Question) (*api.Answer, bool) {
			looks(q)
			time.Sleep(time.Millisecond)
			if q.SQL != "kept" {
				return nil, false
			}
			return answer(), true
		},
	}
}

func again(analyst string) api.Question { return api.Question{Analyst: analyst, SQL: "kept"} }

// What is in memory does not wait for the engine, nor for what waits for it, and does not count.
func TestLane(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), remembers(time.Hour, func(api.Question) {}),
			Options{Running: 2, Waiting: 3, Timeout: 10 * time.Hour})
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if _, err := d.Ask(t.Context(), from("ana")); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Second) // one runs, and four wait: there is no room
		for range 100 {
			all.Go(func() {
				begin := time.Now()
				a, err := d.Ask(t.Context(), again("ana"))
				if err != nil || !a.Receipt.Free || time.Since(begin) > time.Second {
					t.Errorf("%v, %v, after %v", a, err, time.Since(begin))
				}
			})
		}
		var limit *LimitError
		if _, err := d.Ask(t.Context(), from("ana")); !errors.As(err, &limit) || limit.Wait <= 0 {
			t.Errorf("got %v", err)
		}
		all.Wait()
		if s := d.Stats(); s.Answered != 105 || s.Free != 100 || s.Limited != 1 {
			t.Errorf("%+v", s)
		}
		quiet(t, d)
	})
}

// Nobody's descriptions, which can take a second each to plan, hold up what another remembers.
func TestLaneIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		library := remembers(time.Hour, func(api.Question) {})
		ask := library.ask
		library.ask = func(ctx context.Context, q api.Question) (*api.Answer, error) {
			if q.SQL == "described" {
				time.Sleep(time.Second)
				return nil, nil
			}
			return ask(ctx, q)
		}
		d := newDispatcher(people(t, "immediate"), library, Options{Running: 2, Waiting: 200, Timeout: 10 * time.Hour})
		var all sync.WaitGroup
		for _, who := range []string{"ana", "ben"} { // both turns
			all.Go(func() {
				if _, err := d.Ask(t.Context(), from(who)); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Second)
		for range 90 {
			all.Go(func() {
				if _, err := d.Describe(t.Context(), api.Question{Analyst: "ana", SQL: "described"}); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		begin := time.Now()
		if a, err := d.Ask(t.Context(), again("ben")); err != nil || !a.Receipt.Free || time.Since(begin) > 3*time.Second {
			t.Errorf("%v, %v, after %v", a, err, time.Since(begin))
		}
		all.Wait()
		quiet(t, d)
	})
}

// With a tick what is in memory begins and leaves when it would with a turn at hand, and what was
// kept after the tick is not seen.
func TestLaneTick(t *testing.T) {
	const tick = 10 * time.Second
	for _, busy := range []int{0, 1, 3} { // a turn is free; it waits in line; there is no room
		synctest.Test(t, func(t *testing.T) {
			var d *Dispatcher
			d = newDispatcher(people(t, "{tick: 10s}"), remembers(time.Hour, func(q api.Question) {
				if !q.AsOf.Equal(d.ticks.clock.begin.Add(2 * tick)) {
					t.Errorf("it sees what there was after %v", q.AsOf.Sub(d.ticks.clock.begin))
				}
			}), Options{Running: 1, Waiting: 2, Timeout: 10 * time.Hour})
			time.Sleep(time.Second)
			var all sync.WaitGroup
			for i := range busy {
				all.Go(func() {
					d.Ask(t.Context(), from("ana"))
				})
				if i == 0 { // it has the turn
					time.Sleep(12 * time.Second)
				}
			}
			synctest.Wait()
			if busy == 0 {
				time.Sleep(12 * time.Second)
			}
			if _, err := d.Ask(t.Context(), again("ana")); err != nil {
				t.Error(err)
			}
			if since := time.Since(d.ticks.clock.begin); since != 3*tick {
				t.Errorf("with %d before it, it left after %v", busy, since)
			}
			all.Wait()
			quiet(t, d)
		})
	}
}

// Who was revoked while they waited is told nothing of what is in memory either.
func TestLaneRevoked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), remembers(time.Hour, func(api.Question) { t.Error("it was looked for") }),
			Options{Running: 1, Timeout: 10 * time.Hour})
		var all sync.WaitGroup
		all.Go(func() { d.Ask(t.Context(), from("ben")) })
		synctest.Wait()
		ctx := Checked(t.Context(), func(context.Context) error { return ErrRevoked })
		if _, err := d.Ask(ctx, again("ana")); !errors.Is(err, ErrRevoked) {
			t.Errorf("got %v", err)
		}
		all.Wait()
		quiet(t, d)
	})
}

// Who asks too fast waits, for as long as the owner says, and then is told so.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{Rate: 60, Patience: 5 * time.Second})
		begin := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		limited := 0
		for range 20 { // ten at once, and then one a second
			all.Go(func() {
				_, err := d.Ask(t.Context(), from("ana"))
				mu.Lock()
				defer mu.Unlock()
				var limit *LimitError
				if errors.As(err, &limit) {
					limited++
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if took := time.Since(begin).Round(time.Millisecond); limited != 5 || took != 5*time.Second {
			t.Errorf("%d were limited, after %v", limited, took)
		}
		ctx, stop := context.WithCancel(t.Context())
		all.Go(func() {
			for range 2 {
				if _, err := d.Ask(ctx, from("ana")); err != nil && !errors.Is(err, ErrWithdrawn) {
					t.Error(err)
				}
			}
		})
		synctest.Wait()
		stop()
		all.Wait()
		quiet(t, d)
	})
}

// What goes by the lane leaves when the schedule has given it its time, as with a turn: else how
// long it takes beside a question would tell how long that one works.
func TestLaneSchedule(t *testing.T) {
	const tick = 100 * time.Millisecond
	for _, waiting := range []int{2, 0} { // it waits in line; there is no room
		var seen []time.Duration
		for _, looks := range []time.Duration{205 * time.Millisecond, 240 * time.Millisecond} { // on an idle machine, on a busy one
			synctest.Test(t, func(t *testing.T) {
				library := running(2*time.Second, always(time.Millisecond))
				library.recall = func(_ context.Context, q api.Question) (*api.Answer, bool) {
					if q.SQL != "kept" {
						return nil, false
					}
					time.Sleep(looks)
					return paidFor(), true
				}
				d := newDispatcher(people(t, "{deadline: 100ms}"), library, Options{Running: 1, Waiting: max(waiting, 1)})
				time.Sleep(d.ticks.clock.next(tick))
				began := time.Now()
				var all sync.WaitGroup
				for range 2 - waiting/2 {
					all.Go(func() { d.Ask(t.Context(), from("ana")) })
					time.Sleep(tick / 10)
				}
				if _, err := d.Ask(t.Context(), again("ana")); err != nil {
					t.Error(err)
				}
				seen = append(seen, time.Since(began))
				all.Wait()
				quiet(t, d)
			})
		}
		if seen[0] != seen[1] {
			t.Errorf("with room for %d it left after %v", waiting, seen)
		}
	}
}

type longer struct{}

func (longer) Error() string   { return "ask the owner" }
func (longer) Explain() string { return "nobody listens there\nand more" }

// TestExplained: the log is the owner's, and says why data cannot be read.
func TestExplained(t *testing.T) {
	if got := ownerText(&api.DataError{Err: longer{}}); got != "nobody listens there" {
		t.Error(got)
	}
	if got := ownerText(&api.DataError{Err: errors.New("no file")}); got != "no file" {
		t.Error(got)
	}
}
