package streamsession

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/mechanism/stream/predict"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// notes is a curator whose ledger is notes in memory. What a curator does with streams is tested
// there.
type notes struct {
	sessionhost.Verifier
	sessionhost.Journal
	of map[string][][]byte
}

func (n *notes) CheckCells(*tree.Query) error        { return nil }
func (n *notes) Era(context.Context) (string, error) { return "now", nil }
func (n *notes) NoteIf(_ context.Context, session string, entry []byte, p ledger.Provided) error {
	if p.After != nil && *p.After != len(n.of[session]) {
		return ledger.ErrBehind
	}
	n.of[session] = append(n.of[session], slices.Clone(entry))
	return nil
}

func (n *notes) Notes(_ context.Context, session string) ([][]byte, error) { return n.of[session], nil }

func (n *notes) NotesAfter(_ context.Context, session string, after int) ([][]byte, error) {
	return n.of[session][after:], nil
}

const streams = `    streams:
      people:
        table: patients
        columns: {sex: , smoker: , diagnosis: , age: {width: 37}}
        size: 20000
        alpha: 0.05
`

// While somebody has a session, nobody opens a second one on its journal, whatever becomes of the
// data in between; and sessions on data that is not the latest are forgotten with their last user.
func TestOneSessionForAJournal(t *testing.T) {
	parsed, err := policy.Parse("policy.yaml",
		[]byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 100, per_query: {default: 0.1, max: 1}}")+streams))
	if err != nil {
		t.Fatal(err)
	}
	n := &notes{of: map[string][][]byte{}}
	c := New(sessionhost.Access{Verifier: n, Journal: n, Dataset: parsed.Datasets["hospital"],
		Releaser: mech.NewReleaser(noise.NewSource())})
	p, err := c.namedStream("people")
	if err != nil {
		t.Fatal(err)
	}
	open := func(version string) *openStream {
		t.Helper()
		o, err := c.openStream(t.Context(), p, sessionhost.Data{Version: ledger.Version{ID: version}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for _, version := range []string{"a", "b", "a", "b"} {
		open(version).close()
		if len(c.open) != 1 {
			t.Errorf("%d sessions are kept", len(c.open))
		}
	}
	held, other, again := open("a"), open("b"), open("a")
	if held == other || held != again {
		t.Error("two sessions on one journal")
	}
	other.close()
	held.close()
	again.close()
	if len(c.open) > 1 {
		t.Errorf("%d sessions are kept", len(c.open))
	}
}

// A stream whose journal has other prices than this version would choose is quoted at its own.
func TestQuotedAtItsOwnPrices(t *testing.T) {
	parsed, err := policy.Parse("policy.yaml",
		[]byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 100, per_query: {default: 0.1, max: 1}}")+streams))
	if err != nil {
		t.Fatal(err)
	}
	n := &notes{of: map[string][][]byte{}}
	open := func() *openStream {
		t.Helper()
		c := New(sessionhost.Access{Verifier: n, Journal: n, Dataset: parsed.Datasets["hospital"],
			Releaser: mech.NewReleaser(noise.NewSource())})
		p, err := c.namedStream("people")
		if err != nil {
			t.Fatal(err)
		}
		o, err := c.openStream(t.Context(), p, sessionhost.Data{Version: ledger.Version{ID: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	now := open().dearest()
	for _, entries := range n.of {
		// The noise of a threshold, fourth of the prices, cost twice as much.
		var head struct {
			Version int
			Config  string
			Prices  []any
		}
		if err := json.Unmarshal(entries[0][1:], &head); err != nil {
			t.Fatal(err)
		}
		head.Prices[3] = 2 * head.Prices[3].(float64)
		text, err := json.Marshal(head)
		if err != nil {
			t.Fatal(err)
		}
		entries[0] = append([]byte{'h'}, text...)
	}
	o := open()
	if then := o.dearest(); then.Epsilon <= now.Epsilon || then != o.session.Tariff().Round {
		t.Errorf("a round is quoted at %v, and costs %v", then, o.session.Tariff().Round)
	}
}

// What was bought by itself is learned once, and where answers leave on a tick not before it has
// left.
func TestLessonsLeaveWithTheirAnswers(t *testing.T) {
	c, now := New(sessionhost.Access{}), time.Now()
	c.lessons = map[string][]lesson{"a": {{now, predict.Released{}}, {now.Add(time.Second), predict.Released{}}}}
	for i, want := range []int{0, 1, 0, 1, 0} {
		asOf := []time.Time{now.Add(-time.Second), now, now, {}, {}}[i]
		if got := c.takeLessons("a", asOf); len(got) != want {
			t.Errorf("%d: %d lessons; want %d", i, len(got), want)
		}
	}
	if len(c.lessons) != 0 {
		t.Errorf("%v is left to learn", c.lessons)
	}
}
