package catalog

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/nesting"
)

// Limits on a text, checked before it is parsed: the grammar recurses, and a hostile text must not choose how deep.
const (
	maxText   = 64 << 10 // bytes
	maxTokens = 6000
	maxDepth  = 64 // open parentheses, brackets and CASEs
)

// Limits on a run. The largest thing a known client asks takes a tenth of them.
const (
	maxSteps   = 5_000_000 // rows looked at and expressions evaluated
	maxBytes   = 96 << 20  // of rows and texts made on the way, all together, also of those that are dropped again
	maxRows    = 100_000   // of a result
	maxResult  = 16 << 20  // bytes of a result
	maxString  = 1 << 20   // bytes of one text
	maxValue   = 4 << 20   // bytes of one array or record
	maxTables  = 60        // in one FROM; a set of them is a word
	maxQueries = 300       // SELECTs in one text
)

func checkText(text string) error {
	switch {
	case len(text) > maxText:
		return fail("54000", "the query is longer than %d bytes", maxText)
	case !utf8.ValidString(text):
		return fail("22021", "the query is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return fail("22021", "the query contains a zero byte")
	}
	scan, err := pg.Scan(text)
	if err != nil {
		return syntaxError(text, err)
	}
	if len(scan.Tokens) > maxTokens {
		return fail("54000", "the query has more than %d words", maxTokens)
	}
	if start, deeper := nesting.Deeper(scan.Tokens, maxDepth); deeper {
		return at(fail("54001", "the query is nested more than %d levels deep", maxDepth), start)
	}
	return nil
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
