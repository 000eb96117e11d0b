package plan

import (
	"strings"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v6"

	"github.com/discreet-dp/discreet/internal/nesting"
	"github.com/discreet-dp/discreet/policy"
)

// Limits on a text, checked before it is parsed: the grammar and our own
// checks recurse, and a hostile text must not choose how deep.
const (
	maxText   = 64 << 10 // bytes
	maxTokens = 4000
	maxDepth  = 64                     // open parentheses, brackets and CASEs; NOTs in a row
	maxLevels = 128                    // operations inside each other, as in 1 + 1 + 1
	maxGroups = policy.MaxPublicValues // rows of an answer: the product of the public keys
)

// checkLevels refuses an expression that is nested deeper than every engine
// takes. Chains such as 1 + 1 + 1 nest without a parenthesis.
func checkLevels(e Expr, pos int32) error {
	if levels(e) > maxLevels {
		return refuse(pos, "write it with fewer operations", "more than %d operations are chained or nested here", maxLevels)
	}
	return nil
}

// maxNodes bounds an expression after BETWEEN, IN and CASE, which write a side
// more than once, have made it larger than its text. Nested, they would double it each time.
// So would an engine that writes what is below a node more than once, as for a clamp: a
// node may be written as often as copies says, and that is counted too.
const maxNodes = 5000

// notTooLarge refuses an expression of more than maxNodes nodes, and stops counting there.
func notTooLarge(e Expr, pos int32) error {
	left := maxNodes
	var count func(Expr) bool
	count = func(e Expr) bool {
		if left--; left < 0 {
			return false
		}
		for i, p := range parts(e) {
			for range copies(e, i) {
				if !count(p) {
					return false
				}
			}
		}
		return true
	}
	if !count(e) {
		return refuse(pos, "use a column or a shorter expression there", "BETWEEN, IN, CASE, divisors and roundings are computed from what stands in them several times, and this one grows too large")
	}
	return nil
}

// checkLimits refuses a text that is too long or too deep to look at.
func checkLimits(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return emptyRefusal()
	case len(text) > maxText:
		return refuse(-1, "ask a shorter question", "the question is longer than %d bytes", maxText)
	case !utf8.ValidString(text):
		return refuse(-1, "send the question as UTF-8", "the question is not valid UTF-8")
	case strings.ContainsRune(text, 0):
		return refuse(int32(strings.IndexByte(text, 0)), "remove it", "the question contains a zero byte")
	}
	scan, err := pg.Scan(text)
	if err != nil {
		return syntaxRefusal(text, err)
	}
	if len(scan.Tokens) > maxTokens {
		return refuse(-1, "ask a shorter question", "the question has more than %d words", maxTokens)
	}
	if at, deeper := nesting.Deeper(scan.Tokens, maxDepth); deeper {
		return refuse(at, "write it with fewer levels", "the question is nested more than %d levels deep", maxDepth)
	}
	return nil
}
