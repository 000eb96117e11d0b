package lockstep

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/sessiontest"
	"github.com/discreet-dp/discreet/ledger"
)

// watchedLedger is a ledger of which everything is written down. It calls all data by one name, so
// that two neighbours have the same sessions.
type watchedLedger struct {
	*recordingLedger
	events *[]sessiontest.Event
	drawn  func() int
}

func (w watchedLedger) add(e sessiontest.Event) {
	e.Drawn = w.drawn()
	*w.events = append(*w.events, e)
}

func (w watchedLedger) Charge(ctx context.Context, c ledger.Charge) (ledger.Receipt, error) {
	r, err := w.recordingLedger.Charge(ctx, c)
	e := sessiontest.Event{Kind: sessiontest.Charged,
		Text: fmt.Sprint(c.Analyst, c.Dataset, c.Request, c.Query, c.Mechanisms, c.Cost, r.Again), Again: r.Again,
		Round: strings.Contains(c.Mechanisms, "above")}
	if err != nil {
		e.Text, e.Again = "refused "+e.Text+err.Error(), true
	}
	w.add(e)
	return r, err
}

func (w watchedLedger) Note(ctx context.Context, session string, entry []byte) error {
	return w.NoteIf(ctx, session, entry, ledger.Provided{})
}

func (w watchedLedger) NoteIf(ctx context.Context, session string, entry []byte, p ledger.Provided) error {
	err := w.recordingLedger.NoteIf(ctx, session, entry, p)
	if err == nil {
		w.add(sessiontest.Event{Kind: sessiontest.Written, Text: session + string(entry)})
	}
	return err
}

func (w watchedLedger) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	err := w.recordingLedger.Keep(ctx, sequence, key, answer)
	if err == nil {
		// When an answer was kept is known to the owner, as it is of every record.
		w.add(sessiontest.Event{Kind: sessiontest.Written, Text: key + string(moments.ReplaceAll(answer, nil))})
	}
	return err
}

// moments matches the time in an answer that is kept.
var moments = regexp.MustCompile(`,"kept":[0-9]+`)

func (w watchedLedger) DataVersion(ctx context.Context, dataset, label, _ string) (ledger.Version, error) {
	return w.recordingLedger.DataVersion(ctx, dataset, label, "the same")
}

// watchedEngine is an engine that says when it is used.
type watchedEngine struct {
	engine.Engine
	look func()
}

func (l watchedEngine) Run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	l.look()
	return l.Engine.Run(ctx, q)
}

func (b *recordingLedger) copy() *recordingLedger {
	return &recordingLedger{b.Ledger.Clone(), &outcome{}}
}

// conversation asks one question of a process that goes on with a ledger.
func conversation(t *testing.T, d Database, b *recordingLedger, seed uint64, ask func(*curator.Curator) (any, error)) []sessiontest.Event {
	t.Helper()
	var events []sessiontest.Event
	bits := detrand.NewStream("conversation", seed)
	w := watchedLedger{b, &events, bits.Drawn}
	r := mech.NewReleaser(entropy.FromReader(bits))
	r.Record(func(c mech.Call) {
		w.add(sessiontest.Event{Kind: sessiontest.Called,
			Text: fmt.Sprintf("%s %s %v", c.Mechanism, c.Parameter.RatString(), c.Sensitivity), Call: c})
	})
	c := curator.New(d.Dataset, watchedEngine{d.Engine, func() { w.add(sessiontest.Event{Kind: sessiontest.Looked}) }}, w, r)
	a, err := ask(c)
	if err != nil {
		w.add(sessiontest.Event{Kind: sessiontest.Failed, Text: err.Error()})
		return events
	}
	text := must(json.Marshal(a))
	w.add(sessiontest.Event{Kind: sessiontest.Said, Text: string(text)})
	return events
}

// conversationTally is what was seen of pairs of conversations.
type conversationTally struct {
	partings         map[sessiontest.Parting]int
	questions, moved int
	ratio            float64
	failed           map[string]int
}

// step asks one question of two neighbours that have the same past, and returns the past of the
// first and what happened there.
func (s *conversationTally) step(
	t *testing.T, where string, p Pair, now *recordingLedger, history []sessiontest.Event, seed uint64,
	ask func(*curator.Curator) (any, error),
) (*recordingLedger, []sessiontest.Event) {
	t.Helper()
	next, other := now.copy(), now.copy()
	a, b := conversation(t, p.A, next, seed, ask), conversation(t, p.B, other, seed, ask)
	for _, run := range [][]sessiontest.Event{a, b} {
		if err := sessiontest.Rules(slices.Concat(history, run)); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
	}
	v, err := sessiontest.Compare(a, b)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if s.partings == nil {
		s.partings, s.failed = map[sessiontest.Parting]int{}, map[string]int{}
	}
	if last := a[len(a)-1]; last.Kind == sessiontest.Failed {
		s.failed[last.Text]++
	}
	s.partings[v.Parting]++
	s.questions, s.moved, s.ratio = s.questions+v.Questions, s.moved+v.Moved, max(s.ratio, v.Ratio)
	return next, append(history, a...)
}

func (s *conversationTally) log(t *testing.T) {
	t.Logf("%d answered alike, %d calls on values that differ, up to %v of the sensitivity, apart %v", s.questions, s.moved,
		s.ratio, s.partings)
	for text, n := range s.failed {
		t.Logf("%d times %s", n, text)
	}
}

// streamed is a dataset with a stream, that is so small that one person makes a difference.
const streamed = `  clinic:
    engine: duckdb
    source: clinic
    unit: UNIT
    neighbours: NEIGHBOURS
    budget: BUDGET
    analysts: {ana: {share: 1}}
    tables:
      patients:
        UNIQUE
        columns:
          id:     {type: integer}
          sex:    {type: text, keys: [F, M, null]}
          smoker: {type: boolean}
          age:    {type: integer, bounds: [0, 99]}
          born:   {type: date, bounds: [2000-01-01, 2001-12-31]}
          weight: {type: decimal, bounds: [40, 160], granularity: 0.5}
    streams:
      people:
        table: patients
        columns: {sex: , age: {width: 25}, born: {width: 200}}
        size: 30
        alpha: 0.3
        beta: 0.3
        queries: 40
        PREDICTOR
`

func streaming(unit, neighbours, budget, predictor string) string {
	unique := "unique: id"
	if unit == "row" {
		unique = ""
	}
	return strings.NewReplacer("UNIT", unit, "NEIGHBOURS", neighbours, "BUDGET", budget, "UNIQUE", unique, "PREDICTOR",
		predictor).Replace(streamed)
}

// conditions are on all kinds of columns and their ends, in and between cells.
var conditions = []string{
	"sex = 'F'", "sex = 'M'", "sex IS NULL", "sex <> 'F'", "sex IN ('F', 'M')", "NOT (sex = 'F')", "age < 25", "age < 50", "age >= 75",
	"age BETWEEN 25 AND 49", "age IS NULL", "age >= 50 AND sex = 'F'",
	"age < 25 OR sex IS NULL", "sex = 'F' AND age IS NULL", "age >= 0", "age < 99", "born IS NOT NULL", "born < DATE '2000-07-19'",
	"sex = 'X'", "age < 30", "smoker", "1 = 1",
	"age >= 25 AND born IS NULL", "sex = 'M' AND age >= 50 AND born IS NOT NULL",
}

// On made-up neighbours the whole path of a stream, from the table on, does the same until a
// comparison or an answer makes the difference.
func TestStreamsOnNeighbours(t *testing.T) {
	var all conversationTally
	pairs := daily.Rounds(2, 40)
	worlds := []string{
		streaming("patients.id", "add-remove", "{epsilon: 99}", ""),
		streaming("patients.id", "substitute", "{epsilon: 99}", "predictor: weights"),
		streaming("row", "add-remove", "{epsilon: 99, delta: 1e-6}", ""),
		streaming("row", "substitute", "{epsilon: 20}", "predictor: weights"),
	}
	for _, i := range daily.Sample(t, []int{0, 1, 2, 3}, 2) {
		ds := onlyDataset(t, worlds[i])
		for number := range pairs {
			p := must(MakePair(ctx, ds, t.TempDir(), uint64(i), number))
			d := detrand.New(fmt.Sprint("conversation ", i), uint64(number))
			now, history := newRecordingLedger(&outcome{}), []sessiontest.Event(nil)
			for step := range 16 {
				condition := conditions[d.Below(len(conditions))]
				ask := func(c *curator.Curator) (any, error) {
					return c.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: condition})
				}
				if d.One(3) {
					ask = func(c *curator.Curator) (any, error) {
						return c.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients WHERE " + condition,
							Request: fmt.Sprint("step ", step), Settings: api.Settings{Stream: "on"}})
					}
				}
				where := fmt.Sprintf("world %d, %s, step %d, %s", i, p.Name, step, condition)
				now, history = all.step(t, where, p, now, history, uint64(i*100000+number*1000+step), ask)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	all.log(t)
	if all.moved < daily.Rounds(4, 20) || all.ratio != 1 {
		t.Error("too little was seen")
	}
}

// heldOut is a dataset with a table that is a holdout.
const heldOut = `  clinic:
    engine: duckdb
    source: clinic
    unit: UNIT
    neighbours: NEIGHBOURS
    budget: BUDGET
    analysts: {ana: {share: 1}}
    tables:
      patients:
        UNIQUE
        columns:
          id:     {type: integer}
          sex:    {type: text, keys: [F, M, null]}
          smoker: {type: boolean}
          age:    {type: integer, bounds: [0, 99]}
          weight: {type: decimal, bounds: [40, 160], granularity: 0.5}
    holdouts:
      trial: {table: patients, size: 30, threshold: 0.1, noise: 0.05, answers: 4, steps: STEPS}
`

func holding(unit, neighbours, budget string, steps int) string {
	unique := "unique: id"
	if unit == "row" {
		unique = ""
	}
	return strings.NewReplacer("UNIT", unit, "NEIGHBOURS", neighbours, "BUDGET", budget, "UNIQUE", unique, "STEPS",
		fmt.Sprint(steps)).Replace(heldOut)
}

// scores are expressions from 0 to 1, and some that are not.
var scores = []string{
	"CASE WHEN sex = 'F' THEN 1 ELSE 0 END", "CASE WHEN smoker THEN 1 ELSE 0 END", "CASE WHEN age < 50 THEN 1 ELSE 0 END",
	"CASE WHEN sex = 'M' AND age >= 30 THEN 1 ELSE 0 END",
	"CASE WHEN weight > 100 THEN 1 ELSE 0 END", "CASE WHEN sex IS NULL THEN 1 ELSE 0 END",
	"CASE WHEN smoker = (age > 40) THEN 1 ELSE 0 END", "age", "1", "0", "CASE WHEN age > 10 THEN 0.5 ELSE 0 END",
	"CASE WHEN weight / age > 2 THEN 1 ELSE 0 END",
}

// On made-up neighbours the whole path of a holdout that is a table does the same until a
// comparison or an answer makes the difference.
func TestHoldoutsOnNeighbours(t *testing.T) {
	var all conversationTally
	pairs := daily.Rounds(2, 50)
	for i, world := range []string{
		holding("patients.id", "add-remove", "{epsilon: 99}", 1),
		holding("patients.id", "substitute", "{epsilon: 99}", 2),
		holding("row", "add-remove", "{epsilon: 99, delta: 1e-6}", 4),
		holding("row", "substitute", "{epsilon: 5}", 1),
	} {
		ds := onlyDataset(t, world)
		for number := range pairs {
			p := must(MakePair(ctx, ds, t.TempDir(), uint64(i), number))
			d := detrand.New(fmt.Sprint("scores ", i), uint64(number))
			now, history := newRecordingLedger(&outcome{}), []sessiontest.Event(nil)
			for step := range 16 {
				expression, training := scores[d.Below(len(scores))], fmt.Sprint("0.", d.Below(100))
				ask := func(c *curator.Curator) (any, error) {
					return c.Holdouts.Ask(ctx, api.HoldoutQuestion{Analyst: "ana", SQL: expression, Training: training})
				}
				if d.One(3) {
					ask = func(c *curator.Curator) (any, error) {
						return c.Ask(ctx, api.Question{Analyst: "ana", SQL: "SELECT holdout_mean(" + expression + ", " + training +
							") FROM patients", Request: fmt.Sprint("step ", step)})
					}
				}
				where := fmt.Sprintf("world %d, %s, step %d, %s", i, p.Name, step, expression)
				now, history = all.step(t, where, p, now, history, uint64(i*100000+number*1000+step), ask)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	all.log(t)
	if all.moved < daily.Rounds(8, 20) || all.ratio != 1 {
		t.Error("too little was seen")
	}
}
