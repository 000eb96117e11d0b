package interpret

import (
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/nesting"
)

// Limits on a text, checked before it is parsed: the grammar recurses, and a hostile text must not
// choose how deep.
const (
	maxText   = 64 << 10 // bytes
	maxTokens = 6000
	maxDepth  = 64 // open parentheses, brackets and CASEs
)

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

func checkText(text string) error {
	switch {
	case len(text) > maxText:
		return Fail("54000", "the query is longer than %d bytes", maxText)
	case !utf8.ValidString(text):
		return Fail("22021", "the query is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return Fail("22021", "the query contains a zero byte")
	}
	scan, err := pg.Scan(text)
	if err != nil {
		return syntaxError(text, err)
	}
	if len(scan.Tokens) > maxTokens {
		return Fail("54000", "the query has more than %d words", maxTokens)
	}
	if start, deeper := nesting.Deeper(scan.Tokens, maxDepth); deeper {
		return locate(Fail("54001", "the query is nested more than %d levels deep", maxDepth), start)
	}
	return nil
}
