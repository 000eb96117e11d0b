package admission

import (
	"log/slog"
	"runtime"
	"time"
)

// Options say how much a dispatcher does at once and for how long. The zero value is sensible.
type Options struct {
	// Running is how many questions have a turn at once; 0 means two for each core, and four at
	// least: most of a turn a short question waits for the tick. One analyst has at most half.
	Running int
	// Training is how many models are trained at once; 0 means a quarter of Running, and one at
	// least. Each of them has a turn of Running while it is trained.
	Training int
	// Waiting is how many questions of one analyst may wait; 0 means 200, which is more than a
	// user has connections. Those that are answered from memory meanwhile do not count.
	Waiting int
	// Timeout ends a question that runs for longer; 0 means five minutes. What was charged stays
	// charged.
	Timeout time.Duration
	// Rate is how many questions an analyst may ask in a minute, with free and refused ones; 0
	// means 600.
	Rate int
	// Patience is how long a question waits that came too early for Rate. One that would wait for
	// longer is turned away. 0 means 10 seconds, and below 0 none waits.
	Patience time.Duration
	// Sessions is how many sessions an analyst may have open; 0 means 8.
	Sessions int
	// Idle ends a session that nobody asked for so long; 0 means an hour.
	Idle time.Duration
	// Ticks are those of datasets whose policy leaves them to be chosen, by name;
	// [policy.UsualTick] where there is none.
	Ticks map[string]time.Duration
	// Opening says that the data is not open yet: questions wait, and after a while get ErrOpening,
	// until [Dispatcher.Opened]. The catalogue does not wait.
	Opening bool
	// Log gets one line for each question: who, when, what came of it, at which cost, and how long
	// it took, which is for the owner alone: it can depend on the data. No value of the data or of
	// an answer is in it, and of the text only the beginning of its hash, unless Texts says
	// otherwise: literals of a question can be about a person. A hash is no secret to somebody who
	// can guess the text. Questions that are over a limit are logged at the level of debugging.
	// Without a Log nothing is logged.
	Log   *slog.Logger
	Texts bool
}

// withDefaults returns the options with what zero stands for.
func (o Options) withDefaults() Options {
	for _, f := range []struct {
		field *int
		usual int
	}{{&o.Running, max(4, 2*runtime.GOMAXPROCS(0))}, {&o.Waiting, 200}, {&o.Rate, 600}, {&o.Sessions, 8}} {
		if *f.field <= 0 {
			*f.field = f.usual
		}
	}
	if o.Training <= 0 {
		o.Training = max(1, o.Running/4)
	}
	if o.Timeout <= 0 {
		o.Timeout = 5 * time.Minute
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Second
	}
	if o.Idle <= 0 {
		o.Idle = time.Hour
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
