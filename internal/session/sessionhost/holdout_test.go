package sessionhost_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/session/holdoutsession"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

var ctx = context.Background()

// guesses are predictions of which the first n are 1 and the others 0.
func guesses(n int) []string {
	out := make([]string, curatortest.LabelCount)
	for i := range out {
		out[i] = map[bool]string{true: "1", false: "0"}[i < n]
	}
	return out
}

func trial(predictions []string, training string) api.HoldoutQuestion {
	return api.HoldoutQuestion{Holdout: "trial", Predictions: predictions, Training: training}
}

// Whoever submits predictions is told whether they come with identifiers.
func TestHoldoutList(t *testing.T) {
	all, err := curatortest.NewHoldouts(t, curatortest.Plenty, nil).Holdouts.List()
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for _, h := range all {
		if h.IDs != (h.Name == "named") || h.Labels != (h.Name != "rows") {
			t.Errorf("%+v", h)
		}
	}
}

// The first question of a round pays, what the holdout confirms is free and is what was claimed,
// and what it contradicts comes with noise and ends the round.
func TestHoldoutRounds(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	round := dp.Cost{Epsilon: curatortest.Amount("0.5")} // 2/(0.004 1000)
	a := w.MustScore(trial(guesses(600), "1"))
	if a.Spent || a.Free || a.Score != "1" || a.Left != 3 || a.Cost.Epsilon != round.Epsilon || a.Receipt.Sequence == 0 || a.Error < 0.1 ||
		a.Error > 0.4 {
		t.Errorf("%+v", a)
	}
	if !curatortest.ContainsAll(strings.Join(a.Notes, "\n"), "confirms", "first of a round", "3 of 3 answers") {
		t.Error(a.Notes)
	}
	first := a.Receipt
	if a = w.MustScore(trial(guesses(590), "0.99")); a.Spent || !a.Free || a.Score != "0.99" || a.Cost != (dp.Cost{}) ||
		a.Receipt.Sequence != first.Sequence || !a.Receipt.Free {
		t.Errorf("%+v", a)
	}
	if a = w.MustScore(api.HoldoutQuestion{Analyst: "ben", Holdout: "trial", Predictions: guesses(0), Training: "1"}); !a.Spent ||
		!a.Free || a.Left != 2 {
		t.Errorf("%+v", a)
	}
	if score, _ := strconv.ParseFloat(a.Score, 64); math.Abs(score-0.4) > 0.2 {
		t.Errorf("a score of %s, and the mean is 0.4", a.Score)
	}
	if w.Spent().Epsilon != round.Epsilon {
		t.Errorf("spent %v", w.Spent())
	}
	paid := a.Score
	// The same again, by somebody else and in other words: the same, free.
	same := guesses(0)
	for i := range same {
		same[i] = "0.0"
	}
	if a = w.MustScore(trial(same, "1.00")); a.Score != paid || !a.Again || !a.Free || a.Left != 2 {
		t.Errorf("%+v", a)
	}
	// The next round is charged to whoever begins it.
	if a = w.MustScore(api.HoldoutQuestion{Analyst: "ben", Holdout: "trial", Predictions: guesses(600), Training: "0.98"}); a.Free ||
		a.Spent || a.Receipt.Sequence <= first.Sequence {
		t.Errorf("%+v", a)
	}
	if w.Spent().Epsilon != 2*round.Epsilon {
		t.Errorf("spent %v", w.Spent())
	}
	var charges []*ledger.Record
	for r, err := range w.Ledger.Records(ctx, 1) {
		w.Check(err)
		if r.Kind == ledger.KindCharge {
			charges = append(charges, r)
		}
	}
	if len(charges) != 2 || charges[0].Analyst != "ana" || charges[1].Analyst != "ben" || charges[0].Dataset != "hospital" ||
		charges[0].Cost.Epsilon != round.Epsilon {
		t.Errorf("%+v", charges)
	}
}

// A new process goes on where the last one was: the same round, the same answers, the same board,
// and nothing is paid twice.
func TestHoldoutRestart(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	a := w.MustScore(api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(600), Training: "1", Name: "all right"})
	b := w.MustScore(api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(0), Training: "1", Name: "all wrong"})
	c := w.MustScore(api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(595), Training: "0.99", Name: "nearly"})
	spent, board := w.Spent(), mustBoard(w, "trial")
	for range 2 {
		w.Reopen()
		for i, q := range []api.HoldoutQuestion{trial(guesses(600), "1"), trial(guesses(0), "1"), trial(guesses(595), "0.99")} {
			got, want := w.MustScore(q), []*api.HoldoutAnswer{a, b, c}[i]
			if got.Score != want.Score || got.Spent != want.Spent || !got.Again || !got.Free ||
				got.Receipt.Sequence != want.Receipt.Sequence || got.Receipt.Hash != want.Receipt.Hash || got.Left != 2 {
				t.Errorf("%+v, and was %+v", got, want)
			}
		}
		if fmt.Sprint(mustBoard(w, "trial")) != fmt.Sprint(board) {
			t.Errorf("the board is %v, and was %v", mustBoard(w, "trial"), board)
		}
	}
	// The round that was open is open: a new question is free.
	if got := w.MustScore(trial(guesses(598), "0.99")); !got.Free || got.Spent {
		t.Errorf("%+v", got)
	}
	if w.Spent() != spent {
		t.Errorf("spent %v, and before the restart %v", w.Spent(), spent)
	}
	// What was used up stays used up.
	w.MustScore(trial(guesses(0), "0.99"))
	w.MustScore(trial(guesses(1), "0.99"))
	w.Reopen()
	_, err := w.Score(trial(guesses(2), "0.99"))
	if !errors.As(err, new(*api.Refusal)) || !curatortest.ContainsAll(err.Error(), "used up", "all its 3 answers") {
		t.Error(err)
	}
	if got := w.MustScore(trial(guesses(0), "1")); got.Score != b.Score || got.Left != 0 {
		t.Errorf("%+v", got)
	}
	// An owner who allows more goes on with the same holdout.
	w.Dataset.Holdouts["trial"].Answers = 4
	w.Reopen()
	if got := w.MustScore(trial(guesses(600), "1")); !got.Again || got.Left != 1 {
		t.Errorf("%+v", got)
	}
	// Other labels are another holdout.
	w.Check(os.WriteFile(filepath.Join(w.Dir, "labels.csv"), []byte(curatortest.Labelled(400)), 0o600))
	when := time.Now().Add(time.Hour)
	w.Check(os.Chtimes(filepath.Join(w.Dir, "labels.csv"), when, when))
	if got := w.MustScore(trial(guesses(400), "1")); got.Again || got.Free || got.Left != 4 || got.Spent {
		t.Errorf("%+v", got)
	}
	if lines := mustBoard(w, "trial"); len(lines) != 0 {
		t.Errorf("the board of other labels: %v", lines)
	}
}

func mustBoard(w *curatortest.World, name string) []api.BoardLine {
	w.T.Helper()
	lines, err := w.Holdouts.Board(ctx, name)
	w.Check(err)
	return lines
}

// Holdouts and other questions share the budgets.
func TestHoldoutBudget(t *testing.T) {
	w := curatortest.NewHoldouts(t, "{epsilon: 0.7, per_query: {default: 0.1, max: 0.5}}", nil)
	w.MustScore(trial(guesses(600), "1"))
	w.MustAsk("SELECT COUNT(*) FROM patients")
	// ben has half of the budget, and asks for one question of it.
	if _, err := w.AskAs("ben", "SELECT COUNT(*) FROM visits", 0); err != nil {
		t.Fatal(err)
	}
	if a := w.MustScore(trial(guesses(0), "1")); !a.Spent || !a.Free {
		t.Errorf("%+v", a)
	}
	_, err := w.Score(trial(guesses(599), "1"))
	var over *ledger.BudgetError
	if !errors.As(err, &over) || !curatortest.ContainsAll(err.Error(), "Nothing was spent", "a round of the holdout", "stay free") ||
		strings.Contains(err.Error(), "Ask with an epsilon") {
		t.Fatal(err)
	}
	if a := w.MustScore(trial(guesses(600), "1")); !a.Again {
		t.Error("what was paid for is not free")
	}
	if _, err := w.AskSQL("SELECT COUNT(*) FROM patients WHERE age > 3"); !errors.As(err, &over) {
		t.Error(err)
	}
	w.MustAsk("SELECT COUNT(*) FROM patients")
	if w.Spent().Epsilon.String() != "0.7" {
		t.Error(w.Spent())
	}
}

// A budget that counts rho is charged the rho of a round.
func TestHoldoutConcentrated(t *testing.T) {
	w := curatortest.NewHoldouts(t, "{epsilon: 10, delta: 1e-6, per_query: {default: 0.1, max: 1}}", nil)
	a := w.MustScore(trial(guesses(600), "1"))
	if a.Cost.Rho == 0 || a.Cost.Rho >= a.Cost.Epsilon || w.Spent().Rho != a.Cost.Rho {
		t.Errorf("%+v, spent %v", a.Cost, w.Spent())
	}
}

// What is refused is refused by what is public, and costs nothing.
func TestHoldoutRefusals(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	for _, c := range []struct {
		q    api.HoldoutQuestion
		want string
	}{
		{api.HoldoutQuestion{Analyst: "eve", Holdout: "trial"}, "no analyst"},
		{api.HoldoutQuestion{Holdout: "nowhere"}, `there is no holdout "nowhere"; name one of trial, named, rows`},
		{api.HoldoutQuestion{Predictions: guesses(1), Training: "1"}, "several holdouts"},
		{trial(nil, "1"), "no predictions"},
		{trial(guesses(1)[:999], "1"), "there are 999 predictions, but the holdout has 1000 rows"},
		{trial(append(guesses(1), "1"), "1"), "there are 1001 predictions"},
		{trial(guesses(1), ""), "the training value is missing"},
		{trial(guesses(1), "1.01"), "not a number from 0 to 1"},
		{trial(guesses(1), "much"), "not a number from 0 to 1"},
		{api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(1), IDs: guesses(1), Training: "1"}, "have no identifiers"},
		{api.HoldoutQuestion{Holdout: "trial", SQL: "smoker", Training: "1"}, "cannot be asked with SQL"},
		{api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(1), Training: "1", Name: strings.Repeat("x", 61)}, "61 characters"},
		{api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(1), Training: "1", Name: "a\x1b[31m"}, "cannot be seen"},
		{api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(1), Training: "1", Name: "  "}, "is empty"},
		{api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(1), Training: "1", Confidence: 2}, "confidence"},
		{api.HoldoutQuestion{Holdout: "named", Predictions: []string{"1", "0", "1"}, Training: "1"}, "0 identifiers for 3 predictions"},
		{api.HoldoutQuestion{Holdout: "named", Predictions: []string{"1", "0", "1"}, IDs: []string{"a", "b", "x"}, Training: "1"},
			"no row for the identifier of prediction 3"},
		{api.HoldoutQuestion{Holdout: "named", Predictions: []string{"1", "0", "1"}, IDs: []string{"a", "b", "a"}, Training: "1"},
			"the identifier of prediction 3 appears twice"},
		{api.HoldoutQuestion{Holdout: "named", Predictions: []string{"1", "0", "cat"}, IDs: []string{"a", "b", "c"}, Training: "1"},
			"prediction 3 is not a number"},
		{api.HoldoutQuestion{Holdout: "named", Predictions: []string{"1", "0", "1.5"}, IDs: []string{"a", "b", "c"}, Training: "1"},
			"prediction 3 is not a number"},
		{api.HoldoutQuestion{Holdout: "rows", Predictions: guesses(1), Training: "1"}, "takes no predictions"},
		{api.HoldoutQuestion{Holdout: "rows", Training: "1"}, "there is no expression"},
		{api.HoldoutQuestion{Holdout: "rows", SQL: "age", Training: "1"}, "between 0 and 1"},
		{api.HoldoutQuestion{Holdout: "rows", SQL: "smoker) FROM visits --", Training: "1"}, "is not the table of the holdout"},
		{api.HoldoutQuestion{Holdout: "rows", SQL: "SELECT holdout_mean(smoker, 0.5) FROM patients", Training: "1"}, "two training values"},
		{api.HoldoutQuestion{Holdout: "rows", SQL: "SELECT holdout_mean(smoker, 0.5) FROM patients WHERE age > 40"}, "all its people"},
	} {
		_, err := w.Score(c.q)
		if !errors.As(err, new(*api.Refusal)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100v: %v, want %s", c.q, err, c.want)
		}
	}
	if w.RecordCount() != 0 {
		t.Error("something was charged")
	}
	if len(mustBoard(w, "trial")) != 0 {
		t.Error("something is on the board")
	}
	// The place of a refusal is one in the expression that was given.
	_, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker AND nothing", Training: "1"})
	var r *api.Refusal
	if !errors.As(err, &r) || r.Position != len("smoker AND ") {
		t.Errorf("%+v", r)
	}
}

// Labels that cannot be read are told to the owner with their lines, and to an analyst in one text.
func TestHoldoutBrokenLabels(t *testing.T) {
	for _, file := range []string{"label\nsecret\n\nsecret\n", "secret\n", "", "label,x\n,1\n"} {
		w := curatortest.NewHoldouts(t, curatortest.Plenty, map[string]string{"labels.csv": file})
		if _, err := w.Score(trial(guesses(1), "1")); err != api.ErrLabels {
			t.Error(err)
		}
		if _, err := w.Holdouts.List(); err != api.ErrLabels {
			t.Error(err)
		}
		if _, err := w.Holdouts.Board(ctx, "trial"); err != api.ErrLabels {
			t.Error(err)
		}
		if err := w.Holdouts.Check(); err == nil || !strings.Contains(err.Error(), "holdout trial: the file of labels") ||
			strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
		if w.RecordCount() != 0 {
			t.Error("something was charged")
		}
	}
}

// The table of patients as a holdout, in SQL and by its name, gives one answer to one question.
func TestHoldoutTable(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	const text = "SELECT holdout_mean(smoker) FROM patients"
	columns, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: text})
	if err != nil || len(columns) != 1 || columns[0].Name != "holdout_mean" || !columns[0].Noisy {
		t.Errorf("%v, %v", columns, err)
	}
	e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text})
	if err != nil || e.Known || !e.Affordable || e.Pay != e.Cost || e.Cost.Epsilon != dp.One ||
		!curatortest.ContainsAll(e.Questions[0].Measures[0].Why, "Thresholdout", "training value 0.5", "3 answers") {
		t.Errorf("%+v, %v", e, err)
	}
	if w.RecordCount() != 0 {
		t.Error("explaining charges")
	}
	// The training value is that of the public rows: 2 of 4.
	a := w.MustAsk(text)
	if len(a.Rows) != 1 || len(a.Rows[0]) != 1 || a.Cost.Epsilon != dp.One || *a.Errors[0][0] <= 0 || a.Columns[0] != columns[0] ||
		a.Version.Number != 1 {
		t.Errorf("%+v", a)
	}
	again := w.MustScore(api.HoldoutQuestion{Holdout: "rows", SQL: "CASE WHEN smoker THEN 1 ELSE 0 END"})
	if !again.Again || curatortest.Numbers(a) != fmt.Sprintf("[[%s]]", again.Score) || again.Training != "0.5" {
		t.Errorf("%+v, and in SQL %s", again, curatortest.Numbers(a))
	}
	if e, err = w.Explain(ctx, api.Question{Analyst: "ben", SQL: text}); err != nil || !e.Known || e.Pay != (dp.Cost{}) ||
		e.Questions[0].Record != again.Receipt.Sequence {
		t.Errorf("%+v, %v", e, err)
	}
	// Of 200 people all are at least 0 years old.
	if b := w.MustScore(api.HoldoutQuestion{Holdout: "rows", SQL: "SELECT holdout_mean(age >= 0, 1) FROM patients"}); b.Spent ||
		b.Score != "1" {
		t.Errorf("%+v", b)
	}
	c, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(age >= 0, 0) AS share FROM patients",
		Settings: api.Settings{Epsilon: dp.One, Confidence: 0.5}})
	if err != nil || c.Columns[0].Name != "share" || c.Confidence != 0.5 ||
		!curatortest.ContainsAll(strings.Join(c.Notes, "\n"), "contradicts", "dp.epsilon") {
		t.Errorf("%+v, %v", c, err)
	}
	for _, text := range []string{"SELECT holdout_mean(age >= 1, 0) FROM patients", "SELECT holdout_mean(age >= 2, 0) FROM patients",
		"SELECT holdout_mean(age >= 3, 0) FROM patients"} {
		w.AskSQL(text) // until it is used up
	}
	const more = "SELECT holdout_mean(age >= 4, 0) FROM patients"
	_, asked := w.AskSQL(more)
	_, explained := w.Explain(ctx, api.Question{Analyst: "ana", SQL: more})
	if !errors.As(asked, new(*api.Refusal)) || !strings.Contains(asked.Error(), "used up") || fmt.Sprint(explained) != asked.Error() {
		t.Errorf("%v, and explained %v", asked, explained)
	}
	if e, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: text}); err != nil || !e.Known {
		t.Error(e, err)
	}
	if _, err := w.AskSQL("SELECT holdout_mean(age) FROM patients"); !errors.As(err, new(*api.Refusal)) {
		t.Error(err)
	}
	if _, err := w.AskAs("eve", text, 0); !errors.As(err, new(*api.Refusal)) {
		t.Error(err)
	}
}

// An engine that fails ends the holdout for this process, with one text; what was answered stays.
func TestHoldoutEngineFails(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	w.BearFailures()
	q := api.HoldoutQuestion{Holdout: "rows", SQL: "age >= 0", Training: "1"}
	a := w.MustScore(q)
	working := w.Wire.Engine
	w.Wire.Engine = curatortest.FailingEngine{Engine: working}
	for range 2 {
		if _, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "1"}); err != api.ErrHoldoutRun {
			t.Error(err)
		}
	}
	w.Wire.Engine = working
	if _, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "age > 3", Training: "1"}); err != api.ErrHoldoutRun {
		t.Error(err)
	}
	if b := w.MustScore(q); b.Score != a.Score || !b.Again {
		t.Errorf("%+v", b)
	}
	w.Reopen()
	if b := w.MustScore(api.HoldoutQuestion{Holdout: "rows", SQL: "age > -1", Training: "1"}); b.Spent || !b.Free {
		t.Errorf("%+v", b)
	}
}

// The charge, whom it protects and the threshold are on stable storage before the data is looked
// at.
func TestHoldoutOrder(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	var seen []string
	w.Wire.Engine = watching{w.Wire.Engine, func(q *tree.Query) {
		charges, notes := 0, 0
		for r, err := range w.Ledger.Records(ctx, 1) {
			w.Check(err)
			switch r.Kind {
			case ledger.KindCharge:
				charges++
			case ledger.KindNote:
				notes++
			}
		}
		seen = append(seen, fmt.Sprintf("public %v: %d charges, %d notes", q.Public(), charges, notes))
	}}
	w.MustScore(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker"})
	if got := fmt.Sprint(seen); got != "[public true: 0 charges, 0 notes public false: 1 charges, 3 notes]" {
		t.Error(got)
	}
}

type watching struct {
	engine.Engine
	see func(*tree.Query)
}

func (e watching) Run(c context.Context, q *tree.Query) (*engine.Result, error) {
	e.see(q)
	return e.Engine.Run(c, q)
}

func TestHoldoutBoard(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	w.SetClock(func() time.Time { at = at.Add(time.Hour); return at })
	ask := func(analyst, name, training string, right int) {
		t.Helper()
		if _, err := w.Score(api.HoldoutQuestion{Analyst: analyst, Holdout: "trial", Predictions: guesses(right), Training: training,
			Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	ask("ana", "model 1", "0.95", 570)
	ask("ben", "  Model \t Ü ", "0.99", 600)
	ask("ana", "", "1", 600)
	ask("ana", "model 1", "0.95", 570) // again: nothing new
	ask("ben", "model 1", "0.9", 550)
	ask("ana", "model 2", "0.99", 599)
	show := func() (out []string) {
		for _, l := range mustBoard(w, "trial") {
			out = append(out,
				fmt.Sprintf("%d %s by %s: %s %v at %s", l.Rank, l.Name, l.Analyst, l.Score, l.Spent, l.Time.Format("15:04:05")))
			if l.Error < 0.1 {
				t.Errorf("%+v", l)
			}
		}
		return out
	}
	want := []string{"1 Model Ü by ben: 0.99 false at 05:04:05", "1 model 2 by ana: 0.99 false at 08:04:05",
		"3 model 1 by ana: 0.95 false at 04:04:05", "4 model 1 by ben: 0.9 false at 07:04:05"}
	if got := show(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	// A new version of a model takes the place of the old one.
	ask("ana", "model 1", "0.97", 600)
	if got := show(); len(got) != 4 || !strings.HasPrefix(got[2], "3 model 1 by ana: 0.97") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// Neighbouring labels: the same refusals, the same charges, and values that move by at most the
// steps of a score of 1. All else is the randomness, which is the same.
func TestHoldoutNeighbours(t *testing.T) {
	type transcript struct {
		said    []string
		calls   []mech.Call
		charges []ledger.Charge
	}
	run := func(files map[string]string) transcript {
		w := curatortest.NewHoldouts(t, curatortest.Plenty, files)
		r := w.Record()
		var out transcript
		w.Noise.Record(func(c mech.Call) { out.calls = append(out.calls, c) })
		for _, q := range []api.HoldoutQuestion{
			trial(guesses(600), "1"), trial(guesses(600)[1:], "1"), trial(guesses(3), ""), trial(guesses(0), "0.9"),
			trial(guesses(900), "0.2"),
			{Holdout: "named", Predictions: []string{"1", "0", "0"}, IDs: []string{"a", "b", "c"}, Training: "0.5"},
			{Holdout: "named", Predictions: []string{"1", "0", "x"}, IDs: []string{"a", "b", "c"}, Training: "0.5"},
			{Holdout: "named", Predictions: []string{"1", "0", "0"}, IDs: []string{"a", "b", "d"}, Training: "0.5"},
		} {
			a, err := w.Score(q)
			if err != nil {
				out.said = append(out.said, err.Error())
				continue
			}
			out.said = append(out.said, fmt.Sprint(a.Spent, a.Free, a.Left))
		}
		out.charges = r.Charges
		return out
	}
	one := run(nil)
	for _, other := range []map[string]string{
		{"labels.csv": curatortest.Labelled(601)},
		{"labels.csv": strings.Replace(curatortest.Labelled(600), "0", "unheard-of", 1)},
		{"named.csv": "id,label\na,0\nb,0.25\nc,0\n"},
		{"named.csv": "id,label\na,1\nb,1\nc,0\n"},
	} {
		two := run(other)
		if fmt.Sprint(one.said) != fmt.Sprint(two.said) {
			t.Errorf("said\n%s\nagainst\n%s", strings.Join(one.said, "\n"), strings.Join(two.said, "\n"))
		}
		if len(one.charges) == 0 || len(one.charges) != len(two.charges) || len(one.calls) == 0 || len(one.calls) != len(two.calls) {
			t.Fatalf("%d charges and %d calls against %d and %d", len(one.charges), len(one.calls), len(two.charges), len(two.calls))
		}
		for i, c := range one.charges {
			if d := two.charges[i]; c.Cost != d.Cost || c.Mechanisms != d.Mechanisms || c.Analyst != d.Analyst {
				t.Errorf("charged %+v against %+v", c, d)
			}
		}
		for i, c := range one.calls {
			d := two.calls[i]
			apart, ok := sealed.Between(c.Values, d.Values)
			if c.Mechanism != d.Mechanism || c.Parameter.Cmp(d.Parameter) != 0 || !ok || apart.L1.Cmp(c.Sensitivity.L1()) > 0 {
				t.Errorf("call %d: %s %v against %s %v, %v apart", i, c.Mechanism, c.Parameter, d.Mechanism, d.Parameter, apart.L1)
			}
		}
	}
}

// Values with steps: the mean of an expression is that of its values, whatever lattice they are on.
func TestHoldoutSteps(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	rows := w.Dataset.Holdouts["rows"]
	rows.Steps, rows.Noise = 100, big.NewRat(1, 1000)
	for _, c := range []struct {
		expression string
		want       float64
	}{
		{"CASE WHEN age >= 0 THEN 0.5 ELSE 1 END", 0.5},
		{"CASE WHEN age >= 0 THEN 0.25 END", 0.25},
		{"age >= 0", 1},
	} {
		claim := "0"
		if c.want < 0.4 {
			claim = "1"
		}
		a := w.MustScore(api.HoldoutQuestion{Holdout: "rows", SQL: c.expression, Training: claim})
		if score, _ := strconv.ParseFloat(a.Score, 64); !a.Spent || math.Abs(score-c.want) > 0.02 {
			t.Errorf("%s: %+v, want %v", c.expression, a, c.want)
		}
	}
	_, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: "CASE WHEN smoker THEN 0.001 END", Training: "0"})
	if !errors.As(err, new(*api.Refusal)) || !strings.Contains(err.Error(), "multiples of 1/100") {
		t.Error(err)
	}
}

// Many who ask the same at once pay once and get one answer.
func TestHoldoutTogether(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	var all sync.WaitGroup
	scores := make([]string, 16)
	for i := range scores {
		all.Go(func() {
			a, err := w.Holdouts.Ask(ctx, api.HoldoutQuestion{Analyst: []string{"ana", "ben"}[i%2], Holdout: "trial",
				Predictions: guesses(0), Training: "1", Name: fmt.Sprint("model ", i/4)})
			if err != nil {
				t.Error(err)
				return
			}
			scores[i] = fmt.Sprint(a.Score, a.Spent, a.Left)
		})
	}
	all.Wait()
	for _, s := range scores {
		if s != scores[0] {
			t.Errorf("%v", scores)
			break
		}
	}
	if w.Spent().Epsilon != curatortest.Amount("0.5") || len(mustBoard(w, "trial")) != 8 {
		t.Errorf("spent %v, %d lines", w.Spent(), len(mustBoard(w, "trial")))
	}
	// Who stops waiting has paid nothing.
	stopped, cancel := context.WithCancel(ctx)
	// They wait for what this holdout waits for.
	a := w.Access()
	waits := &waiting{Turns: a.Turns}
	a.Turns = waits
	w.Holdouts = holdoutsession.New(a, 100, time.Now)
	w.MustScore(api.HoldoutQuestion{Analyst: "ana", Holdout: "trial", Predictions: guesses(0), Training: "1"})
	leave, err := a.Turns.WaitTurn(ctx, waits.keys...)
	w.Check(err)
	cancel()
	if _, err := w.Holdouts.Ask(stopped,
		api.HoldoutQuestion{Analyst: "ana", Holdout: "trial", Predictions: guesses(1), Training: "1"}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	leave()
	if w.Spent().Epsilon != curatortest.Amount("0.5") {
		t.Errorf("spent %v", w.Spent())
	}
}

type waiting struct {
	sessionhost.Turns
	keys []string
}

func (w *waiting) WaitTurn(ctx context.Context, keys ...string) (func(), error) {
	w.keys = keys
	return w.Turns.WaitTurn(ctx, keys...)
}

// forgetful is a ledger of which one note fails: before it is written, or after.
type forgetful struct {
	ledger.Ledger
	fails, notes int
	written      bool
}

func (f *forgetful) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	if f.notes++; f.notes == f.fails {
		if f.written {
			if err := f.Ledger.NoteIf(ctx, session, entry, p); err != nil {
				return err
			}
		}
		return errors.New("the disk is full")
	}
	return f.Ledger.NoteIf(ctx, session, entry, p)
}

// Where a note fails nothing is told, and the same question again pays nothing more: it gets what
// was written, or, where nothing was, what is drawn anew.
func TestHoldoutNoteFails(t *testing.T) {
	for fails := 1; fails <= 3; fails++ { // the round, the answer, the board
		for _, written := range []bool{false, true} {
			w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
			w.Rewire(w.Data, &forgetful{Ledger: w.Ledger, fails: fails, written: written})
			q := api.HoldoutQuestion{Holdout: "trial", Predictions: guesses(0), Training: "1", Name: "model"}
			if a, err := w.Score(q); err == nil {
				t.Errorf("note %d: %+v", fails, a)
			}
			a := w.MustScore(q)
			if !a.Spent || a.Left != 2 || w.Spent().Epsilon != curatortest.Amount("0.5") {
				t.Errorf("note %d, written %v: %+v, spent %v", fails, written, a, w.Spent())
			}
			w.Reopen()
			if b := w.MustScore(q); b.Score != a.Score || !b.Again {
				t.Errorf("note %d, written %v: %s, and then %s", fails, written, a.Score, b.Score)
			}
			if lines := mustBoard(w, "trial"); len(lines) != 1 || lines[0].Score != a.Score {
				t.Errorf("note %d, written %v: %v", fails, written, lines)
			}
			w.Leave()
		}
	}
}

// A table with a person less: the same is said and charged, and every sum that meets noise moves by
// at most the steps of a score of 1.
func TestHoldoutTableNeighbours(t *testing.T) {
	questions := []string{
		"smoker", "NOT smoker", "age > 40", "diagnosis = 'HIV'", "sex = 'F' OR sex IS NULL",
		"CASE WHEN cost > 100 THEN 0.37 WHEN smoker THEN 1 END", "greatest(0, least(1, age - 40))",
		"EXISTS (SELECT 1 FROM visits v WHERE v.pid = patients.pid AND v.ward = 'surgery')", "1", "zip = 'nowhere'",
		"round(1 / (1 + age), 2)", "age", "1 / age", "pid",
		"CASE WHEN pid = 7 THEN 1 END", "cost / 10000",
	}
	whole := hospital.New(200, 3)
	for _, budget := range []string{curatortest.Plenty, curatortest.Plenty + "\n    neighbours: substitute"} {
		run := func(h *hospital.Hospital) (said []string, calls []mech.Call, charges []ledger.Charge) {
			w := curatortest.Build(t, h, hospital.Dataset("hospital", "data", budget)+curatortest.HeldOut, 1, map[string]string{
				"labels.csv": curatortest.Labelled(600), "named.csv": "id,label\na,1\n",
				"data/train_rows.csv": "age,sex,zip,diagnosis,smoker,cost\n30,F,1,flu,true,10\n",
			})
			w.Dataset.Holdouts["rows"].Steps, w.Dataset.Holdouts["rows"].Threshold = 100, big.NewRat(9, 10)
			r := w.Record()
			w.Noise.Record(func(c mech.Call) { calls = append(calls, c) })
			for _, text := range questions {
				for _, claim := range []string{"", "0.5"} {
					a, err := w.Score(api.HoldoutQuestion{Holdout: "rows", SQL: text, Training: claim})
					if err != nil {
						said = append(said, err.Error())
						continue
					}
					said = append(said, fmt.Sprint(a.Spent, a.Free, a.Left, a.Training))
				}
			}
			return said, calls, r.Charges
		}
		said, calls, charges := run(whole)
		for _, gone := range []int{hospital.Target, 17} {
			other, moved, charged := run(whole.Without(gone))
			if strings.Join(said, "\n") != strings.Join(other, "\n") {
				t.Errorf("said\n%s\nagainst\n%s", strings.Join(said, "\n"), strings.Join(other, "\n"))
			}
			if len(calls) < 10 || len(calls) != len(moved) || len(charges) == 0 || len(charges) != len(charged) {
				t.Fatalf("%d and %d calls, %d and %d charges", len(calls), len(moved), len(charges), len(charged))
			}
			for i, c := range calls {
				apart, ok := sealed.Between(c.Values, moved[i].Values)
				if !ok || apart.L1.Cmp(c.Sensitivity.L1()) > 0 || c.Sensitivity.L1().Int64() != 100 {
					t.Errorf("call %d moves by %v, and noise is for %v", i, apart.L1, c.Sensitivity)
				}
			}
		}
	}
}

// How many scores a holdout remembers is bounded, also where they cost nothing.
func TestHoldoutRemembersSoMany(t *testing.T) {
	w := curatortest.NewHoldouts(t, curatortest.Plenty, nil)
	w.Holdouts = holdoutsession.New(w.Access(), 3, time.Now)
	for i := range 3 {
		w.MustScore(trial(guesses(600-i), "0.99"))
	}
	for range 2 {
		_, err := w.Score(trial(guesses(590), "0.99"))
		if !errors.As(err, new(*api.Refusal)) || !strings.Contains(err.Error(), "has given 3 different scores") {
			t.Error(err)
		}
		if a := w.MustScore(trial(guesses(600), "0.99")); !a.Again {
			t.Errorf("%+v", a)
		}
		w.Reopen()
		w.Holdouts = holdoutsession.New(w.Access(), 3, time.Now)
	}
}
