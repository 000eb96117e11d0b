// Package sessiontest watches interactive mechanisms, which are sessions on a [session.Host], and
// says what is wrong with what it saw. It is for tests and audits.
//
// A [Recorder] stands between a session and its host, and hears of every call of its releaser: what
// is charged, what is written, what is drawn, and what is said to the analyst, in one order.
// [Rules] looks at one run: nothing is looked at before it is paid for, no round outlives its
// answer, and nothing is said before it is written. [Compare] looks at two runs on neighbouring
// databases with the same randomness: all that they do is the same until a call on values that
// differ, by no more than it was calibrated to, and only what was answered to that call may make a
// difference.
package sessiontest

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/sealed"
)

// Kind is what happened.
type Kind string

const (
	Charged Kind = "charge"
	Written Kind = "entry"
	Called  Kind = "call"   // of the releaser
	Said    Kind = "answer" // to the analyst
	Failed  Kind = "error"  // said to the analyst
	Read    Kind = "journal read"
	Looked  Kind = "look" // at private data
)

// Event is one thing that happened.
type Event struct {
	Kind Kind
	// Text is all of it that is no private value. An entry's is its bytes.
	Text string
	// Round and Again are of a charge: whether it buys a round of comparisons, and whether it had
	// been made before.
	Round, Again bool
	// Call is of a call.
	Call mech.Call
	// Drawn is how much randomness had been drawn.
	Drawn int
}

// Recorder is a host that writes down all that happens. It is for one goroutine.
type Recorder struct {
	session.Host
	// Buys reports whether a charge buys a round of comparisons with one answer, and not one
	// answer.
	Buys  func(session.Charge) bool
	drawn func() int
	seen  []Event
}

// New watches a host and a releaser. Drawn says how many bytes of randomness the releaser's source
// has handed out.
func New(h session.Host, r *mech.Releaser, drawn func() int, buys func(session.Charge) bool) *Recorder {
	w := &Recorder{Host: h, Buys: buys, drawn: drawn}
	r.Record(func(c mech.Call) {
		w.add(Event{Kind: Called, Text: fmt.Sprintf("%s %s %v", c.Mechanism, c.Parameter.RatString(), c.Sensitivity), Call: c})
	})
	return w
}

func (w *Recorder) add(e Event) {
	e.Drawn = w.drawn()
	w.seen = append(w.seen, e)
}

// Charge implements [session.Host].
func (w *Recorder) Charge(ctx context.Context, c session.Charge) (session.Receipt, error) {
	r, err := w.Host.Charge(ctx, c)
	if err != nil {
		w.add(Event{Kind: Charged, Text: fmt.Sprintf("%s refused: %v", c.Name, err), Again: true})
		return r, err
	}
	w.add(Event{Kind: Charged, Text: fmt.Sprintf("%s: %s for %v, again %v", c.Name, c.Mechanisms, c.Cost, r.Again),
		Round: w.Buys(c), Again: r.Again})
	return r, nil
}

// Append implements [session.Host].
func (w *Recorder) Append(ctx context.Context, entry []byte) error {
	err := w.Host.Append(ctx, entry)
	if err == nil {
		w.add(Event{Kind: Written, Text: string(entry)})
	}
	return err
}

// Entries implements [session.Host].
func (w *Recorder) Entries(ctx context.Context) ([][]byte, error) {
	w.add(Event{Kind: Read})
	return w.Host.Entries(ctx)
}

// Say is to be called with all that the analyst sees of an answer, and Fail with an error.
func (w *Recorder) Say(text string) { w.add(Event{Kind: Said, Text: text}) }

// Fail is described with [Recorder.Say].
func (w *Recorder) Fail(err error) { w.add(Event{Kind: Failed, Text: err.Error()}) }

// Look is to be called when private data is read for the session.
func (w *Recorder) Look() { w.add(Event{Kind: Looked}) }

// Events returns what happened.
func (w *Recorder) Events() []Event { return slices.Clone(w.seen) }

// Parting says how two runs went apart.
type Parting string

const (
	Never        Parting = "never"
	ByComparison Parting = "by a comparison"
	ByRelease    Parting = "by a release"
)

// Verdict is what a comparison of two runs saw.
type Verdict struct {
	// Questions that were answered alike, calls that were compared, and how many of these were on
	// values that differ.
	Questions, Calls, Moved int
	Parting                 Parting
	// Ratio is the farthest that values were apart, as a part of what the noise was calibrated to.
	Ratio float64
}

// Compare compares two runs of one script on neighbours, with the same randomness. From where an
// answer differs the scripts may differ, so it stops there.
func Compare(x, y []Event) (v Verdict, err error) {
	v.Parting = Never
	moved, last := false, "" // in this question: whether a call was on values that differ, and the last such call
	for i := range max(len(x), len(y)) {
		if i >= len(x) || i >= len(y) {
			return v, fmt.Errorf("event %d happens to one of them only", i+1)
		}
		a, b := x[i], y[i]
		if a.Kind != b.Kind || a.Text != b.Text {
			switch {
			case !moved:
				return v, fmt.Errorf("event %d is %s %q against %s %q, and this question was put to no values that differ", i+1, a.Kind,
					a.Text, b.Kind, b.Text)
			case a.Kind == Charged || b.Kind == Charged:
				return v, fmt.Errorf("event %d is %s %q against %s %q: what is charged depends on what was seen", i+1, a.Kind,
					a.Text, b.Kind, b.Text)
			case last == comparisonName && a.Kind != b.Kind && (a.Kind == Called || b.Kind == Called):
				v.Parting = ByComparison
			case last != comparisonName && a.Kind == Written && b.Kind == Written:
				v.Parting = ByRelease
			default:
				return v, fmt.Errorf("event %d is %s against %s after a call of %s", i+1, a.Kind, b.Kind, last)
			}
			return v, compareAfterParting(x[i:], y[i:], v.Parting)
		}
		if a.Drawn != b.Drawn {
			return v, fmt.Errorf("event %d (%s): %d bytes of randomness are drawn against %d", i+1, a.Kind, a.Drawn, b.Drawn)
		}
		switch a.Kind {
		case Said, Failed:
			v.Questions++
			moved, last = false, ""
		case Called:
			v.Calls++
			ratio, err := callDistance(a, b)
			v.Ratio = max(v.Ratio, ratio)
			if err != nil {
				return v, fmt.Errorf("event %d: %w", i+1, err)
			}
			if ratio > 0 {
				v.Moved++
				moved, last = true, a.Call.Mechanism
			}
		}
	}
	return v, nil
}

// compareAfterParting compares what two runs that went apart write and say next. What could not be
// written must not be told, also not by an error of its own; and what a comparison said must not be
// told by the length of its entry, which decides whether it fits on a disk.
func compareAfterParting(x, y []Event, by Parting) error {
	next := func(run []Event) (written bool, length int, text string) {
		for _, e := range run {
			switch e.Kind {
			case Written:
				if !written {
					length = len(e.Text)
				}
				written = true
			case Said, Failed:
				return written, length, e.Text
			}
		}
		return written, length, ""
	}
	a, short, said := next(x)
	b, long, other := next(y)
	if (!a || !b) && said != other {
		return fmt.Errorf("%q is said against %q, and one of them is not written down", said, other)
	}
	if a && b && by == ByComparison && short != long {
		return fmt.Errorf("an entry has %d bytes against %d", short, long)
	}
	return nil
}

// callDistance is how far the values of two calls are apart, as a part of what the noise was
// calibrated to.
func callDistance(a, b Event) (float64, error) {
	m, ok := sealed.Between(a.Call.Values, b.Call.Values)
	if !ok {
		return 0, fmt.Errorf("there are %d values against %d", a.Call.Values.Len(), b.Call.Values.Len())
	}
	distance, bound := m.L1, new(big.Int)
	switch a.Call.Sensitivity.Norm() {
	case dp.L1:
		bound = a.Call.Sensitivity.L1()
		if each := a.Call.Sensitivity.Each(); m.Largest.Cmp(each) > 0 {
			return 1, fmt.Errorf("one person moves a value of %q by %v, and %v is claimed", a.Text, m.Largest, each)
		}
	case dp.L2:
		distance, bound = m.L2Squared, a.Call.Sensitivity.L2Squared()
	}
	if bound.Sign() <= 0 {
		return 0, fmt.Errorf("no sensitivity is declared")
	}
	ratio, _ := new(big.Rat).SetFrac(distance, bound).Float64()
	if distance.Cmp(bound) > 0 {
		return ratio, fmt.Errorf("one person moves the values of %q %.4g times as far as it is calibrated to", a.Text, ratio)
	}
	return ratio, nil
}

// comparisonName is the name of the mechanism that compares.
const comparisonName = "above"

type paidRounds struct {
	rounds, answers int  // not begun or given
	open            bool // a round that may compare
}

// Rules says which rule of package session a run has broken, or nil. What a charge bought, and was
// not used, may be used later, and what was drawn and not written before a restart was seen by
// nobody and may be drawn again.
func Rules(run []Event) error {
	var now, written paidRounds // written is as of the last entry
	noted := false              // there is an entry since the last charge of a round
	compared := false           // this question was
	loose := false              // something was drawn that is not written
	lost := false               // and never will be: an error was said
	charged := false            // anything was
	for i, e := range run {
		wrong := func(text string) error { return fmt.Errorf("event %d (%s): %s", i+1, e.Kind, text) }
		if lost && (e.Kind == Charged || e.Kind == Called) {
			return wrong("it goes on after an entry that could not be written, and has not read what was")
		}
		switch e.Kind {
		case Charged:
			switch {
			case e.Again:
			case e.Round:
				now.rounds, written.rounds = now.rounds+1, written.rounds+1
			default:
				now.answers, written.answers = now.answers+1, written.answers+1
			}
			charged = charged || !e.Again
			noted = noted && !e.Round
		case Written:
			noted, loose, written = true, false, now
		case Called:
			loose = true
			switch {
			case e.Call.Mechanism == comparisonName && compared:
				return wrong("two comparisons for one question")
			case e.Call.Mechanism == comparisonName && now.open:
				compared = true
			case e.Call.Mechanism == comparisonName && now.rounds == 0:
				return wrong("a comparison that nobody paid for")
			case e.Call.Mechanism == comparisonName && !noted:
				return wrong("a comparison with a threshold that is not written down")
			case e.Call.Mechanism == comparisonName:
				now.rounds--
				now.open, compared = true, true
			case compared:
				// The answer of the round, which ends with it.
				now.open, compared = false, false
			case now.answers == 0:
				return wrong("an answer that nobody paid for")
			default:
				now.answers--
			}
		case Said:
			if loose {
				return wrong("it is said before it is written down")
			}
			compared = false
		case Looked:
			if !charged {
				return wrong("private data is read before anything is paid for")
			}
		case Failed:
			lost, compared = loose, false
		case Read:
			if loose {
				now = written
			}
			compared, loose, lost = false, false, false
		}
	}
	return nil
}
