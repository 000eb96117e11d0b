package syntax

import (
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/nesting"
)

// Limits on a text, checked before it is parsed: the grammar and our own
// checks recurse, and a hostile text must not choose how deep.
const (
	maxText   = 64 << 10 // bytes
	maxTokens = 4000
	maxDepth  = 64 // open parentheses, brackets and CASEs; NOTs in a row
)

// checkLimits refuses a text that is too long or too deep to look at.
func checkLimits(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return emptyRefusal()
	case len(text) > maxText:
		return Refuse(-1, "ask a shorter question", "the question is longer than %d bytes", maxText)
	case !utf8.ValidString(text):
		return Refuse(-1, "send the question as UTF-8", "the question is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return Refuse(int32(strings.IndexByte(text, 0)), "remove it", "the question contains a zero byte")
	}
	scan, err := pg.Scan(text)
	if err != nil {
		return syntaxRefusal(text, err)
	}
	if len(scan.Tokens) > maxTokens {
		return Refuse(-1, "ask a shorter question", "the question has more than %d words", maxTokens)
	}
	if at, deeper := nesting.Deeper(scan.Tokens, maxDepth); deeper {
		return Refuse(at, "write it with fewer levels", "the question is nested more than %d levels deep", maxDepth)
	}
	return nil
}
