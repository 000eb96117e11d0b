package curator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
)

// Two names for one new question that race on two servers: each name has one answer, at each of
// them and for good, and what the replies say was paid is what was charged. A name that nothing was
// charged for gets what is known by then, which may be made of another question's answer first.
func TestNamesOfOneQuestion(t *testing.T) {
	w := newWorld(t, plenty)
	servers := []*Curator{w.Curator, New(w.dataset, w.data, w.books, seeded(2))}
	var told dp.Cost
	const questions, replies = 120, 4
	for n := range questions {
		// Half of them are made of others' groups, too.
		text := byAge(n)
		if n%2 == 1 {
			text = fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age > %d", n)
		}
		names := []string{freshID(), freshID()}
		var mu sync.Mutex
		answers := map[string][]string{}
		ask := func(server *Curator, name, text string) {
			a, err := server.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: name})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			answers[name], told = append(answers[name], numbers(a)), told.Add(a.Cost)
		}
		var all sync.WaitGroup
		if n%2 == 1 {
			whole := fmt.Sprintf("SELECT sex, COUNT(*) FROM patients WHERE age > %d GROUP BY sex", n)
			all.Go(func() { ask(servers[n/2%2], "whole"+names[0], whole) })
		}
		for i := range replies {
			all.Go(func() {
				time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond)
				ask(servers[i%2], names[i/2], text)
			})
		}
		all.Wait()
		for _, name := range names {
			for _, s := range servers {
				ask(s, name, text)
			}
			charge, _, _, err := w.books.Request(ctx, name)
			w.check(err)
			for _, a := range answers[name] {
				if a != answers[name][0] && (charge != nil || n%2 == 0) {
					t.Errorf("%s has the answers %q to %s", name, answers[name], text)
					break
				}
			}
		}
	}
	if spent := w.spent().Epsilon; told.Epsilon != spent {
		t.Errorf("%v was charged, and replies say %v", spent, told.Epsilon)
	}
}

// A charge for what is there by now is refused: another server may have told it under this name.
func TestChargedBesideAnswer(t *testing.T) {
	w := newWorld(t, plenty)
	other := New(w.dataset, w.data, w.books, seeded(2))
	r := w.record()
	const text = "SELECT COUNT(*) FROM patients"
	var first *api.Answer
	r.before["charge"] = func() (err error) {
		delete(r.before, "charge")
		first, err = other.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: "another name"})
		return err
	}
	if a := w.mustAsk(text); !a.Receipt.Free || numbers(a) != numbers(first) || w.spent().Epsilon != amount("0.1") {
		t.Errorf("%+v and %+v, for %v", a, first, w.spent())
	}
}

// A request that was charged and has no answer gets the one that others bought since, and keeps it:
// what its own server computes meanwhile is told to nobody. That one says what was charged.
func TestBoundToRequest(t *testing.T) {
	for name, texts := range map[string][2]string{
		"the same":  {"SELECT COUNT(*) FROM patients WHERE sex = 'F'", "SELECT COUNT(*) FROM patients WHERE sex = 'F'"},
		"of groups": {"SELECT COUNT(*) FROM patients WHERE sex = 'F'", "SELECT sex, COUNT(*) FROM patients GROUP BY sex"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plenty)
			other := New(w.dataset, w.data, w.books, seeded(2))
			r := w.record()
			q := api.Question{Analyst: "ana", SQL: texts[0], Request: "mine"}
			var there *api.Answer
			r.before["run"] = func() error {
				delete(r.before, "run")
				if _, err := other.Ask(ctx, api.Question{Analyst: "ben", SQL: texts[1], Request: "ben's"}); err != nil {
					return err
				}
				var err error
				there, err = other.Ask(ctx, q)
				return err
			}
			here, err := w.Ask(ctx, q)
			w.check(err)
			again, err := w.Ask(ctx, q)
			w.check(err)
			if numbers(here) != numbers(there) || numbers(again) != numbers(there) || bars(here) != bars(there) {
				t.Errorf("told %v %s there, %v %s here, and then %v", there.Rows, bars(there), here.Rows, bars(here), again.Rows)
			}
			if here.Cost.Epsilon != amount("0.1") || here.Receipt.Free || there.Cost != (dp.Cost{}) || !there.Receipt.Free {
				t.Errorf("cost %v here and %v there", here.Cost, there.Cost)
			}
			if here.Receipt.Sequence != there.Receipt.Sequence {
				t.Errorf("receipts %+v and %+v", here.Receipt, there.Receipt)
			}
		})
	}
}

// A request that paid for several things is computed for its charge, also where others bought some
// of them since.
func TestRetryOfWhole(t *testing.T) {
	w := newWorld(t, plenty)
	const part = "SELECT COUNT(*) FROM patients WHERE smoker"
	q := api.Question{Analyst: "ana", SQL: "SELECT (" + part + ") AS a, (SELECT COUNT(*) FROM visits) AS b", Request: "mine"}
	waiting, cancel := context.WithCancel(ctx)
	whole := w.runner.engine
	w.runner.engine = &hungUp{whole, cancel}
	if _, err := w.Ask(waiting, q); err == nil {
		t.Fatal("it was answered")
	}
	w.runner.engine = whole
	x, err := w.Explain(ctx, q)
	w.check(err)
	if len(x.Questions) != 2 {
		t.Fatalf("%d questions", len(x.Questions))
	}
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: part, Epsilon: x.Questions[0].Cost.Epsilon, Request: "part"}); err != nil {
		t.Fatal(err)
	}
	spent := w.spent()
	a, err := w.Ask(ctx, q)
	w.check(err)
	if again, err := w.Ask(ctx, q); err != nil || numbers(again) != numbers(a) {
		t.Errorf("%v and then %v, %v", a.Rows, again, err)
	}
	if w.spent() != spent {
		t.Error("it was charged again")
	}
}

// What ran on other data than it was charged for is told, for its request alone: nobody finds it
// under the version that it is not of, also where that is back.
func TestKeptOfOtherData(t *testing.T) {
	for name, back := range map[string]bool{"there": false, "there and back": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plenty)
			const text = "SELECT COUNT(*) FROM patients"
			was, whole := hospital.New(200, 1), w.runner.engine
			moves := &loading{whole, func() { w.write(hospital.New(5000, 2)) }, nil}
			if back {
				moves.back = func() { w.write(was) }
			}
			w.runner.engine = moves
			q := api.Question{Analyst: "ana", SQL: text, Epsilon: amount("1"), Request: "mine"}
			first, err := w.Ask(ctx, q)
			w.check(err)
			w.write(was)
			if !contains(fmt.Sprint(first.Notes), "changed while this was computed") {
				t.Errorf("notes %q", first.Notes)
			}
			if a := w.charged("ben", text, amount("1")); numbers(a) == numbers(first) {
				t.Errorf("%v is kept as an answer about other data", a.Rows)
			}
			again, err := w.Ask(ctx, q)
			w.check(err)
			if numbers(again) != numbers(first) || !again.Receipt.Free || fmt.Sprint(again.Notes) != fmt.Sprint(first.Notes) {
				t.Errorf("the same request: %+v; want %+v", again, first)
			}
		})
	}
}

// A stream does not count people of data that was there for so long as it was read.
func TestStreamOfOtherData(t *testing.T) {
	w := streamWorld(t, plenty, "")
	was := hospital.New(200, 1)
	w.write(was)
	w.runner.engine = &loading{w.runner.engine, func() { w.write(hospital.New(5000, 2)) }, func() { w.write(was) }}
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"}
	if a, err := w.Streams.Ask(ctx, q); err == nil {
		t.Errorf("%d people are counted in other data", a.Value)
	}
	if _, err := w.Streams.Ask(ctx, q); err != nil {
		t.Error(err)
	}
}
