package duckdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// TestRenewal: while data is opened anew questions run on what there was, and who stops waiting for
// it, or never had the time, does not end it for others.
func TestRenewal(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "people.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("pid,age\n1,2\n")
	ds := dataset(t, dir, "source: "+dir+"\nunit: people.pid\ntables: {people: {unique: pid, columns: "+
		"{pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}\n")
	e := open(t, ds)
	gate, opened := make(chan struct{}), atomic.Int32{}
	e.GuardReopening(func() error {
		opened.Add(1)
		<-gate
		return nil
	})
	first := version(t, e)
	write("pid,age\n1,2\n2,33\n")
	for range 3 {
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if v, err := e.Version(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", v, err)
		}
		stop()
	}
	if n, err := e.Magnitude(t.Context()); err != nil || n != 0 || opened.Load() != 1 {
		t.Errorf("meanwhile %d, %v, and it was begun %d times", n, err, opened.Load())
	}
	close(gate)
	if now := version(t, e); now == first || opened.Load() != 1 {
		t.Errorf("%+v, begun %d times", now, opened.Load())
	}
	// It ends with the engine.
	gate = make(chan struct{})
	write("pid,age\n1,2\n2,33\n3,4\n")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := e.Version(ctx); err == nil {
		t.Error("it was opened")
	}
	close(gate)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
