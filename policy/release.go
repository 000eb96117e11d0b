package policy

import (
	"time"

	"go.yaml.in/yaml/v3"
)

// Release says when an answer leaves the server.
type Release struct {
	// Tick is the time between two moments at which answers may leave; 0 means at once.
	Tick time.Duration
}

const (
	defaultTick = 250 * time.Millisecond
	// Below the shortest tick the noise of a network hides as much. Beyond the longest, programs give up.
	minTick, maxTick = 10 * time.Millisecond, time.Minute
)

const wantRelease = "immediate, tick, or {tick: 250ms}"

// readRelease reads a word, or a mapping with the length of the tick.
func (d *Dataset) readRelease(r *reader, f fields) {
	v, ok := f.get("release")
	if !ok {
		return
	}
	if v.node.Kind == yaml.MappingNode {
		d.readTick(r, v)
		return
	}
	text, ok := r.text(v, "release", wantRelease)
	switch {
	case !ok:
	case text == "immediate":
	case text == "tick":
		d.Release.Tick = defaultTick
	default:
		r.at(v, "there is no release %s; write %s%s", quote(text), wantRelease, didYouMean(text, "immediate", "tick"))
	}
}

func (d *Dataset) readTick(r *reader, at place) {
	f, ok := r.fields(at, at.node, "a release", releaseKeys)
	if !ok {
		return
	}
	v, ok := f.need(r, "tick", "write how long it is, such as 250ms or 1s")
	if !ok {
		return
	}
	text, ok := r.text(v, "tick", "a time from 10ms to 60s, such as 250ms or 1s")
	if !ok {
		return
	}
	tick, err := time.ParseDuration(text)
	switch {
	case err != nil:
		r.at(v, "'tick' is %s, which is not a time; write a number and a unit, such as 250ms or 1s", quote(text))
	case tick < minTick || tick > maxTick:
		r.at(v, "a tick of %s is out of range; write a time from 10ms to 60s, such as 250ms", text)
	default:
		d.Release.Tick = tick
	}
}
