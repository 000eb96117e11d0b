package catalog

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/internal/grammar"
)

// textLimits are the limits on a text.
var textLimits = grammar.Limits{Bytes: 64 << 10, Words: 6000, Depth: 64}

// Limits on a run. The largest thing a known client asks takes a tenth of them.
const (
	maxSteps   = 5_000_000 // rows looked at and expressions evaluated
	maxBytes   = 96 << 20  // of rows and textLimits made on the way, all together, also of those that are dropped again
	maxRows    = 100_000   // of a result
	maxResult  = 16 << 20  // bytes of a result
	maxString  = 1 << 20   // bytes of one text
	maxValue   = 4 << 20   // bytes of one array or record
	maxTables  = 60        // in one FROM; a set of them is a word
	maxQueries = 300       // SELECTs in one text
)

// unreadable says why a text cannot be read.
func unreadable(text string, err error) error {
	var e *grammar.Excess
	if !errors.As(err, &e) {
		return syntaxError(text, err)
	}
	code := map[grammar.ExcessKind]string{grammar.NotUTF8: "22021", grammar.ZeroByte: "22021", grammar.TooDeep: "54001"}[e.Kind]
	failed := fail(cmp.Or(code, "54000"), "the query %s", e.Says)
	if e.Kind == grammar.TooDeep {
		return at(failed, e.At)
	}
	return failed
}

// run is one run of a query, and what it may still take.
type run struct {
	c       *Catalog
	ctx     context.Context
	params  []Value
	steps   int
	bytes   int
	depth   int
	time    time.Time
	cache   map[*query][]tuple  // of subqueries that depend on nothing outside of them
	work    map[*cte][]tuple    // of recursive ones, while they run
	sets    map[*query]*members // of IN (SELECT ...)
	regexps map[string]*pattern
}

// step counts n rows or expressions.
func (r *run) step(n int) error {
	before := r.steps
	if r.steps += n; r.steps > maxSteps {
		return &Error{Code: "54000", Message: "the query about the catalogue takes too many steps", Hint: "join on equal columns, and ask for less at once", Position: -1}
	}
	if before>>12 != r.steps>>12 && r.ctx.Err() != nil {
		return fail("57014", "canceling statement due to user request")
	}
	return nil
}

// take counts n bytes.
func (r *run) take(n int) error {
	if r.bytes += n; r.bytes > maxBytes || r.bytes < 0 {
		return &Error{Code: "54000", Message: "the query about the catalogue takes too much memory", Hint: "join on equal columns, and ask for less at once", Position: -1}
	}
	return nil
}

func tooLong() error { return fail("54000", "a text is longer than %d bytes", maxString) }

// text counts a text that was made.
func (r *run) text(s string) (any, error) {
	if len(s) > maxString {
		return nil, tooLong()
	}
	if err := r.take(len(s) + 16); err != nil {
		return nil, err
	}
	return s, r.step(1 + len(s)/256)
}

// list counts an array that was made.
func (r *run) list(l []any) (any, error) {
	if err := r.take(16*len(l) + 24); err != nil {
		return nil, err
	}
	n := size(l)
	if n > maxValue {
		return nil, fail("54000", "a value is larger than %d bytes", maxValue)
	}
	return l, r.step(1 + len(l)/16 + n/1024)
}
