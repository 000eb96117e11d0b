package curator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// Two names for one new question that race on two servers: each name has one answer, at each of
// them and for good, and what the replies say was paid is what was charged. A name that nothing was
// charged for gets what is known by then, which may be made of another question's answer first.
func TestNamesOfOneQuestion(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	servers := []*curator.Curator{w.Curator, curator.New(w.Dataset, w.Data, w.Ledger, curatortest.Seeded(2))}
	var told dp.Cost
	const replies = 4
	for n := range daily.Rounds(60, 240) {
		// Half of them are made of others' groups, too.
		text := curatortest.ByAge(n)
		if n%2 == 1 {
			text = fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE sex = 'F' AND age > %d", n)
		}
		names := []string{curatortest.FreshID(), curatortest.FreshID()}
		var mu sync.Mutex
		answers := map[string][]string{}
		ask := func(server *curator.Curator, name, text string) {
			a, err := server.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: name})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("%s: %v", name, err)
				return
			}
			answers[name], told = append(answers[name], curatortest.Numbers(a)), told.Add(a.Cost)
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
			charge, _, _, err := w.Ledger.Request(ctx, name)
			w.Check(err)
			for _, a := range answers[name] {
				if a != answers[name][0] && (charge != nil || n%2 == 0) {
					t.Errorf("%s has the answers %q to %s", name, answers[name], text)
					break
				}
			}
		}
	}
	if spent := w.Spent().Epsilon; told.Epsilon != spent {
		t.Errorf("%v was charged, and replies say %v", spent, told.Epsilon)
	}
}

// A charge for what is there by now is refused: another server may have told it under this name.
func TestChargedBesideAnswer(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	other := curator.New(w.Dataset, w.Data, w.Ledger, curatortest.Seeded(2))
	r := w.Record()
	const text = "SELECT COUNT(*) FROM patients"
	var first *api.Answer
	r.Before["charge"] = func() (err error) {
		delete(r.Before, "charge")
		first, err = other.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: "another name"})
		return err
	}
	if a := w.MustAsk(text); !a.Receipt.Free || curatortest.Numbers(a) != curatortest.Numbers(first) ||
		w.Spent().Epsilon != curatortest.Amount("0.1") {
		t.Errorf("%+v and %+v, for %v", a, first, w.Spent())
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
			w := curatortest.New(t, curatortest.Plenty)
			other := curator.New(w.Dataset, w.Data, w.Ledger, curatortest.Seeded(2))
			r := w.Record()
			q := api.Question{Analyst: "ana", SQL: texts[0], Request: "mine"}
			var there *api.Answer
			r.Before["run"] = func() error {
				delete(r.Before, "run")
				if _, err := other.Ask(ctx, api.Question{Analyst: "ben", SQL: texts[1], Request: "ben's"}); err != nil {
					return err
				}
				var err error
				there, err = other.Ask(ctx, q)
				return err
			}
			here, err := w.Ask(ctx, q)
			w.Check(err)
			again, err := w.Ask(ctx, q)
			w.Check(err)
			if curatortest.Numbers(here) != curatortest.Numbers(there) || curatortest.Numbers(again) != curatortest.Numbers(there) ||
				curatortest.Bars(here) != curatortest.Bars(there) {
				t.Errorf("told %v %s there, %v %s here, and then %v", there.Rows, curatortest.Bars(there), here.Rows,
					curatortest.Bars(here), again.Rows)
			}
			if here.Cost.Epsilon != curatortest.Amount("0.1") || here.Receipt.Free || there.Cost != (dp.Cost{}) || !there.Receipt.Free {
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
	w := curatortest.New(t, curatortest.Plenty)
	const part = "SELECT COUNT(*) FROM patients WHERE smoker"
	q := api.Question{Analyst: "ana", SQL: "SELECT (" + part + ") AS a, (SELECT COUNT(*) FROM visits) AS b", Request: "mine"}
	waiting, cancel := context.WithCancel(ctx)
	whole := w.Wire.Engine
	w.Wire.Engine = &curatortest.HangingUpEngine{Engine: whole, Cancel: cancel}
	if _, err := w.Ask(waiting, q); err == nil {
		t.Fatal("it was answered")
	}
	w.Wire.Engine = whole
	x, err := w.Explain(ctx, q)
	w.Check(err)
	if len(x.Questions) != 2 {
		t.Fatalf("%d questions", len(x.Questions))
	}
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: part, Epsilon: x.Questions[0].Cost.Epsilon, Request: "part"}); err != nil {
		t.Fatal(err)
	}
	spent := w.Spent()
	a, err := w.Ask(ctx, q)
	w.Check(err)
	if again, err := w.Ask(ctx, q); err != nil || curatortest.Numbers(again) != curatortest.Numbers(a) {
		t.Errorf("%v and then %v, %v", a.Rows, again, err)
	}
	if w.Spent() != spent {
		t.Error("it was charged again")
	}
}

// What ran on other data than it was charged for is told, for its request alone: nobody finds it
// under the version that it is not of, also where that is back.
func TestKeptOfOtherData(t *testing.T) {
	for name, back := range map[string]bool{"there": false, "there and back": true} {
		t.Run(name, func(t *testing.T) {
			w := curatortest.New(t, curatortest.Plenty)
			const text = "SELECT COUNT(*) FROM patients"
			was, whole := hospital.New(200, 1), w.Wire.Engine
			moves := &curatortest.LoadingEngine{Engine: whole, Load: func() { w.WriteData(hospital.New(5000, 2)) }, Back: nil}
			if back {
				moves.Back = func() { w.WriteData(was) }
			}
			w.Wire.Engine = moves
			q := api.Question{Analyst: "ana", SQL: text, Epsilon: curatortest.Amount("1"), Request: "mine"}
			first, err := w.Ask(ctx, q)
			w.Check(err)
			w.WriteData(was)
			if !curatortest.ContainsAll(fmt.Sprint(first.Notes), "changed while this was computed") {
				t.Errorf("notes %q", first.Notes)
			}
			if a := w.MustBeCharged("ben", text, curatortest.Amount("1")); curatortest.Numbers(a) == curatortest.Numbers(first) {
				t.Errorf("%v is kept as an answer about other data", a.Rows)
			}
			again, err := w.Ask(ctx, q)
			w.Check(err)
			if curatortest.Numbers(again) != curatortest.Numbers(first) || !again.Receipt.Free ||
				fmt.Sprint(again.Notes) != fmt.Sprint(first.Notes) {
				t.Errorf("the same request: %+v; want %+v", again, first)
			}
		})
	}
}

func TestAgain(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	first := w.MustBeCharged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", 0)
	for _, text := range []string{
		"SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex",
		"select  SEX , count( * ) from PATIENTS\n where 40 <= age and smoker /* again */ group by 1;",
		"SELECT p.sex, COUNT(1) AS n FROM patients p WHERE (smoker) AND p.age >= 40.0 AND 1 = 1 GROUP BY p.sex",
		"SELECT sex, COUNT(*) FROM patients WHERE age >= 40 AND smoker AND age >= 40 GROUP BY sex LIMIT 10 OFFSET 0",
		"SELECT sex, COUNT(*) FROM (SELECT age, sex, smoker FROM patients) AS t(a) " +
			"WHERE a OPERATOR(pg_catalog.>=) (SELECT 40) AND smoker GROUP BY sex",
	} {
		w.MustBeFree(r, "ana", text, first)
		w.MustBeFree(r, "ben", text, first)
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
		w.MustBeFree(r, "ana", c.text, &part)
	}
	// Another epsilon is another answer, and so is another condition.
	w.MustBeCharged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", curatortest.Amount("0.2"))
	w.MustBeCharged("ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age > 40 GROUP BY sex", 0)
	w.MustBeCharged("ana", "SELECT COUNT(*) FROM patients WHERE smoker AND age >= 40", 0)
	w.MustBeFree(r, "ana", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", first)

	w.Reopen()
	w.MustBeFree(w.Record(), "ben", "SELECT sex, COUNT(*) FROM patients WHERE smoker AND age >= 40 GROUP BY sex", first)
}

func TestChangedDataIsCharged(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	const text = "SELECT COUNT(*) FROM patients"
	first := w.MustBeCharged("ana", text, 0)
	file := filepath.Join(w.Dir, "data", "patients.csv")
	old, err := os.ReadFile(file)
	w.Check(err)
	w.Check(hospital.New(200, 1).Without(hospital.Target).Write(filepath.Join(w.Dir, "data")))
	second := w.MustBeCharged("ana", text, 0)
	w.MustBeFree(r, "ana", text, second)
	// The same bytes again are the same data again.
	w.Check(hospital.New(200, 1).Write(filepath.Join(w.Dir, "data")))
	if now, _ := os.ReadFile(file); string(now) != string(old) {
		t.Fatal("the hospital is not the same")
	}
	w.MustBeFree(r, "ana", text, first)
}

// A request that was charged and stopped keeps its right to its answer when its name is used for
// another question, which was paid for before.
func TestBoundToAnotherQuestion(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	const first, other = "SELECT COUNT(*) FROM patients WHERE sex = 'F'", "SELECT SUM(cost) FROM visits"
	w.MustAsk(other)
	r := w.Record()
	r.Before["keep"] = func() error {
		delete(r.Before, "keep")
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
	w := curatortest.New(t, "{epsilon: 1}")
	w.BearFailures()
	r := w.Record()
	ask := func(request string) error {
		waiting, cancel := context.WithCancel(ctx)
		defer cancel()
		r.Before["run"] = func() error { cancel(); return waiting.Err() }
		_, err := w.Ask(waiting, api.Question{Analyst: "ana", SQL: curatortest.ByAge(7), Request: request})
		return err
	}
	runs := func() (n int) {
		for _, e := range r.Take() {
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
	if n := runs(); n != 1+curator.MaxReruns {
		t.Errorf("it was computed %d times for one charge", n)
	}
	clear(r.Before)
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: curatortest.ByAge(7), Request: "another"}); err != nil {
		t.Error(err)
	}
}

// How many people there are is not that of data that was there for so long as they were counted.
func TestPeopleOfOtherData(t *testing.T) {
	w := curatortest.Build(t, hospital.New(300, 1), curatortest.CountedPeople(curatortest.Plenty), 1)
	there := func() { w.WriteData(hospital.New(301, 1)) }
	moves := &curatortest.LoadingEngine{Engine: w.Wire.Engine, Load: there, Back: func() { w.WriteData(hospital.New(300, 1)) }}
	w.Wire.Engine = moves
	for range 2 {
		if a := w.MustAsk("SELECT COUNT(*) FROM patients"); fmt.Sprint(a.Rows) != "[[300]]" {
			t.Error(a.Rows)
		}
	}
	if moves.Load != nil {
		t.Error("nobody was counted")
	}
}
