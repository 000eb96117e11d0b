package admission

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// entry is the line of one question.
type entry struct {
	kind             string // ask, explain, describe, open, session, train, quote, ...
	analyst, dataset string
	text             string
	heavy            bool
	recall           func(context.Context) bool // answers it from memory, where it can be; nil where it never can
	away             error                      // why it is turned away before it has a turn, or nil
	begin            time.Time
	outcome          outcome
	cost             *dp.Cost
	sequence         uint64
	dispute          *api.Disagreement // what two checks differ in, or nil
	books            error             // what is wrong with the ledger, or nil
	data             *api.DataError    // why the data cannot be opened, or nil
	settled          bool              // it leaves a tick after it has last looked at data
}

// paid notes what an answer cost.
func (e *entry) paid(cost dp.Cost, sequence uint64) {
	e.outcome, e.sequence = free, sequence
	if cost != (dp.Cost{}) {
		e.outcome, e.cost = answered, &cost
	}
}

// log writes the line. Reasons of refusals are not in it, because they quote the text.
func (d *Dispatcher) log(e *entry) {
	level := slog.LevelInfo
	switch e.outcome {
	case limited:
		level = slog.LevelDebug // or somebody could fill the disk with them
	case timeout, failed:
		level = slog.LevelWarn
	case internal, disputed:
		level = slog.LevelError
	}
	if e.books != nil || e.data != nil {
		level = slog.LevelError
	}
	attributes := []slog.Attr{
		slog.String("kind", e.kind), slog.String("analyst", short(e.analyst)), slog.String("dataset", short(e.dataset)),
		slog.String("outcome", string(e.outcome)),
	}
	if e.text != "" {
		attributes = append(attributes, slog.String("hash", hash(e.text)))
		if d.options.Texts {
			attributes = append(attributes, slog.String("text", e.text))
		}
	}
	if e.dispute != nil {
		attributes = append(attributes, slog.String("difference", e.dispute.Detail))
	}
	if e.books != nil {
		attributes = append(attributes, slog.String("ledger", e.books.Error()))
	}
	if e.data != nil {
		attributes = append(attributes, slog.String("data", explained(e.data)))
	}
	if e.cost != nil {
		attributes = append(attributes, slog.String("epsilon", e.cost.Epsilon.String()), slog.String("rho", e.cost.Rho.String()),
			slog.String("delta", e.cost.Delta.String()))
	}
	if e.sequence > 0 {
		attributes = append(attributes, slog.Uint64("sequence", e.sequence))
	}
	attributes = append(attributes, slog.Float64("ms", float64(time.Since(e.begin).Microseconds())/1000))
	d.options.Log.LogAttrs(context.Background(), level, "question", attributes...)
}

// hash is enough of a hash to find a text again that one has.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// short keeps names that somebody made up from filling the log.
func short(name string) string {
	if len(name) > 64 {
		return strings.ToValidUTF8(name[:64], "") + "..."
	}
	return name
}

// panicked notes where something broke: lines of our own program, and nothing that they worked on.
func (d *Dispatcher) panicked() {
	var at []string
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(3, pc)])
	for more := true; more && len(at) < 12; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") {
			at = append(at, f.Function)
		}
	}
	d.options.Log.LogAttrs(context.Background(), slog.LevelError, "internal error", slog.Any("at", at))
}

// explained is why data cannot be read, as its owner is told: the first line of it, which is long
// where rules for a user follow.
func explained(err error) string {
	text := err.Error()
	var more interface{ Explain() string }
	if errors.As(err, &more) {
		text, _, _ = strings.Cut(more.Explain(), "\n")
	}
	return text
}
