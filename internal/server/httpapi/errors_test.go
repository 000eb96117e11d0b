package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/errortable"
)

// TestErrorTable: every error has its status, kind and words.
func TestErrorTable(t *testing.T) {
	errortable.Hold(t, "testdata/errors.txt", func(err error) string {
		p := ProblemWithRequest(err, "key")
		spent, position := "perhaps", ""
		if p.Spent != nil {
			spent = map[bool]string{false: "no", true: "yes"}[*p.Spent]
		}
		if p.Position != nil {
			position = fmt.Sprint(*p.Position)
		}
		text := fmt.Sprintf("%d %s, spent %s, retry %q, at %q, price %t, request %q | %s | %s", p.Status, p.Kind, spent, p.RetryAfter(),
			position, p.Price != nil, p.Request, strings.ReplaceAll(p.Detail, "\n", " // "), p.Instead)
		return text
	})
}
