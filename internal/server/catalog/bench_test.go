package catalog

import (
	"context"
	"testing"
)

// BenchmarkSession is what a session costs: a catalogue, and the first query about columns.
func BenchmarkSession(b *testing.B) {
	p := testPolicy(b)
	for b.Loop() {
		c := New(p, "hospital", Session{User: "ana"})
		const sql = "SELECT attname FROM pg_attribute WHERE attrelid = 'patients'::regclass"
		if _, err := c.Query(context.Background(), sql, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSelect1 is the shortest query, in a session that has begun.
func BenchmarkSelect1(b *testing.B) {
	c := testCatalog(b)
	for b.Loop() {
		if _, err := c.Query(context.Background(), "SELECT 1", nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
