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
	books := &ledger.WriteError{Path: "h.ledger", Broken: true, Err: &ledger.CorruptError{Path: "h.ledger", Where: "record 12"}}
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
		"books":                    {func(context.Context) error { return books }, time.Hour, books, failed},
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
				owners := c.outcome == internal || c.outcome == disputed || c.want == books || c.want == files
				if strings.Contains(log.String(), `level=ERROR`) != owners ||
					strings.Contains(log.String(), `difference="field 7 of a row that has 6"`) != (c.outcome == disputed) ||
					strings.Contains(log.String(), `ledger="the ledger h.ledger is damaged: record 12. `) != (c.want == books) ||
					strings.Contains(log.String(), `data="there is no file p.csv"`) != (c.want == files) {
					t.Errorf("the log is %s", &log)
				}
				if n := d.Stats().Disputed; (n == 1) != (c.outcome == disputed) {
					t.Errorf("%d are counted as disputed", n)
				}
				if d.Stopped() != (c.want == books) {
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
		s, err := d.OpenHoldout(t.Context(), "ana", "people", "only")
		if err != nil {
			t.Fatal(err)
		}
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
			"quote":   {func(ctx context.Context) (any, error) { return d.QuoteTraining(ctx, model("ana")) }, none, ""},
			"score": {func(ctx context.Context) (any, error) { return d.AskHoldout(ctx, "ana", s.ID, api.HoldoutQuestion{}) },
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
