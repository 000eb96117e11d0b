package anchor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNewerAnchor: an anchor of a newer version is refused in words that are not those of damage,
// because to remove it, as one does with a damaged one, would be to forget what it knows.
func TestNewerAnchor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "anchor")
	for text, says := range map[string]string{
		`{"format":"discreet-anchor-2","anchor":{"new":1},"more":2,"version":"0.9.1"}`: "the anchor in " + path +
			" has the format 2, as Discreet 0.9.1 writes it. This is Discreet development, which reads the format 1. Nothing was changed.",
		`{"format":"discreet-anchor-17","anchor":{}}`:       "has the format 17. This is",
		`{"format":"discreet-anchor-","anchor":{}}`:         "is damaged: it is not an anchor",
		`{"format":"discreet-anchor-1","anchor":{},"x":1}`:  "is damaged: it is cut off or not an anchor",
		`{"format":"discreet-anchor-2","anchor":{}} more`:   "is damaged: it is cut off or not an anchor",
		`{"format":"something-2","version":"0.9.1"}`:        "is damaged: it is not an anchor",
		`{"format":"discreet-anchor-2\u001b[31m"}`:          "is damaged: it is not an anchor",
		`{"format":"discreet-anchor-2","version":"\u001b"}`: "has the format 2. This is",
	} {
		noError(t, os.WriteFile(path, []byte(text), 0o600))
		_, _, err := File(path).Load(context.Background())
		var refused *DamagedError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%s was changed: %v", text, err)
		}
	}
}
