package sessionhost_test

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/ledger"
)

// countOf is the exact number of patients of a kind.
func countOf(h *hospital.Hospital, of func(hospital.Patient) bool) (n int64) {
	for _, p := range h.Patients {
		if of(p) {
			n++
		}
	}
	return n
}

// The engine runs after a charge is on stable storage, and never for a price.
func TestStreamOrder(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	r := w.Record()
	q := api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients WHERE sex = 'F'", Request: curatortest.FreshID()}
	e, err := w.Explain(ctx, q)
	w.Check(err)
	if got := r.Take(); slices.Contains(got, "run") || slices.Contains(got, "charge") || slices.Contains(got, "keep") {
		t.Errorf("an explanation called %v", got)
	}
	if s := e.Questions[0].Stream; s == nil || s.Name != "people" || s.Known || s.Most.Epsilon == 0 ||
		s.Most.Epsilon > curatortest.Amount("0.1") ||
		e.Cost != s.Most || s.Ordinary.Epsilon != curatortest.Amount("0.1") || s.Error != curatortest.Crowd/20 {
		t.Fatalf("explained %+v", e.Questions[0].Stream)
	}
	r.Before["run"] = func() error {
		if got := w.OnDisk(); got.Charges != 1 || got.Balances[0].Spent.Epsilon == 0 {
			t.Errorf("when the engine runs the file says %+v; want the charge", got)
		}
		return nil
	}
	a, err := w.Ask(ctx, q)
	w.Check(err)
	if got := r.Take(); slices.Index(got, "charge") < 0 || slices.Index(got, "run") < slices.Index(got, "charge") ||
		slices.Contains(got, "keep") {
		t.Errorf("the order is %v", got)
	}
	if len(a.Through) != 1 || a.Through[0].Paid != 1 || a.Cost.Epsilon == 0 || a.Cost.Epsilon > e.Cost.Epsilon ||
		a.Cost.Epsilon != w.Spent().Epsilon || a.Receipt.Free || a.Receipt.Sequence == 0 || a.Receipt.Hash == "" {
		t.Errorf("%+v cost %v, %+v", a.Through, a.Cost, a.Receipt)
	}
	exactly := countOf(curatortest.Large(), func(p hospital.Patient) bool { return p.Sex == "F" })
	if got := number64(t, a.Rows[0][0]); got < exactly-curatortest.Crowd/20 || got > exactly+curatortest.Crowd/20 ||
		*a.Errors[0][0] != curatortest.Crowd/20 {
		t.Errorf("%v ± %v, exactly %d", got, *a.Errors[0][0], exactly)
	}
	// The data is read once.
	r.Before["run"] = func() error { t.Error("the engine ran again"); return nil }
	w.MustAsk("SELECT COUNT(*) FROM patients WHERE sex = 'M'")
	again, err := w.Ask(ctx, q)
	w.Check(err)
	if curatortest.Numbers(again) != curatortest.Numbers(a) || !again.Receipt.Free || again.Cost != (dp.Cost{}) ||
		again.Through[0].Free != 1 ||
		!curatortest.ContainsAll(strings.Join(again.Notes, " "), "stream people, free") {
		t.Errorf("again %v, %+v, %v", again.Rows, again.Through, again.Notes)
	}
	known, err := w.Explain(ctx, q)
	w.Check(err)
	if s := known.Questions[0].Stream; s == nil || !s.Known || !known.Known || known.Pay != (dp.Cost{}) {
		t.Errorf("explained %+v", known)
	}
}

func number64(t testing.TB, v any) int64 {
	t.Helper()
	var n int64
	if _, err := fmt.Sscan(fmt.Sprint(v), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// The same fraction asked in many ways costs one answer.
func TestStreamManyWays(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	w := curatortest.Build(t, curatortest.Large(), curatortest.WithStream(hospital.Dataset("hospital", "data", curatortest.Plenty),
		curatortest.Crowd, "        alpha: 0.2\n"), 1)
	first := w.MustAsk("SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients")
	if len(first.Through) != 1 {
		t.Fatalf("%+v", first)
	}
	spent := w.Spent()
	report, err := w.Streams.Report(ctx, "people")
	w.Check(err)
	t.Logf("%+v", report)
	value := first.Rows[0][0]
	ways := []string{
		"SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients",
		"SELECT COUNT(*) FILTER (WHERE sex = 'F') * 1.0 / COUNT(sex = 'F' OR sex IS NULL) FROM patients",
		"SELECT 1.0 * COUNT(CASE WHEN sex = 'F' THEN 1 END) / COUNT(*) FROM patients",
		"SELECT a.n * 1.0 / b.n FROM (SELECT COUNT(*) AS n FROM patients WHERE sex IN ('F')) a, (SELECT COUNT(*) AS n FROM patients) b",
		"SELECT SUM(CASE WHEN NOT (sex <> 'F') THEN 1 ELSE 0 END) * 1.0 / COUNT(*) FROM patients",
		"SELECT SUM(CASE sex WHEN 'F' THEN 1 ELSE 0 END) * 1.0 / COUNT(*) FROM patients",
		"SELECT COUNT(*) FILTER (WHERE sex = 'F' AND (smoker OR NOT smoker OR smoker IS NULL)) * 1.0 / COUNT(*) FROM patients",
		"SELECT COUNT(*) FILTER (WHERE sex = 'F' OR sex = 'F') * 1.0 / COUNT(*) FROM patients",
		"SELECT AVG(f) FROM (SELECT CASE WHEN sex = 'F' THEN 1 ELSE 0 END AS f FROM patients) AS t",
		"WITH t AS (SELECT COUNT(*) FILTER (WHERE sex = 'F') AS f, COUNT(*) AS n FROM patients) SELECT 1.0 * f / n FROM t",
	}
	asked, most := 0, daily.Rounds(50, 250)
	for i := 0; asked < most; i++ {
		text := ways[i%len(ways)]
		if i >= len(ways) { // written anew: a condition that everybody meets is added
			all := fmt.Sprintf("(age < %d OR age >= %d)", i, i)
			text = strings.Replace(ways[i%len(ways)], "sex = 'F'", "sex = 'F' AND "+all, 1)
		}
		a, err := w.AskSQL(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		asked++
		if fmt.Sprintf("%.4s", a.Rows[0][0]) != fmt.Sprintf("%.4s", value) {
			t.Fatalf("%s: %v, and %v before", text, a.Rows[0][0], value)
		}
		if got := w.Spent(); got != spent {
			t.Fatalf("after %d: %s cost %v; %+v", asked, text, a.Cost, a.Through)
		}
	}
}

// After a restart the answers are the same and free, and the next charge is what it would have
// been.
func TestStreamRestart(t *testing.T) {
	asks := []string{"sex = 'F'", "smoker", "sex = 'M' AND smoker", "diagnosis = 'flu'", "diagnosis = 'flu' AND sex = 'F'", "age < 37",
		"age < 37 AND smoker", "sex <> 'F' OR age >= 74"}
	for _, budget := range []string{curatortest.Plenty, curatortest.Rich} {
		straight, broken := curatortest.NewStreams(t, budget, ""), curatortest.NewStreams(t, budget, "")
		var values []int64
		for _, text := range asks {
			x, err := straight.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: text})
			straight.Check(err)
			y, err := broken.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: text})
			broken.Check(err)
			values = append(values, y.Value)
			if straight.Spent() != broken.Spent() && x.Way == y.Way {
				t.Errorf("%s: %v against %v", text, straight.Spent(), broken.Spent())
			}
			broken.Check(broken.Ledger.Close())
			broken.OpenLedger()
			broken.Rewire(broken.Data, broken.Ledger)
			quote, err := broken.Streams.Quote(ctx, api.StreamQuestion{Analyst: "ben", SQL: text})
			broken.Check(err)
			if quote.Way != stream.Cached || quote.Cost != (dp.Cost{}) {
				t.Errorf("%s after a restart: %+v", text, quote)
			}
		}
		spent := broken.Spent()
		for i, text := range asks {
			a, err := broken.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ben", SQL: text})
			broken.Check(err)
			if a.Value != values[i] || !a.Free || a.Way != stream.Cached {
				t.Errorf("%s: %+v, and %d before", text, a, values[i])
			}
		}
		if broken.Spent() != spent {
			t.Error("answers that were there cost something")
		}
		// With the same randomness the two are one stream: a restart changes nothing.
		if x, y := straight.Spent(), broken.Spent(); x != y {
			t.Errorf("%v without restarts, %v with", x, y)
		}
		straight.Leave()
		broken.Leave()
	}
}

// A stream goes its way between ordinary questions and sessions of the sparse vector, and all are
// charged in one account.
func TestStreamInterleaved(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	var sum dp.Amount
	sparse, err := w.Sparse.Open(ctx, api.SparseQuestion{Analyst: "ana", Above: 3, Sensitivity: 1, Request: curatortest.FreshID()})
	w.Check(err)
	sum += sparse.Cost.Epsilon
	for i, sex := range []string{"F", "M", "X"} {
		a, err := w.AskAs("ben", "SELECT COUNT(*) FROM patients WHERE sex = '"+sex+"'", curatortest.Amount("0.3"))
		w.Check(err)
		if len(a.Through) != 0 {
			t.Error("a question with a price went through the stream")
		}
		sum += a.Cost.Epsilon
		b := w.MustAsk("SELECT COUNT(*) FROM patients WHERE smoker AND sex = '" + sex + "'")
		if len(b.Through) != 1 {
			t.Errorf("%+v", b)
		}
		sum += b.Cost.Epsilon
		_, err = sparse.Ask(ctx, fmt.Sprintf("SELECT COUNT(*) FROM patients WHERE age > %d", 20+i), "1000000")
		w.Check(err)
	}
	if got := w.Spent().Epsilon; got != sum {
		t.Errorf("%v was spent, and answers cost %v", got, sum)
	}
}

// An engine that fails keeps what was charged, says one thing, and the same question is answered
// for the same charge.
func TestStreamEngineFails(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	w.BearFailures()
	r := w.Record()
	r.Before["run"] = func() error { return errors.New("a cause") }
	const text = "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	if _, err := w.AskSQL(text); err != sessionhost.ErrRun {
		t.Errorf("got %v; want the one fixed text", err)
	}
	spent := w.Spent()
	if spent.Epsilon == 0 {
		t.Error("the engine was asked without a charge")
	}
	r.Before["run"] = nil
	a := w.MustAsk(text)
	if got := w.Spent(); got.Epsilon < spent.Epsilon || a.Through == nil {
		t.Errorf("spent %v and then %v", spent, got)
	}
	if n := chargesOf(w, "round 1"); n > 1 {
		t.Errorf("one round was charged %d times", n)
	}
}

// chargesOf counts charges whose mechanisms are the same, of the same analyst.
func chargesOf(w *curatortest.World, _ string) int {
	seen := map[string]int{}
	most := 0
	for r, err := range w.Ledger.Records(ctx, 1) {
		w.Check(err)
		if r.Kind == ledger.KindCharge {
			seen[r.Query+r.Analyst]++
			most = max(most, seen[r.Query+r.Analyst])
		}
	}
	return most
}

// When the stream's budget is gone, what was asked is free, and in SQL a question is bought by
// itself.
func TestStreamSpent(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "        budget: 0.05\n        queries: 1000\n")
	first := w.MustAsk("SELECT COUNT(*) FROM patients WHERE sex = 'F'")
	if len(first.Through) != 1 {
		t.Fatalf("%+v", first)
	}
	refused, unchecked := 0, 0
	for i := range 60 {
		a, err := w.Streams.Ask(ctx,
			api.StreamQuestion{Analyst: "ana",
				SQL: fmt.Sprintf("diagnosis IN (%s) AND %s AND %s", pickOf(i, "'flu'", "'HIV'", "'asthma'", "'fracture'"),
					pickOf(i/4, "sex = 'F'", "sex = 'M'", "sex <> 'X'"),
					pickOf(i/12, "smoker", "NOT smoker", "age < 37", "age >= 37", "age < 74"))})
		var no *api.Refusal
		switch {
		case errors.As(err, &no):
			refused++
		case err != nil:
			t.Fatal(err)
		case a.Way == stream.Unchecked:
			if unchecked++; a.Error != nil || !a.Free {
				t.Errorf("%+v", a)
			}
		}
	}
	report, err := w.Streams.Report(ctx, "")
	w.Check(err)
	t.Logf("%+v; %d refused", report, refused)
	if refused+unchecked == 0 || report.Spent.Epsilon > curatortest.Amount("0.05") {
		t.Errorf("refused %d, spent %v", refused, report.Spent)
	}
	if again := w.MustAsk("SELECT COUNT(*) FROM patients WHERE sex = 'F'"); curatortest.Numbers(again) != curatortest.Numbers(first) ||
		!again.Receipt.Free {
		t.Error("what was asked is not free")
	}
	a := w.MustAsk("SELECT COUNT(*) FROM patients WHERE diagnosis = 'hypertension' AND smoker AND sex = 'X' AND age >= 74")
	for _, u := range a.Through {
		if u.Error == 0 {
			t.Errorf("%+v", a)
		}
	}
}

func pickOf(i int, all ...string) string { return all[i%len(all)] }

// Which way a question goes.
func TestStreamSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	const text = "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	for _, c := range []struct {
		settings api.Settings
		through  bool
	}{
		{api.Settings{}, true},
		{api.Settings{Stream: "on"}, true},
		{api.Settings{Stream: "off"}, false},
		{api.Settings{Epsilon: curatortest.Amount("0.1")}, false},
		{api.Settings{Mechanism: "laplace"}, false},
		{api.Settings{Confidence: 0.9995}, false},
		{api.Settings{Confidence: 0.999}, true},
		{api.Settings{Error: ratOf("1000")}, false}, // which costs less by itself
		{api.Settings{Error: ratOf("1000"), Stream: "on"}, true},
		{api.Settings{Error: ratOf("999"), Stream: "on"}, false},
	} {
		t.Run(fmt.Sprintf("%+v", c.settings), func(t *testing.T) { // whose data the next one takes over
			w := curatortest.NewStreams(t, curatortest.Plenty, "")
			q := api.Question{Analyst: "ana", SQL: text, Settings: c.settings, Request: curatortest.FreshID()}
			e, err := w.Explain(ctx, q)
			w.Check(err)
			a, err := w.Ask(ctx, q)
			w.Check(err)
			if (len(a.Through) > 0) != c.through || (e.Questions[0].Stream != nil) != c.through {
				t.Errorf("%+v: %+v", c.settings, a.Through)
			}
			if a.Cost.Epsilon > e.Cost.Epsilon {
				t.Errorf("%+v: cost %v, and at most %v was said", c.settings, a.Cost, e.Cost)
			}
		})
	}
}

// What cannot be asked is refused, costs nothing and says what to do; in SQL it goes the ordinary
// way.
func TestStreamRefuses(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	r := w.Record()
	for _, c := range []struct {
		q    api.StreamQuestion
		want string
	}{
		{api.StreamQuestion{Analyst: "eve", SQL: "smoker"}, "no analyst"},
		{api.StreamQuestion{Analyst: "ana", Stream: "nobody", SQL: "smoker"}, "no stream"},
		{api.StreamQuestion{Analyst: "ana", SQL: "age < 20"}, "not a count over the cells"},
		{api.StreamQuestion{Analyst: "ana", SQL: "cost < 20"}, "not a count over the cells"},
		{api.StreamQuestion{Analyst: "ana", SQL: "nothing < 20"}, "no column"},
		{api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F') OR (smoker"}, ""},
		{api.StreamQuestion{Analyst: "ana", SQL: "SELECT SUM(age) FROM patients"}, "not a count over the cells"},
		{api.StreamQuestion{Analyst: "ana", SQL: "SELECT sex, COUNT(*) FROM patients GROUP BY sex"}, "one count"},
		{api.StreamQuestion{Analyst: "ana", SQL: "SELECT COUNT(*) FROM visits"}, "not a count over the cells"},
		{api.StreamQuestion{Analyst: "ana", SQL: "SELECT 1 FROM (SELECT COUNT(*) FROM patients) t"}, "nothing around"},
		{api.StreamQuestion{Analyst: "ana", SQL: "smoker", Where: map[string][]string{"sex": {"F"}}},
			"both a condition in SQL and values of columns"},
		{api.StreamQuestion{Analyst: "ana", Where: map[string][]string{"sex": {"Q"}}}, "outside the domain"},
		{api.StreamQuestion{Analyst: "ana", Where: map[string][]string{"size": {"Q"}}}, "outside the domain"},
	} {
		_, err := w.Streams.Quote(ctx, c.q)
		var no *api.Refusal
		if c.want == "" {
			w.Check(err)
			continue
		}
		if !errors.As(err, &no) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.q, err)
		}
		if _, err := w.Streams.Ask(ctx, c.q); !errors.As(err, &no) {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
	if got := r.Take(); slices.Contains(got, "run") || slices.Contains(got, "charge") {
		t.Errorf("refused questions called %v", got)
	}
	if a := w.MustAsk("SELECT COUNT(*) FROM patients WHERE age < 20"); len(a.Through) != 0 || a.Cost.Epsilon != curatortest.Amount("0.1") {
		t.Errorf("%+v", a)
	}
	if _, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients", Request: "session 1"}); err == nil {
		t.Error("a request with a session's name")
	}
}

// As of a moment a quote says what was so then, and does not wait for a question that is being
// answered.
func TestStreamQuoteAsOf(t *testing.T) {
	w := curatortest.NewStreams(t, curatortest.Plenty, "")
	q := api.StreamQuestion{Analyst: "ben", SQL: "sex = 'F'"}
	r := w.Record()
	before := time.Now()
	q.AsOf = before
	fresh, err := w.Streams.Quote(ctx, q)
	w.Check(err)
	r.Before["run"] = func() error { // while somebody asks
		now, err := w.Streams.Quote(ctx, q)
		if err != nil || *now != *fresh {
			t.Errorf("while it is answered: %+v, %v; before: %+v", now, err, fresh)
		}
		return nil
	}
	_, err = w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
	w.Check(err)
	hidden, err := w.Streams.Quote(ctx, q)
	w.Check(err)
	if *hidden != *fresh {
		t.Errorf("after the answer and before its tick: %+v; before it: %+v", hidden, fresh)
	}
	q.AsOf = time.Now()
	seen, err := w.Streams.Quote(ctx, q)
	w.Check(err)
	if seen.Way != stream.Cached || seen.Cost != (dp.Cost{}) {
		t.Errorf("after its tick: %+v", seen)
	}
	// An explanation of a question in SQL too.
	x := api.Question{Analyst: "ben", SQL: "SELECT COUNT(*) FROM patients WHERE sex = 'F'", AsOf: before}
	e, err := w.Explain(ctx, x)
	w.Check(err)
	if e.Known {
		t.Error("an explanation knows what has not left yet")
	}
	x.AsOf = q.AsOf
	if e, err = w.Explain(ctx, x); err != nil || !e.Known {
		t.Errorf("%+v %v", e, err)
	}
}

func ratOf(text string) *big.Rat {
	r, err := dp.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return r
}
