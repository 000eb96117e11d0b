package sessionhost_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// A holdout tells no score of data that was there for so long as it was read. The round that was
// paid for is there for the next try.
func TestScoredOnOtherData(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	was := hospital.New(200, 1)
	w.Wire.Engine = &curatortest.LoadingEngine{Engine: w.Wire.Engine, Load: func() { w.WriteData(hospital.New(300, 2)) },
		Back: func() { w.WriteData(was) }}
	q := api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.9"}
	if a, err := w.Score(q); !errors.Is(err, api.ErrChanging) {
		t.Fatalf("%+v, %v", a, err)
	}
	spent := w.Spent()
	if a := w.MustScore(q); a.Version.Number != 1 || w.Spent() != spent {
		t.Errorf("%+v, and %v is spent after %v", a, w.Spent(), spent)
	}
}

// The same for a holdout: no more answers than it has, and one for a submission.
func TestHoldoutOnServers(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	servers := w.Servers(2)
	var mu sync.Mutex
	scores := map[int]string{}
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			n := 520 + 10*(i%8) // and is as good as it was in training
			q := api.HoldoutQuestion{Analyst: "ana", Holdout: "trial", Predictions: guesses(n),
				Training: fmt.Sprint(1 - float64(600-n)/1000), Name: fmt.Sprint("try ", n)}
			a, err := servers[i%2].Holdouts.Ask(ctx, q)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if s, ok := scores[n]; ok && s != a.Score {
				t.Errorf("%d: %s and %s", n, s, a.Score)
			}
			scores[n] = a.Score
		})
	}
	all.Wait()
	for _, c := range servers {
		lines, err := c.Holdouts.Board(ctx, "trial")
		if err != nil || len(lines) != 8 {
			t.Errorf("%d lines, %v", len(lines), err)
		}
	}
}

// A round that was paid for in one window answers in the next: the promise of a window is then not
// kept by its account.
func TestSessionsHoldoutWindow(t *testing.T) {
	w := curatortest.NewHoldouts(t, "{epsilon: 2, per_query: {default: 0.1, max: 2}, renewal: {every: month, windows: 3}}", nil)
	a := w.MustScore(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.3"})
	t.Logf("first: spent %v cost %v", a.Spent, a.Cost)
	_, err := w.Renew(ctx, "next")
	w.Check(err)
	got := 0
	for i := range 50 {
		b := w.MustScore(api.HoldoutQuestion{Holdout: "rows", SQL: fmt.Sprintf("age > %d", i), Training: "0"})
		if b.Cost != (dp.Cost{}) {
			break
		}
		got++
		if b.Spent {
			t.Errorf("an answer from the holdout in window 2, after %d, and its account was charged nothing", i)
			break
		}
	}
	t.Logf("%d free comparisons in window 2 on a round of window 1", got)
}

// EXPLAIN as of a moment must not speak of what was answered after it.
func TestSessionsHoldoutExplainAsOf(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	before := time.Now()
	q := api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(smoker, 0.3) FROM patients", Request: curatortest.FreshID(), AsOf: before}
	e, err := w.Explain(ctx, q)
	w.Check(err)
	_, err = w.Ask(ctx, api.Question{Analyst: "ben", SQL: q.SQL, Request: curatortest.FreshID(), AsOf: before})
	w.Check(err)
	f, err := w.Explain(ctx, q)
	w.Check(err)
	if e.Known != f.Known || e.Pay != f.Pay || asJSON(e.Questions) != asJSON(f.Questions) {
		t.Errorf("as of before the answer: known %v, pay %v; and then known %v, pay %v", e.Known, e.Pay, f.Known, f.Pay)
	}
}

// The labels have not changed, and a charge for them speaks of tables that are no more.
func TestSessionsLabelsVersion(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	w.MustScore(api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(600), Training: "0.1"}) // contradicted
	first := w.MustAsk("SELECT COUNT(*) FROM patients").Version
	w.Check(hospital.New(210, 2).Write(filepath.Join(w.Dir, "data")))
	second := w.MustAsk("SELECT COUNT(*) FROM patients").Version
	w.MustScore(api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(599), Training: "0.1"})
	third := w.MustAsk("SELECT COUNT(*) FROM patients WHERE age > 50")
	t.Log(first, second, third.Version, third.Notes)
	if strings.Contains(fmt.Sprint(third.Notes), "has changed") {
		t.Errorf("the data did not change, and an answer says: %v", third.Notes)
	}
	if third.Version != second {
		t.Errorf("the data did not change between %v and %v", second, third.Version)
	}
}

func asJSON(x any) string {
	text, err := json.Marshal(x)
	return string(text) + fmt.Sprint(err)
}
