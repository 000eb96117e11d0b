package trino

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/testtrino"
)

// TestConstantsArrive: what is spelled is what arrives, sign by sign.
func TestConstantsArrive(t *testing.T) {
	db := testtrino.Shared(t).DB(t, testtrino.Reader)
	texts := []string{"", "'", "it''s", "\x00a\x00", "\\", "😀é", "?", "$1 --", strings.Repeat("x", 5000)}
	var got, into []any
	for range texts {
		got = append(got, nil)
	}
	for i := range got {
		into = append(into, &got[i])
	}
	if err := db.QueryRowContext(t.Context(), "SELECT "+list(texts)).Scan(into...); err != nil {
		t.Fatal(err)
	}
	for i, want := range texts {
		if got[i] != want {
			t.Errorf("%q has become %q", want, got[i])
		}
	}
	var n, lowest, found any
	text := "SELECT " + constant(int64(-1<<63)) + ", " + whole(minInt128()) + ", 5 IN (" + constant([]int64{4, 5}) + ")"
	if err := db.QueryRowContext(t.Context(), text).Scan(&n, &lowest, &found); err != nil {
		t.Fatal(err)
	}
	if n != int64(-1<<63) || lowest != minInt128().String() || found != true {
		t.Error(n, lowest, found)
	}
}

// TestCancel: a question that is canceled has stopped, and so has what the cluster ran for it.
func TestCancel(t *testing.T) {
	cluster := testtrino.Shared(t)
	keys := "unit: orders.custkey\ntables:\n  orders:\n    max_rows: 5\n    max_groups: 1\n    columns:\n" +
		"      totalprice: {type: decimal, bounds: [0, 1000], granularity: 0.01}\n"
	e := open(t, dataset(t, cluster.Address(testtrino.Reader, "tpch", "sf100"), keys))
	q := &prepare(t, e.dataset, "SELECT COUNT(*), SUM(totalprice) FROM orders").Query
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := e.Run(ctx, q)
	if !errors.Is(err, engine.ErrRun) || engine.HowOf(err) != engine.Stopped {
		t.Fatalf("%v, %v", err, engine.HowOf(err))
	}
	const running = "SELECT count(*) FROM system.runtime.queries WHERE state = 'RUNNING' AND query LIKE " +
		"'%sf100%' AND query NOT LIKE '%runtime%'"
	for range 60 {
		if cluster.Rows(t, testtrino.Admin, running)[0][0] == "0" {
			return
		}
		time.Sleep(time.Second)
	}
	t.Error("the cluster still runs it")
}
