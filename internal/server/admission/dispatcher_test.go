package admission

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/problem"
)

// What is asked only where it is free begins and leaves on a tick, whatever comes of it: a kept
// answer, a price, or an answer that is put together in a turn; and sees what was kept by the tick.
func TestFreeTick(t *testing.T) {
	const tick = 10 * time.Second
	for _, busy := range []int{0, 1, 3} { // a turn is free; it waits in line; there is no room
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var seen []time.Time
			see := func(q api.Question) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, q.AsOf)
			}
			library := remembers(time.Hour, see)
			engine := library.ask
			library.ask = func(ctx context.Context, q api.Question) (*api.Answer, error) {
				if q.Free && q.SQL != "kept" {
					see(q)
					return nil, &api.PriceError{Explanation: &api.Explanation{}}
				}
				return engine(ctx, q)
			}
			d := newDispatcher(people(t, "{tick: 10s}"), explaining{library}, Options{Running: 2, Waiting: 1, Timeout: 10 * time.Hour})
			begin := d.ticks.clock.begin
			var all sync.WaitGroup
			for range busy {
				all.Go(func() { d.Ask(t.Context(), from("ana")) })
			}
			time.Sleep(tick + time.Second)
			for _, sql := range []string{"kept", "new"} {
				q := api.Question{Analyst: "ana", SQL: sql, Free: true}
				a, err := d.Ask(t.Context(), q)
				var price *api.PriceError
				if sql == "kept" && (err != nil || !a.Receipt.Free) || sql == "new" && !errors.As(err, &price) {
					t.Errorf("busy %d, %s: %v, %v", busy, sql, a, err)
				}
				if since := time.Since(begin); since%tick != 0 {
					t.Errorf("busy %d, %s: it left after %v", busy, sql, since)
				}
				mu.Lock()
				for _, at := range seen {
					if at.Sub(begin)%tick != 0 {
						t.Errorf("busy %d, %s: it saw what was kept by %v", busy, sql, at.Sub(begin))
					}
				}
				mu.Unlock()
				time.Sleep(time.Second)
			}
			if len(seen) == 0 {
				t.Errorf("busy %d: nobody looked", busy)
			}
			if s := d.Stats(); s.Limited+s.Refused+s.Exhausted != 0 {
				t.Errorf("%+v", s)
			}
			all.Wait()
		})
	}
}

// explaining is a library that prices at once, which the other asks for.
type explaining struct{ fake }

func (explaining) Explain(context.Context, api.Question) (*api.Explanation, error) {
	time.Sleep(time.Millisecond)
	return &api.Explanation{}, nil
}

// Whatever is asked about is asked under a name of who asks, also what costs nothing: nobody names
// the requests of others.
func TestFreeRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		library := fake{ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
			names = append(names, q.Request)
			return &api.Answer{}, nil
		}, recall: func(_ context.Context, q api.Question) (*api.Answer, bool) {
			names = append(names, q.Request)
			return &api.Answer{}, true
		}}
		d := newDispatcher(people(t, "{tick: 10s}"), library, Options{Running: 2, Waiting: 1})
		q := api.Question{Analyst: "ana", SQL: "x", Request: "ben:1"}
		if _, err := d.Explain(t.Context(), q); err != nil {
			t.Error(err)
		}
		for _, q.Free = range []bool{true, false} {
			if _, err := d.Ask(t.Context(), q); err != nil {
				t.Error(err)
			}
		}
		if len(names) != 3 || names[0] != "ana:ben:1" || names[1] != names[0] || names[2] != names[0] {
			t.Errorf("it was asked as %q", names)
		}
	})
}

// What a look at the catalogue and the reading of a text take a processor is on the schedule where
// answers leave at deadlines, and they leave when they have had it: beside a question that works
// they would else tell for how long it does.
func TestLooksAndTextsLeave(t *testing.T) {
	for release, paced := range map[string]bool{"{deadline: 100ms}": true, "{tick: 100ms}": false, "immediate": false} {
		synctest.Test(t, func(t *testing.T) {
			d := newDispatcher(people(t, release), takes(time.Hour), Options{})
			for name, do := range map[string]func(work func()) error{
				"look": func(work func()) error {
					return d.RunLookup(t.Context(), "ana", func(context.Context) error { work(); return nil })
				},
				"text": func(work func()) error { return d.Read(t.Context(), "ana", 10, work) },
			} {
				for work, waits := range map[time.Duration]bool{0: false, 30 * time.Millisecond: paced} {
					began := time.Now()
					err := do(func() { burn(work) })
					if left := time.Since(began); err != nil || waits != (left >= 3*work/2 && left > 0) || !waits && left != 0 {
						t.Errorf("%s: a %s of %v left after %v, %v", release, name, work, left, err)
					}
				}
			}
		})
	}
}

// TestLookFailsInTime: what a look fails with is told as it is, also where the limit of time goes
// by only while it waits until it may leave.
func TestLookFailsInTime(t *testing.T) {
	for _, release := range []string{"{deadline: 100ms}", "immediate"} {
		synctest.Test(t, func(t *testing.T) {
			d := newDispatcher(people(t, release), takes(time.Hour), Options{})
			wrong := errors.New("there is no such table")
			err := d.RunLookup(t.Context(), "ana", func(context.Context) error {
				time.Sleep(lookTimeout - time.Second)
				return wrong
			})
			if err != wrong {
				t.Errorf("%s: %v", release, err)
			}
		})
	}
}

// Looks are few at once, one for each user, and none takes for ever.
func TestLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 10s}"), takes(time.Hour), Options{Running: 1})
		var now, most, anas, mostAnas atomic.Int64
		look := func(user string, takes time.Duration) error {
			return d.RunLookup(t.Context(), user, func(ctx context.Context) error {
				most.Store(max(most.Load(), now.Add(1)))
				defer now.Add(-1)
				if user == "ana" {
					mostAnas.Store(max(mostAnas.Load(), anas.Add(1)))
					defer anas.Add(-1)
				}
				return work(ctx, takes)
			})
		}
		var all sync.WaitGroup
		begin := time.Now()
		for _, user := range []string{"ana", "ana", "ana", "ben", "cleo", "boss"} {
			all.Go(func() {
				if err := look(user, time.Second); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		// Ana's three are one after the other, and how well the others fit beside them depends on
		// who came first.
		if took := time.Since(begin); most.Load() != 2 || mostAnas.Load() != 1 || took < 3*time.Second || took > 4*time.Second {
			t.Errorf("%d at once, %d of ana, for %v", most.Load(), mostAnas.Load(), took)
		}
		begin = time.Now()
		var limit *LimitError
		if err := look("ana", time.Hour); !errors.As(err, &limit) || time.Since(begin) != lookTimeout {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// Looks have a rate of their own.
func TestLookRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{Rate: 60, Patience: -1})
		limited := 0
		for range 200 {
			var limit *LimitError
			if err := d.RunLookup(t.Context(), "ana", func(context.Context) error { return nil }); errors.As(err, &limit) {
				limited++
			}
		}
		if limited != 100 {
			t.Errorf("%d were limited", limited)
		}
		if _, err := d.Ask(t.Context(), from("ana")); err != nil {
			t.Error(err)
		}
	})
}

// Texts that are not read yet wait by user: garbage on all connections of one delays nobody else
// by more than one text.
func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{})
		slow := func() { time.Sleep(time.Second) }
		var all sync.WaitGroup
		for range 95 {
			all.Go(func() {
				if err := d.Read(t.Context(), "ana", 100, slow); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		for range 3 {
			begin := time.Now()
			if err := d.Read(t.Context(), "ben", 100, slow); err != nil || time.Since(begin) > 2*time.Second {
				t.Errorf("%v after %v", err, time.Since(begin))
			}
		}
		all.Wait()
		quiet(t, d)
	})
}

// Texts have a rate of their own, and long ones count as several. Few never wait.
func TestReadRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), takes(0), Options{Rate: 1, Patience: -1})
		read, begin := 0, time.Now()
		for i := range 200 {
			var limit *LimitError
			bytes := 100
			if i >= 100 {
				bytes = 256 << 10
			}
			err := d.Read(t.Context(), "ana", bytes, func() { read++ })
			if (err != nil) != (read < i+1) || err != nil && (!errors.As(err, &limit) || limit.Wait <= 0) {
				t.Fatalf("text %d, of which %d were read: %v", i, read, err)
			}
		}
		if read != 100+900/65 || time.Since(begin) != 0 {
			t.Errorf("%d were read in %v", read, time.Since(begin))
		}
		if err := d.Read(t.Context(), "ben", 256<<10, func() {}); err != nil {
			t.Error(err)
		}
	})
}

// Who is revoked while they wait is not asked for.
func TestRevokedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		var revoked atomic.Bool
		d := newDispatcher(people(t, "immediate"), fake{ask: func(ctx context.Context, q api.Question) (*api.Answer, error) {
			asked++
			return paidFor(), work(ctx, time.Second)
		}}, Options{Running: 1})
		ctx := Checked(t.Context(), func(context.Context) error {
			if revoked.Load() {
				return ErrRevoked
			}
			return nil
		})
		var all sync.WaitGroup
		outcomes := make([]error, 3)
		for i := range outcomes {
			all.Go(func() { _, outcomes[i] = d.Ask(ctx, from("ana")) })
			synctest.Wait()
		}
		revoked.Store(true)
		all.Wait()
		if asked != 1 || outcomes[0] != nil || outcomes[1] != ErrRevoked || outcomes[2] != ErrRevoked {
			t.Errorf("%d were asked: %v", asked, outcomes)
		}
		quiet(t, d)
	})
}

// Who cannot be checked is not asked for, and is not told that they are revoked.
func TestUncheckedWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), fake{ask: func(context.Context, api.Question) (*api.Answer, error) {
			t.Error("asked")
			return paidFor(), nil
		}}, Options{})
		ctx := Checked(t.Context(), func(context.Context) error { return errors.New("the connection was cut") })
		if _, err := d.Ask(ctx, from("ana")); err != ErrUnchecked {
			t.Error(err)
		}
		quiet(t, d)
	})
}

// Who goes away while the users are asked about them is not told that these cannot be read.
func TestWithdrawnWhileChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "immediate"), fake{ask: func(context.Context, api.Question) (*api.Answer, error) {
			t.Error("asked")
			return paidFor(), nil
		}}, Options{})
		gone, leave := context.WithCancel(t.Context())
		ctx := Checked(gone, func(ctx context.Context) error {
			leave()
			return ctx.Err()
		})
		if _, err := d.Ask(ctx, from("ana")); err != ErrWithdrawn {
			t.Error(err)
		}
		quiet(t, d)
	})
}

// A request's name is the analyst's own, through whichever listener.
func TestRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var names []string
		d := newDispatcher(people(t, "immediate"), fake{ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
			names = append(names, q.Request)
			return paidFor(), nil
		}}, Options{})
		for _, q := range []api.Question{{Analyst: "ana", Request: "ben:k"}, {Analyst: "ben", Request: "k"}, {Analyst: "ben"}} {
			if _, err := d.Ask(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		if len(names) != 3 || names[0] != "ana:ben:k" || names[1] != "ben:k" || names[2] != "" {
			t.Errorf("got %q", names)
		}
	})
}

// What a session has left is told when the answer leaves, and not before.
func TestLeftOnATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDispatcher(people(t, "{tick: 10s}"), fake{
			open: func(context.Context, api.SparseQuestion) (*discreet.Sparse, error) {
				return &discreet.Sparse{}, nil
			},
			sparse: func(context.Context, string) (*api.SparseVerdict, error) {
				return &api.SparseVerdict{Above: true, Left: 1}, nil
			},
		}, Options{})
		s, err := d.Sessions().OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana", Above: 2})
		must(t, err)
		time.Sleep(time.Second)
		go d.Sessions().AskSparse(t.Context(), "ana", s.ID, "SELECT 1", "1")
		synctest.Wait()
		if s.Left() != 2 {
			t.Errorf("%d are left before the tick", s.Left())
		}
		time.Sleep(9 * time.Second)
		synctest.Wait()
		if s.Left() != 1 {
			t.Errorf("%d are left after the tick", s.Left())
		}
	})
}

const sizesPolicy = `datasets:
  clinic:
    engine: duckdb
    source: .
    unit: people.pid
    budget: {epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}
    analysts: {ana: }
    %s
    tables:
      people: {unique: pid, columns: {age: {type: integer, bounds: [0, 110]}}}
      notes:
        max_rows: 3
        max_groups: 1
        path: pid -> people.pid
        columns: {note: {type: text}, code: {type: text, keys: private}}
`

const declaredSizes = `    sizes:
      people: 8192
      tables:
        people: {rows: 8192}
        notes: {rows: 65536, lengths: {note: 256, code: 8}, values: {code: 65536}}
`

// makeSizes writes a database whose counts stand right below their steps, and then somebody with
// some rows of some text, each with a code of its own.
func makeSizes(t *testing.T, rows, length int, policy string) string {
	t.Helper()
	var people, notes strings.Builder
	people.WriteString("pid,age\n")
	notes.WriteString("pid,note,code\n")
	for i := range 16_384 {
		if i < 4096 {
			fmt.Fprintf(&people, "%d,%d\n", i, i%90)
		}
		fmt.Fprintf(&notes, "%d,%s,c%d\n", i/4, strings.Repeat("x", 85), i%1000)
	}
	if rows > 0 {
		fmt.Fprintf(&people, "%d,37\n", 4096)
	}
	for i := range rows {
		fmt.Fprintf(&notes, "%d,%s,d%d\n", 4096, strings.Repeat("x", length), i)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"people.csv": people.String(), "notes.csv": notes.String(), "policy.yaml": policy} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return filepath.Join(dir, "policy.yaml")
}

// askSizes opens a database, and returns the deadlines of some questions, the tick, and, where they
// are asked, after how many ticks of 10 ms each left.
func askSizes(t *testing.T, path string, ask bool) (deadlines, left []float64) {
	t.Helper()
	const tick = 10 * time.Millisecond
	db, err := discreet.Open(t.Context(), path)
	must(t, err)
	defer db.Close()
	must(t, db.Warm(t.Context()))
	d := New(db, Options{Rate: 1e6})
	for _, sql := range []string{
		"SELECT COUNT(*) FROM notes WHERE note ~* 'a.*b' OR note ~* 'c.*d' OR note ~* 'e.*f' OR note ~* 'g.*h'",
		"SELECT code, COUNT(*) FROM notes GROUP BY code",
	} {
		x, err := d.Explain(t.Context(), api.Question{Analyst: "ana", SQL: sql})
		if err != nil || x.Deadline == nil {
			t.Fatalf("%s: %v", sql, err)
		}
		deadlines = append(deadlines, *x.Deadline)
		if !ask {
			continue
		}
		time.Sleep(d.ticks.clock.next(tick))
		began := time.Now()
		if _, err := d.Ask(t.Context(), api.Question{Analyst: "ana", SQL: sql}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		left = append(left, float64(time.Since(began)/tick))
	}
	magnitude, err := db.Magnitude(t.Context(), "clinic")
	must(t, err)
	return append(deadlines, float64(magnitude)), left
}

// Somebody who moves what is counted of the data, by being there, by very many rows with a key
// each, or by long texts, moves no deadline, tick or departure where the policy declares sizes.
// Without that they do, so that this test can fail.
func TestDeclaredSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("public times are those of a program without the race detector")
	}
	release := "release: {deadline: 10ms}"
	declared, counted := fmt.Sprintf(sizesPolicy, release)+declaredSizes, fmt.Sprintf(sizesPolicy, release)
	base, _ := askSizes(t, makeSizes(t, 0, 0, declared), true)
	baseCounted, _ := askSizes(t, makeSizes(t, 0, 0, counted), false)
	for _, c := range []struct {
		name         string
		rows, length int
	}{{"one row", 1, 85}, {"many rows", 20_000, 85}, {"long texts", 4, 16_000}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // it waits
			got, left := askSizes(t, makeSizes(t, c.rows, c.length, declared), true)
			if fmt.Sprint(got) != fmt.Sprint(base) {
				t.Errorf("deadlines %v with them, and %v without", got, base)
			}
			for i, ticks := range left {
				public := float64(int(base[i] / 0.01))
				t.Logf("left after %v ticks, public %v", ticks, public)
				if ticks < public-1 { // a tick for where it began
					t.Errorf("it left after %v ticks, and its public time is %v", ticks, public)
				}
			}
			if moved, _ := askSizes(t, makeSizes(t, c.rows, c.length, counted), false); fmt.Sprint(moved) == fmt.Sprint(baseCounted) {
				t.Errorf("nothing moves where it is counted, so nothing is tested: %v", moved)
			}
		})
	}
}

// What limits are chosen from is a question by itself: it has its own turn, and is told and paid
// for before the other one begins, which is not asked where the first one fails.
func TestLimitsAreChosenFirst(t *testing.T) {
	broken := errors.New("broken")
	for _, at := range []string{"nowhere", "how many rows", "how much"} {
		var fails error
		if at != "nowhere" {
			fails = broken
		}
		var asked []string
		l := fake{
			first: func(q api.Question) (*api.Question, api.Question, error) {
				then := q
				then.Epsilon = 2
				return &api.Question{Analyst: q.Analyst, SQL: "how many rows", Epsilon: 1}, then, nil
			},
			ask: func(_ context.Context, q api.Question) (*api.Answer, error) {
				asked = append(asked, fmt.Sprint(q.SQL, " for ", int64(q.Epsilon), " alone ", q.Alone))
				if q.SQL == at {
					return nil, fails
				}
				if q.SQL == "how much" && len(asked) == 2 && q.Count.Receipt.Sequence != 1 {
					t.Error("it does not know what its limits are chosen from")
				}
				a := paidFor()
				a.Receipt.Sequence = uint64(len(asked))
				return a, nil
			},
		}
		d := newDispatcher(people(t, "immediate"), l, Options{})
		a, err := d.Ask(t.Context(), api.Question{Analyst: "ana", SQL: "how much", Epsilon: 3})
		if !errors.Is(err, fails) {
			t.Fatal(err)
		}
		if p := problem.Of(err); (at == "how much") != (p.Spent == problem.Something && strings.Contains(p.Before, "(record 1)")) {
			t.Errorf("stopped at %s: %+v", at, p)
		}
		want := []string{"how many rows for 1 alone true"}
		if at != "how many rows" {
			want = append(want, "how much for 2 alone true")
		}
		if fails == nil && (a.Receipt.Sequence != 2 || len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "(record 1)")) {
			t.Errorf("record %d, notes %q", a.Receipt.Sequence, a.Notes)
		}
		if !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
		asked = nil
		_, err = d.Ask(t.Context(), api.Question{Analyst: "ana", SQL: "how much", Alone: true})
		if (err != nil) != (at == "how much") || len(asked) != 1 {
			t.Errorf("a question that is asked alone: %q, %v", asked, err)
		}
	}
}
