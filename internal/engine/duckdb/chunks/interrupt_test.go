package chunks

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestInterruptedAtAnyMoment: a query that is stopped says so, also where it was being prepared: it
// has not failed.
func TestInterruptedAtAnyMoment(t *testing.T) {
	s := open(t, "CREATE TABLE t AS SELECT range AS x FROM range(100000)")
	stopped := 0
	for i := range 400 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*10*time.Microsecond)
		err := s.Each(ctx, Query{Columns: []string{"x"}, From: "t"}, func(*Chunk) error { return nil })
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			stopped++
		case err != nil:
			t.Fatalf("after %v: %v", time.Duration(i)*10*time.Microsecond, err)
		}
	}
	if stopped == 0 {
		t.Error("nothing was stopped")
	}
}
