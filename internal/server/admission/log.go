package admission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// entry is the line of one question.
type entry struct {
	kind             string // ask, explain, describe, open, session, train, quote, ...
	analyst, dataset string
	text             string
	training         bool
	recall           func(context.Context) bool // answers it from memory, where it can be; nil where it never can
	refusal          error                      // why it is turned away before it has a turn, or nil
	begin            time.Time
	outcome          outcome
	cost             *dp.Cost
	sequence         uint64
	dispute          *api.Disagreement // what two checks differ in, or nil
	ledgerProblem    error             // what is wrong with the ledger, or nil
	dataProblem      *api.DataError    // why the data cannot be opened, or nil
	settled          bool              // it leaves a tick after it has last looked at data
}

func (e *entry) setCost(cost dp.Cost, sequence uint64) {
	e.outcome, e.sequence = free, sequence
	if cost != (dp.Cost{}) {
		e.outcome, e.cost = answered, &cost
	}
}

// log writes the line. Reasons of refusals are not in it, because they quote the text.
func (r *runner) log(e *entry) {
	level := slog.LevelInfo
	switch e.outcome {
	case limited:
		level = slog.LevelDebug // or somebody could fill the disk with them
	case timeout, failed:
		level = slog.LevelWarn
	case internal, disputed:
		level = slog.LevelError
	}
	if e.ledgerProblem != nil || e.dataProblem != nil {
		level = slog.LevelError
	}
	attributes := []slog.Attr{
		slog.String("kind", e.kind), slog.String("analyst", shortName(e.analyst)), slog.String("dataset", shortName(e.dataset)),
		slog.String("outcome", string(e.outcome)),
	}
	if e.text != "" {
		attributes = append(attributes, slog.String("hash", hash(e.text)))
		if r.options.Texts {
			attributes = append(attributes, slog.String("text", e.text))
		}
	}
	if e.dispute != nil {
		attributes = append(attributes, slog.String("difference", e.dispute.Detail))
	}
	if e.ledgerProblem != nil {
		attributes = append(attributes, slog.String("ledger", e.ledgerProblem.Error()))
	}
	if e.dataProblem != nil {
		attributes = append(attributes, slog.String("data", ownerText(e.dataProblem)))
	}
	if e.cost != nil {
		attributes = append(attributes, slog.String("epsilon", e.cost.Epsilon.String()), slog.String("rho", e.cost.Rho.String()),
			slog.String("delta", e.cost.Delta.String()))
	}
	if e.sequence > 0 {
		attributes = append(attributes, slog.Uint64("sequence", e.sequence))
	}
	attributes = append(attributes, slog.Float64("ms", float64(time.Since(e.begin).Microseconds())/1000))
	r.options.Log.LogAttrs(context.Background(), level, "question", attributes...)
}

// hash is enough of a hash to find a text again that one has.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// shortName keeps names that somebody made up from filling the log.
func shortName(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "..."
	}
	return name
}

// logPanic notes where something broke: lines of our own program, and nothing that they worked on.
func (r *runner) logPanic() {
	var at []string
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for more := true; more && len(at) < 12; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			at = append(at, f.Function)
		}
	}
	r.options.Log.LogAttrs(context.Background(), slog.LevelError, "internal error", slog.Any("at", at))
}

// ownerText is why data cannot be read, as its owner is told: the first line of it, which is long
// where rules for a user follow.
func ownerText(err error) string {
	text := err.Error()
	var more interface{ Explain() string }
	if errors.As(err, &more) {
		text, _, _ = strings.Cut(more.Explain(), "\n")
	}
	return text
}

// Stats are what the dispatcher counts, none of which depends on data: how many questions came,
// were refused for their text, for the budget, for limits, and how many are there. Of time there is
// nothing, and of failures only those that the text or the ledger decides.
//
// Questions are counted when they come, and prices and descriptions among them; what came of them
// when it leaves. Running and Waiting share out the questions whose answers have not left, in as
// many as can have a turn and the rest: who really is with the engine would show how long questions
// take.
type Stats struct {
	Questions, Answered, Free, Refused, Exhausted, Closed, Limited uint64
	// refused because two checks of ours do not agree: something to look at
	Disputed         uint64
	Running, Waiting int
	Sessions         int
}

// counts are the part of Stats that only grows.
type counts struct {
	mu sync.Mutex
	Stats
}

func (c *counts) addQuestion() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Questions++
}

func (c *counts) addOutcome(o outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch o {
	case answered:
		c.Answered++
	case free:
		c.Answered++
		c.Free++
	case refused:
		c.Refused++
	case disputed:
		c.Disputed++
	case exhausted:
		c.Exhausted++
	case closed:
		c.Closed++
	case limited:
		c.Limited++
	}
}

// Stats returns what was counted since the start.
func (d *Dispatcher) Stats() Stats {
	d.runner.counts.mu.Lock()
	s := d.runner.counts.Stats
	d.runner.counts.mu.Unlock()
	s.Running, s.Waiting = d.runner.queue.count()
	s.Sessions = d.sessions.open.count()
	return s
}
