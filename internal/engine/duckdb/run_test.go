package duckdb

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
)

// TestErrRun interrupts a question at different moments. Whatever happens, the
// text is the same: it must not tell how far the engine came.
func TestErrRun(t *testing.T) {
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT range % 1000 AS u, range % 7 AS i FROM range(1500000)")
	e := open(t, dataset(t, folder, `
source: t.duckdb
unit: t.u
tables: {t: {max_rows: 5, max_groups: 3, columns: {i: {type: integer, bounds: [0, 6]}}}}
`))
	q := &prepare(t, e.dataset, "SELECT i, COUNT(*), SUM(i * i * i * 7 % 5) FROM t WHERE i * 3 % 7 <> 6 GROUP BY i").Query
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	interrupted := 0
	for _, wait := range []time.Duration{0, time.Millisecond, 4 * time.Millisecond, 10 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		if wait == 0 {
			ctx = cancelled
		}
		got, err := e.Run(ctx, q)
		cancel()
		if err == nil {
			continue // it was faster than that
		}
		interrupted++
		if !errors.Is(err, engine.ErrRun) || err.Error() != engine.ErrRun.Error() || engine.HowOf(err) != engine.Stopped || got != nil {
			t.Errorf("after %v: %v, %v", wait, got, err)
		}
	}
	if interrupted == 0 {
		t.Error("nothing was interrupted")
	}
	if _, err := e.Run(t.Context(), q); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	const text = "the engine could not run this question, and the charge stays; ask the owner to run 'discreet check'"
	if engine.ErrRun.Error() != text || errors.Unwrap(engine.ErrRun) != nil {
		t.Errorf("the text is %q", engine.ErrRun)
	}
}

// TestErrRunHidesTheCause: a file that is destroyed while it is open makes the
// engine fail, with the same text and without the file's name.
func TestErrRunHidesTheCause(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "t.parquet")
	owner(t, "", "COPY (SELECT range AS i FROM range(10)) TO "+dialect.QuoteText(path))
	e := open(t, dataset(t, folder, "source: t.parquet\nunit: row\ntables: {t: {columns: {i: {type: integer, bounds: [0, 6]}}}}"))
	q := &prepare(t, e.dataset, "SELECT SUM(i) FROM t").Query
	write(t, folder, "t.parquet", "PAR1 this is not Parquet any more PAR1")
	if got, err := e.Run(t.Context(), q); err != engine.ErrRun {
		t.Errorf("%v, %v", got, err)
	}
}
