package lockstep

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/entropy"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/sessiontest"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
)

// watchedLedger is a ledger of which everything is written down. It calls all data by one name, so that
// two neighbours have the same sessions.
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
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
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
	t *testing.T, where string, p Pair, now *recordingLedger, history []sessiontest.Event, seed uint64, ask func(*curator.Curator) (any, error),
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
