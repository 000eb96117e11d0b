package expr

import (
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// readLiteral reads the text of a literal as a value of a kind.
func readLiteral(text string, k tree.Kind) (*tree.Literal, bool) {
	text = strings.TrimSpace(text)
	switch k {
	case tree.Number, tree.Real:
		if r, err := dp.ParseDecimal(text); err == nil {
			return NewNumber(r), true
		}
	case tree.Date:
		if d, ok := policy.ParseDate(text); ok {
			return newDate(d), true
		}
	case tree.Timestamp:
		if m, ok := policy.ParseTimestamp(text); ok {
			return newTimestamp(m), true
		}
	case tree.Boolean:
		if b, ok := tree.ReadBoolean(text); ok {
			return NewBool(b), true
		}
	case tree.Text:
		return NewText(text), true
	}
	return nil, false
}
