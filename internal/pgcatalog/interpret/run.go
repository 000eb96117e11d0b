package interpret

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/planner/grammar"
)

// run is one run of a query, and what it may still take.
type run struct {
	db      Database
	ctx     context.Context
	params  []datum.Value
	limits  Limits
	steps   int
	bytes   int
	depth   int
	time    time.Time
	cache   map[*query][]datum.Tuple // of subqueries that depend on nothing outside of them
	work    map[*cte][]datum.Tuple   // of recursive ones, while they run
	sets    map[*query]*members      // of IN (SELECT ...)
	regexps map[string]*pattern
}

// step counts n rows or expressions.
func (r *run) step(n int) error {
	before := r.steps
	if r.steps += n; r.steps > r.limits.Steps {
		return &Error{Code: "54000", Message: "the query about the catalogue takes too many steps",
			Hint: "join on equal columns, and ask for less at once", Position: -1}
	}
	if before>>12 != r.steps>>12 && r.ctx.Err() != nil {
		return Fail("57014", "canceling statement due to user request")
	}
	return nil
}

// take counts n bytes.
func (r *run) take(n int) error {
	if r.bytes += n; r.bytes > r.limits.Bytes || r.bytes < 0 {
		return &Error{Code: "54000", Message: "the query about the catalogue takes too much memory",
			Hint: "join on equal columns, and ask for less at once", Position: -1}
	}
	return nil
}

// spend counts rows or expressions, and bytes.
func (r *run) spend(steps, bytes int) error {
	if err := r.take(bytes); err != nil {
		return err
	}
	return r.step(steps)
}

func tooLong() error { return Fail("54000", "a text is longer than %d bytes", maxString) }

// text counts a text that was made.
func (r *run) text(s string) (datum.Value, error) {
	if len(s) > maxString {
		return nil, tooLong()
	}
	return datum.Text(s), r.spend(1+len(s)/256, len(s)+16)
}

// list counts an array that was made.
func (r *run) list(l datum.List) (datum.Value, error) {
	if err := r.take(16*len(l) + 24); err != nil {
		return nil, err
	}
	n := datum.Size(l)
	if n > maxValue {
		return nil, Fail("54000", "a value is larger than %d bytes", maxValue)
	}
	return l, r.step(1 + len(l)/16 + n/1024)
}

// column makes an array of the first column of some rows.
func (r *run) column(rows []datum.Tuple) (datum.Value, error) {
	out := make(datum.List, len(rows))
	for i, t := range rows {
		out[i] = t[0]
	}
	return r.list(out)
}

// record makes a composite value, and counts it.
func (r *run) record(cols []datum.Column, vals []datum.Value) (datum.Value, error) {
	rec := datum.NewRecord(cols, vals)
	n := datum.Size(rec)
	if n > maxValue {
		return nil, Fail("54000", "a value is larger than %d bytes", maxValue)
	}
	return rec, r.spend(1+len(vals)/16+n/1024, 48)
}

// rowKey is what tells a row from others.
func (r *run) rowKey(t datum.Tuple) (string, error) {
	n := 48
	for _, v := range t {
		n += datum.Size(v)
	}
	if err := r.take(n); err != nil {
		return "", err
	}
	var b []byte
	for _, v := range t {
		b = datum.Key(b, v)
	}
	return string(b), r.step(n / 256)
}

// nameType is a type as messages name it.
func (r *run) nameType(t uint32) string { return r.db.Types().Format(t, -1) }

// textLimits are the limits on a text.
var textLimits = grammar.Limits{Bytes: 64 << 10, Words: 6000, Depth: 64}

// Limits are what a run may take.
type Limits struct {
	Steps int // rows looked at and expressions evaluated
	Bytes int // of rows and texts made on the way, all together, also of those that are dropped again
}

// Limits on what a run makes.
const (
	maxRows    = 100_000  // of a result
	maxResult  = 16 << 20 // bytes of a result
	maxString  = 1 << 20  // bytes of one text
	maxValue   = 4 << 20  // bytes of one array or record
	maxTables  = 60       // in one FROM; a set of them is a word
	maxQueries = 300      // SELECTs in one text
)

// unreadable says why a text cannot be read.
func unreadable(text string, err error) error {
	var e *grammar.Excess
	if !errors.As(err, &e) {
		return syntaxError(text, err)
	}
	code := map[grammar.ExcessKind]string{grammar.NotUTF8: "22021", grammar.ZeroByte: "22021", grammar.TooDeep: "54001"}[e.Kind]
	failed := Fail(cmp.Or(code, "54000"), "the query %s", e.Says)
	if e.Kind == grammar.TooDeep {
		return locate(failed, e.At)
	}
	return failed
}
