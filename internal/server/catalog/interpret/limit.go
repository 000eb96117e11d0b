package interpret

import (
	"cmp"
	"errors"

	"github.com/discreet-dp/discreet/internal/grammar"
)

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
