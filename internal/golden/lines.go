package golden

import (
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Lines are texts that are too long to be kept, each by its name and a hash.
type Lines struct {
	lines, texts []string
}

// Add adds a text.
func (l *Lines) Add(name, text string) {
	l.lines = append(l.lines, fmt.Sprintf("%s: %.6x", name, sha256.Sum256([]byte(text))))
	l.texts = append(l.texts, text)
}

// Hold compares all of them with a file, or writes it where -rewrite says so. Texts that are others
// are shown whole.
func (l *Lines) Hold(t testing.TB, file string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(l.lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(string(text), "\n")
	for i, line := range l.lines {
		if i >= len(known) || known[i] != line {
			t.Errorf("%s, and now it is\n%s", line, l.texts[i])
		}
	}
	if len(known) != len(l.lines)+1 {
		t.Errorf("there are %d texts, and were %d", len(l.lines), len(known)-1)
	}
}
