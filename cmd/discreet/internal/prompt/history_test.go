package prompt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_STATE_HOME", dir)
	t.Setenv("HOME", dir)
	h, old, err := OpenHistory()
	if err != nil || len(old) != 0 {
		t.Fatal(old, err)
	}
	for i := range 2*maxHistoryLines + 1 {
		if err := h.Add(fmt.Sprint("line ", i)); err != nil {
			t.Fatal(err)
		}
	}
	h.Close()
	h, old, err = OpenHistory()
	if err != nil || len(old) != maxHistoryLines || old[len(old)-1] != fmt.Sprint("line ", 2*maxHistoryLines) {
		t.Fatalf("%d lines: %v", len(old), err)
	}
	h.Add("one more\xff") // what is no text is not brought back
	h.Add("one more")
	h.Close()
	file := filepath.Join(dir, "discreet", "history")
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if _, old, _ = OpenHistory(); len(old) != maxHistoryLines+1 || old[maxHistoryLines] != "one more" {
		t.Errorf("%d lines, the last is %q", len(old), old[len(old)-1])
	}
	if err := os.WriteFile(file, []byte(strings.Repeat(strings.Repeat("x", 1000)+"\n", 1500)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, old, err = OpenHistory(); err != nil || len(old) > maxHistoryLines {
		t.Errorf("%d long lines: %v", len(old), err)
	}
	if info, _ := os.Stat(file); info.Size() > maxHistoryBytes {
		t.Errorf("the file has %d bytes", info.Size())
	}
	t.Setenv("XDG_STATE_HOME", "not/absolute")
	if path, err := historyPath(); err != nil || path != filepath.Join(dir, ".local", "state", "discreet", "history") {
		t.Error(path, err)
	}
}
