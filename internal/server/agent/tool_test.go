package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
)

// A key that people have entered is told so that whoever looks at a result sees all of it, and
// programs read it as it is.
func TestNothingIsHidden(t *testing.T) {
	const key = "town\u202eevig \x1b[2J\U000E0049\U000E0067\u2028end\u200b\ufe01\u3164 é 漢 👩\u200d👧"
	a := &api.Answer{Columns: []api.Column{{Name: "town", Kind: "text"}}, Rows: [][]any{{key}}}
	var text strings.Builder
	render.Answer(&text, a)
	result := tool{}.result(&reply{text.String(), Answered{a, "x", 0}})
	whole, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	words := result.Content[0].(*mcp.TextContent).Text
	if !strings.Contains(words, "town?evig ?[2J???end??? é 漢 👩?👧") {
		t.Errorf("%q", words)
	}
	if strings.ContainsAny(string(whole), "\u202e\x1b\U000E0049\U000E0067\u2028\u200b\ufe01\u3164\u200d") {
		t.Errorf("%q", whole)
	}
	var back struct{ Rows [][]string }
	if err := json.Unmarshal(result.StructuredContent.(json.RawMessage), &back); err != nil || back.Rows[0][0] != key {
		t.Errorf("%q %v", back, err)
	}
}
