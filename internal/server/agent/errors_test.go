package agent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/internal/test/errortable"
)

// TestErrorTable: every error has words for a model, which are not those of HTTP, and it is known
// under which of them a question gets another name.
func TestErrorTable(t *testing.T) {
	errortable.Hold(t, "testdata/errors.txt", func(err error) string {
		var texts []string
		for _, madeUp := range []bool{false, true} {
			result := tool{madeUp: madeUp}.failure(httpapi.ProblemWithRequest(err, "key"))
			texts = append(texts, result.Content[0].(*mcp.TextContent).Text)
		}
		text := texts[0]
		if told := strings.TrimPrefix(texts[1], madeUp+"\n"); told != text {
			text += " || " + told
		}
		if strings.Contains(text, "Idempotency-Key") || strings.Contains(text, "Retry-After") {
			t.Error(text)
		}
		return fmt.Sprintf("used elsewhere %t | %s", usedElsewhere(err), strings.ReplaceAll(text, "\n", " | "))
	})
}
