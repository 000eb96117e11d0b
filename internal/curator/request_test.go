package curator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
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
	whole := w.wire.Engine
	w.wire.Engine = &hungUp{whole, cancel}
	if _, err := w.Ask(waiting, q); err == nil {
		t.Fatal("it was answered")
	}
	w.wire.Engine = whole
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
			was, whole := hospital.New(200, 1), w.wire.Engine
			moves := &loading{whole, func() { w.write(hospital.New(5000, 2)) }, nil}
			if back {
				moves.back = func() { w.write(was) }
			}
			w.wire.Engine = moves
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
	w.wire.Engine = &loading{w.wire.Engine, func() { w.write(hospital.New(5000, 2)) }, func() { w.write(was) }}
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"}
	if a, err := w.Streams.Ask(ctx, q); err == nil {
		t.Errorf("%d people are counted in other data", a.Value)
	}
	if _, err := w.Streams.Ask(ctx, q); err != nil {
		t.Error(err)
	}
}

// free asks what was asked before and checks that it is the same answer, free.
func (w *world) free(r *recorder, analyst, text string, want *api.Answer) {
	w.t.Helper()
	before := w.records()
	r.take()
	a, err := w.askAs(analyst, text, 0)
	if err != nil {
		w.t.Errorf("%s: %v", text, err)
		return
	}
	if !a.Receipt.Free || a.Cost != (dp.Cost{}) || w.records() != before || a.Receipt.Sequence != want.Receipt.Sequence {
		w.t.Errorf("%s as %s: cost %v, receipt %+v; want it free", text, analyst, a.Cost, a.Receipt)
	}
	if numbers(a) != numbers(want) {
		w.t.Errorf("%s: %v; before %v", text, numbers(a), numbers(want))
	}
	if calls := r.take(); slices.Contains(calls, "run") || slices.Contains(calls, "charge") {
		w.t.Errorf("%s: %v", text, calls)
	}
}

// charged asks what is a new question and checks that it is charged.
func (w *world) charged(analyst, text string, epsilon dp.Amount) *api.Answer {
	w.t.Helper()
	before := w.records()
	a, err := w.askAs(analyst, text, epsilon)
	if err != nil {
		w.t.Fatalf("%s: %v", text, err)
	}
	if a.Receipt.Free || a.Cost.Epsilon == 0 || w.records() != before+2 {
		w.t.Errorf("%s: cost %v, receipt %+v; want it charged", text, a.Cost, a.Receipt)
	}
	return a
}

func TestAgain(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	first := w.charged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", 0)
	for _, text := range []string{
		"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex",
		"select  SEX , count( * ) from PATIENTS\n where 40 <= age and smoker /* again */ group by 1;",
		"SELECT p.sex, COUNT(1) AS n FROM patients p WHERE (smoker) AND p.age >= 40.0 AND 1 = 1 GROUP BY p.sex",
		"SELECT sex, COUNT(*) FROM patients WHERE age >= 40 AND smoker AND age >= 40 GROUP BY sex LIMIT 10 OFFSET 0",
	} {
		w.free(r, "ana", text, first)
		w.free(r, "ben", text, first)
	}
	// What is done after the noise is free, and is done to the same numbers.
	for _, c := range []struct {
		text string
		rows []int
	}{
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex ORDER BY sex DESC", []int{2, 1, 0}},
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex ORDER BY sex LIMIT 1 OFFSET 1", []int{1}},
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex HAVING sex <> 'M'", []int{0, 2}},
		{"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex HAVING COUNT(*) > 100000", nil},
	} {
		part := *first
		part.Rows = nil
		for _, i := range c.rows {
			part.Rows = append(part.Rows, first.Rows[i])
		}
		w.free(r, "ana", c.text, &part)
	}
	// Another epsilon is another answer, and so is another condition.
	w.charged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", amount("0.2"))
	w.charged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age > 40 GROUP BY sex", 0)
	w.charged("ana", "SELECT COUNT(*) FROM patients WHERE smoker AND age >= 40", 0)
	w.free(r, "ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", first)

	w.reopen()
	w.free(w.record(), "ben", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", first)
}

func TestChangedDataIsCharged(t *testing.T) {
	w := newWorld(t, plenty)
	r := w.record()
	const text = "SELECT COUNT(*) FROM patients"
	first := w.charged("ana", text, 0)
	file := filepath.Join(w.dir, "data", "patients.csv")
	old, err := os.ReadFile(file)
	w.check(err)
	w.check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.dir, "data")))
	second := w.charged("ana", text, 0)
	w.free(r, "ana", text, second)
	// The same bytes again are the same data again.
	w.check(hospital.New(200, 1).Write(filepath.Join(w.dir, "data")))
	if now, _ := os.ReadFile(file); string(now) != string(old) {
		t.Fatal("the hospital is not the same")
	}
	w.free(r, "ana", text, first)
}

// A request that was charged and stopped keeps its right to its answer when its name is used for
// another question, which was paid for before.
func TestBoundToAnotherQuestion(t *testing.T) {
	w := newWorld(t, plenty)
	const first, other = "SELECT COUNT(*) FROM patients WHERE sex = 'F'", "SELECT SUM(cost) FROM visits"
	w.mustAsk(other)
	r := w.record()
	r.before["keep"] = func() error {
		delete(r.before, "keep")
		return errors.New("killed")
	}
	q := api.Question{Analyst: "ana", SQL: first, Request: "mine"}
	if _, err := w.Ask(ctx, q); err == nil {
		t.Fatal("was not killed")
	}
	if a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: other, Request: "mine"}); err != nil || !a.Receipt.Free {
		t.Errorf("the other question, which was paid for: %+v, %v", a, err)
	}
	if _, err := w.Ask(ctx, q); err != nil {
		t.Errorf("what was paid for: %v", err)
	}
}

// TestReruns: a question that is stopped again and again is computed so often for one charge, and
// no more. Asked under another name it is charged.
func TestReruns(t *testing.T) {
	w := newWorld(t, "{epsilon: 1}")
	w.bear()
	r := w.record()
	ask := func(request string) error {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		r.before["run"] = func() error { cancel(); return waiting.Err() }
		_, err := w.Ask(waiting, api.Question{Analyst: "ana", SQL: byAge(7), Request: request})
		return err
	}
	runs := func() (n int) {
		for _, e := range r.take() {
			if strings.HasPrefix(e, "run") {
				n++
			}
		}
		return n
	}
	for range 10 {
		if err := ask("again"); err == nil {
			t.Fatal("it was not stopped")
		}
	}
	var refused *api.Refusal
	if err := ask("again"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "another request identifier") {
		t.Errorf("got %v", err)
	}
	if n := runs(); n != 1+MaxReruns {
		t.Errorf("it was computed %d times for one charge", n)
	}
	clear(r.before)
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: byAge(7), Request: "another"}); err != nil {
		t.Error(err)
	}
}

// The same for a training that is stopped while its rows are fetched.
func TestTrainingReruns(t *testing.T) {
	w := newWorld(t, plenty)
	w.bear()
	r := w.record()
	q := smokers("0.5")
	train := func() error {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		r.before["fetch"] = func() error { cancel(); return waiting.Err() }
		_, err := w.Trainings.Train(waiting, q, nil)
		return err
	}
	for range 6 {
		if err := train(); err == nil {
			t.Fatal("it was not stopped")
		}
	}
	fetched := 0
	for _, e := range r.take() {
		if e == "fetch" {
			fetched++
		}
	}
	if fetched != 1+3 || !errors.As(train(), new(*api.Refusal)) {
		t.Errorf("it was fetched %d times for one charge", fetched)
	}
}

// A model of other data than it was charged for is given for its request alone: nobody finds it
// under the version that it is not of, also where that is back.
func TestTrainedOnOtherData(t *testing.T) {
	for name, back := range map[string]bool{"there": false, "there and back": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, plenty)
			was := hospital.New(200, 1)
			moves := &loading{w.wire.Engine, func() { w.write(hospital.New(300, 2)) }, nil}
			if back {
				moves.back = func() { w.write(was) }
			}
			w.wire.Engine = moves
			q := smokers("0.5")
			first := w.mustTrain(q)
			w.write(was)
			if !contains(fmt.Sprint(first.Notes), "changed while this was computed") {
				t.Errorf("notes %q", first.Notes)
			}
			if other := w.mustTrain(smokers("0.5")); other.Receipt.Free || other.ID == first.ID || len(other.Notes) > 0 {
				t.Errorf("%+v is kept as a model of other data", other.Receipt)
			}
			again := w.mustTrain(q)
			if !again.Receipt.Free || again.ID != first.ID || w.written(again.Model) != w.written(first.Model) ||
				fmt.Sprint(again.Notes) != fmt.Sprint(first.Notes) {
				t.Errorf("the same request: %+v; want %+v", again, first)
			}
			for r, err := range w.books.Records(ctx, first.Receipt.Sequence) {
				w.check(err)
				if kept, err := w.Trainings.Model(ctx, r, time.Time{}); err != nil || kept.ID != first.ID {
					t.Errorf("by its name: %+v, %v", kept, err)
				}
				break
			}
		})
	}
}

// A holdout tells no score of data that was there for so long as it was read. The round that was
// paid for is there for the next try.
func TestScoredOnOtherData(t *testing.T) {
	w := newHoldouts(t, plenty, nil)
	was := hospital.New(200, 1)
	w.wire.Engine = &loading{w.wire.Engine, func() { w.write(hospital.New(300, 2)) }, func() { w.write(was) }}
	q := api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.9"}
	if a, err := w.score(q); !errors.Is(err, api.ErrChanging) {
		t.Fatalf("%+v, %v", a, err)
	}
	spent := w.spent()
	if a := w.mustScore(q); a.Version.Number != 1 || w.spent() != spent {
		t.Errorf("%+v, and %v is spent after %v", a, w.spent(), spent)
	}
}

// How many people there are is not that of data that was there for so long as they were counted.
func TestPeopleOfOtherData(t *testing.T) {
	w := build(t, hospital.New(300, 1), replaced(plenty), 1)
	there := func() { w.write(hospital.New(301, 1)) }
	moves := &loading{w.wire.Engine, there, func() { w.write(hospital.New(300, 1)) }}
	w.wire.Engine = moves
	for range 2 {
		if a := w.mustAsk("SELECT COUNT(*) FROM patients"); fmt.Sprint(a.Rows) != "[[300]]" {
			t.Error(a.Rows)
		}
	}
	if moves.load != nil {
		t.Error("nobody was counted")
	}
}
