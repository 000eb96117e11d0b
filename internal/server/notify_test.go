package server

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestNotify: a program is run for each event, with the event on its standard input and nothing of
// it in its arguments, and one that fails keeps nobody from the next.
func TestNotify(t *testing.T) {
	dir := t.TempDir()
	program, out := filepath.Join(dir, "tell"), filepath.Join(dir, "told")
	text := "#!/bin/sh\necho \"$#\" >> " + out + "\ncat >> " + out + "\nexit 3\n"
	if err := os.WriteFile(program, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	n := newNotifier(program, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { n.run(ctx); close(over) }()
	n.add(map[string]string{"reason": "$(touch " + dir + "/pwned); `id`"})
	n.add(map[string]int{"second": 2})
	const want = "0\n{\"reason\":\"$(touch "
	for range 500 {
		if got, _ := os.ReadFile(out); strings.HasPrefix(string(got), want) && strings.HasSuffix(string(got), "0\n{\"second\":2}\n") {
			cancel()
			<-over
			if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
				t.Error("an event was run")
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	got, _ := os.ReadFile(out)
	t.Errorf("told %q", got)
	cancel()
	<-over
}
