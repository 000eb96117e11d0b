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
	"slices"

	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/session"
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
