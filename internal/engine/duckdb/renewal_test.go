package duckdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/plan"
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

// TestRenewalBesideARun: when data was opened anew nobody waits for a question that still runs on
// what there was: how long it does can depend on the data. It reads what it began with, and that is
// closed after it.
func TestRenewalBesideARun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(file, []byte("pid,age\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ds := dataset(t, dir, "source: "+dir+"\nunit: people.pid\ntables: {people: {unique: pid, columns: "+
		"{pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}\n")
	e := open(t, ds)
	first := version(t, e)
	table, err := plan.PrepareTable(ds, "SELECT age, age > 50 AS old FROM people", "old", plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	runs, gate, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	rows := 0
	go func() {
		_, err := e.Fetch(context.Background(), table, exact.NewCollector(func([]int64) {
			if rows++; rows == 1 {
				close(runs)
				<-gate
			}
		}))
		ended <- err
	}()
	<-runs
	if err := os.WriteFile(file, []byte("pid,age\n1,2\n2,33\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	seen := make(chan bool, 1)
	go func() {
		now, err := e.Version(context.Background())
		_, sized := e.Sizes(context.Background())
		seen <- err == nil && sized == nil && now != first
	}()
	select {
	case ok := <-seen:
		if !ok {
			t.Error("the data was not opened anew")
		}
	case <-time.After(20 * time.Second):
		t.Error("others wait for the one that runs")
	}
	close(gate)
	if err := <-ended; err != nil || rows != 1 {
		t.Errorf("it has read %d rows: %v", rows, err)
	}
}

// TestMachineOfWhoHasGone: how fast the machine is does not follow from whether somebody waits.
func TestMachineOfWhoHasGone(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "people.csv"), []byte("pid,age\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ds := dataset(t, dir, "source: "+dir+"\nunit: people.pid\ntables: {people: {unique: pid, columns: "+
		"{pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}}}\n")
	e, err := OpenWith(t.Context(), ds, Limits{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	gone, stop := context.WithCancel(t.Context())
	stop()
	if n := e.Machine(gone).Threads; n != 1 {
		t.Errorf("%d threads", n)
	}
}
