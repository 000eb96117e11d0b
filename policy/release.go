package policy

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// Release says when an answer leaves the server. The zero value is what a policy says that says
// nothing: at its deadline, on a tick that is chosen when the data is opened.
type Release struct {
	// Immediate says that answers leave as soon as they are there. Then the clock tells how long
	// they took.
	Immediate bool
	// TickAlone says that answers leave on the first tick after they are there, and not at a
	// deadline. Then the clock tells how many ticks they took.
	TickAlone bool
	// Tick is the time between two moments at which answers may leave, where the owner has set it;
	// 0 where it is chosen.
	Tick time.Duration
	// Stated says that the policy says when, be it only "deadline": nobody else decides it then.
	Stated bool
}

// UsualTick is for whoever does not know how large the data is.
const UsualTick = 250 * time.Millisecond

// Below the shortest tick the noise of a network hides as much. Beyond the longest, programs give
// up.
const minTick, maxTick = 10 * time.Millisecond, time.Minute

// ticks are those that are chosen: for data of at most 10^5 rows, 10^6, 10^7 and 10^8. Each is some
// times what a question takes that bounds people with many rows, on two cores (docs/benchmarks.md).
var ticks = []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, 2 * time.Second, 10 * time.Second}

// For is the tick for data of at most 10^magnitude rows, all tables together; 0 where answers leave
// at once. A tick can be seen by everybody, so what it is chosen by must not tell about people: the
// number of rows is rounded up to a power of ten, and nothing is measured on them.
func (r Release) For(magnitude int) time.Duration {
	switch at := max(0, magnitude-5); {
	case r.Immediate:
		return 0
	case r.Tick > 0:
		return r.Tick
	case at < len(ticks):
		return ticks[at]
	}
	return maxTick
}

// Chosen reports whether the tick is left to whoever opens the data.
func (r Release) Chosen() bool { return !r.Immediate && r.Tick == 0 }

// Deadline reports whether answers leave at a time that is known before the data is looked at.
func (r Release) Deadline() bool { return !r.Immediate && !r.TickAlone }

const wantRelease = "deadline, {deadline: 250ms}, tick, {tick: 250ms} or immediate"

// readRelease reads a word, or a mapping with the length of the tick.
func (in datasetReader) readRelease(f fields) {
	v, ok := f.get("release")
	if !ok {
		return
	}
	in.d.Release.Stated = true
	if v.node.Kind == yaml.MappingNode {
		in.readTick(v)
		return
	}
	text, ok := in.r.text(v, "release", wantRelease)
	switch {
	case !ok:
	case text == "immediate":
		in.d.Release.Immediate = true
	case text == "tick":
		in.d.Release.TickAlone = true
	case text == "deadline":
	default:
		in.r.at(v, "there is no release %s; write %s%s", quote(text), wantRelease, didYouMean(text, "deadline", "immediate", "tick"))
	}
}

func (in datasetReader) readTick(at element) {
	f, ok := in.r.fields(at, at.node, "a release", releaseKeys)
	if !ok {
		return
	}
	key := "deadline"
	v, ok := f.get(key)
	if tick, has := f.get("tick"); has {
		if ok {
			in.r.at(tick, "a release has a deadline or a tick, and not both; write %s", wantRelease)
			return
		}
		in.d.Release.TickAlone = true
		v, ok, key = tick, true, "tick"
	}
	if !ok && len(at.node.Content) > 0 {
		return // what is there instead was refused, with what to write
	}
	if !ok {
		f.need(in.r, key, "write how long a tick is, such as 250ms or 1s")
		return
	}
	text, ok := in.r.text(v, key, "a time from 10ms to 60s, such as 250ms or 1s")
	if !ok {
		return
	}
	tick, err := time.ParseDuration(text)
	switch {
	case err != nil:
		in.r.at(v, "'%s' is %s, which is not a time; write a number and its unit in one word, such as 250ms or 1s", key, quote(text))
	case tick < minTick || tick > maxTick:
		in.r.at(v, "a tick of %s is out of range; write a time from 10ms to 60s, such as 250ms", text)
	default:
		in.d.Release.Tick = tick
	}
}
