// Package meter counts the work of planning one text, which nobody pays for. It is counted before
// it is done, in nanoseconds of a usual processor by what was measured for each kind of step, and
// in bytes that are built. No clock is looked at: whether a text is refused for its work follows
// from the text, the policy and public tables, and not from how busy the machine is. The context is
// looked at on the way, so planning ends when whoever asked is gone or out of time.
package meter

import (
	"context"
	"errors"
	"math"
	"regexp"
	"regexp/syntax"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// What planning one text may take. Three quarters of it are for finding the values of keys.
const (
	MostTime  = time.Second
	MostBytes = 160 << 20
)

// checkInterval is how much work is done between two looks at the context.
const checkInterval = time.Millisecond

// Meter is that of one text. It is for one goroutine. A nil Meter counts nothing.
type Meter struct {
	ctx      context.Context
	all      allowance
	left     allowance
	next     time.Duration // what is left when the context is looked at next
	trying   bool          // the last quarter may not be used
	patterns map[string]compiledPattern
}

type allowance struct {
	time  time.Duration
	bytes int
}

// New returns the meter of a text that is planned in a context.
func New(ctx context.Context) *Meter { return Part(ctx, 1) }

// Part returns the meter of something that may take one part of what planning may.
func Part(ctx context.Context, of int) *Meter {
	all := allowance{MostTime / time.Duration(of), MostBytes / of}
	return &Meter{ctx: ctx, all: all, left: all, next: all.time, patterns: map[string]compiledPattern{}}
}

// Unlimited returns a meter that only counts.
func Unlimited(ctx context.Context) *Meter {
	all := allowance{math.MaxInt64 / 2, math.MaxInt / 2}
	return &Meter{ctx: ctx, all: all, left: all, next: all.time, patterns: map[string]compiledPattern{}}
}

type key struct{}

// With returns a context of which all that is planned has one meter together.
func With(ctx context.Context) context.Context {
	if _, ok := ctx.Value(key{}).(*Meter); ok {
		return ctx
	}
	return context.WithValue(ctx, key{}, New(ctx))
}

// Of returns the meter of a context, or a new one.
func Of(ctx context.Context) *Meter {
	if m, ok := ctx.Value(key{}).(*Meter); ok {
		return m
	}
	return New(ctx)
}

// halt is what ends the work.
type halt struct{ err error }

// errTried: what can be left out takes too much.
var errTried = &halt{}

const (
	tooMuchWork = "working out what this text asks for takes too much work"
	tooComplex  = "54001" // as package syntax says of all that is too much
)

// Refusal is what a text gets that takes too much work, whoever asks.
func Refusal() *api.Refusal {
	return &api.Refusal{Reason: tooMuchWork, Position: -1, Code: tooComplex,
		Instead: "list the values you want with IN (...) in WHERE, group by fewer or simpler keys, or ask for less at a time"}
}

// Spent reports whether a text was refused for its work.
func Spent(err error) bool {
	var r *api.Refusal
	return errors.As(err, &r) && r.Reason == tooMuchWork
}

// Run does something with a meter, and returns why it was ended where it was: a refusal, or the
// cause of the context.
func Run(do func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *halt:
			err = r.err
		default:
			panic(r)
		}
	}()
	return do()
}

func (m *Meter) Counted() (time.Duration, int) {
	return m.all.time - m.left.time, m.all.bytes - m.left.bytes
}

// Work counts steps that are about to be done.
func (m *Meter) Work(steps int, each time.Duration) {
	if m == nil {
		return
	}
	m.left.time -= time.Duration(steps) * each
	if m.left.time <= m.next {
		m.next = m.left.time - checkInterval
		if m.ctx.Err() != nil {
			panic(&halt{context.Cause(m.ctx)})
		}
	}
	m.check()
}

// Build counts bytes that are about to be built.
func (m *Meter) Build(bytes int) {
	if m == nil {
		return
	}
	m.left.bytes -= bytes
	m.check()
}

// Write counts nodes that are about to be written down.
func (m *Meter) Write(nodes int) {
	m.Work(nodes, Written)
	m.Build(nodes * WrittenBytes)
}

func (m *Meter) check() {
	switch {
	case m.trying && (m.left.time < m.all.time/4 || m.left.bytes < m.all.bytes/4):
		panic(errTried)
	case m.left.time < 0 || m.left.bytes < 0:
		panic(&halt{Refusal()})
	}
}

// Try does something that can be left out, and reports whether it was done: with three quarters of
// what there is for the text.
func (m *Meter) Try(do func()) (done bool) {
	if m == nil || m.trying {
		do()
		return true
	}
	m.trying = true
	defer func() {
		m.trying = false
		if r := recover(); r == errTried {
			done = false
		} else if r != nil {
			panic(r)
		}
	}()
	m.check()
	do()
	return true
}

// What one step takes, measured on a processor of 2023 and rounded up.
const (
	// Node is to look at one node of a tree.
	Node = 60 * time.Nanosecond
	// Written is to write one node down, which takes WrittenBytes.
	Written      = 400 * time.Nanosecond
	WrittenBytes = 224
	// Computed is to compute one node, Number what a number takes on the way there, and Integer
	// what one takes that fits a machine.
	Computed = 50 * time.Nanosecond
	Number   = 64
	Integer  = 40
	// Found is to keep one value of a key, which takes FoundBytes until all are sorted.
	Found      = 400 * time.Nanosecond
	FoundBytes = 256
	// Liked is to compare one character of a text with one of a pattern.
	Liked = 3 * time.Nanosecond
	// Matched is to compare one with one instruction of a regular expression. Compiled is to make
	// that of one of its bytes, which takes CompiledBytes.
	Matched       = 10 * time.Nanosecond
	MatchedBytes  = 128
	Compiled      = 3 * time.Microsecond
	CompiledBytes = 500
)

// compiledPattern is a regular expression, and how many instructions it has.
type compiledPattern struct {
	*regexp.Regexp
	instructions int
}

// Match reports whether a text has a part of a pattern, which is compiled once for all texts.
func (m *Meter) Match(pattern, text string) bool {
	c, ok := m.patterns[pattern]
	if !ok {
		m.Work(len(pattern), Compiled)
		m.Build(CompiledBytes * len(pattern))
		c = compilePattern(pattern)
		m.Work(c.instructions, Compiled)
		m.Build(CompiledBytes * c.instructions)
		m.patterns[pattern] = c
	}
	m.Work(len(text)*c.instructions, Matched)
	m.Build(MatchedBytes)
	return c.MatchString(text)
}

func compilePattern(pattern string) compiledPattern {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // it was compiled when it was checked
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic(err)
	}
	return compiledPattern{regexp.MustCompile(pattern), len(program.Inst)}
}
