package trino

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/testtrino"
)

// TestLate: what processors of a cluster worked for a question is what Trino says of it in the end,
// and a question that is late by its own work has failed. One that has waited has not.
func TestLate(t *testing.T) {
	c := testtrino.Shared(t)
	s := schema{c, "iceberg", c.Alone(t, "iceberg")}
	s.Run(t, "CREATE TABLE "+s.table("t")+" AS SELECT orderkey AS pid, comment AS note FROM tpch.tiny.orders")
	const keys = "unit: t.pid\ntables:\n  t:\n    unique: pid\n    columns: {note: {type: text}}\n"
	e, err := Open(t.Context(), dataset(t, c.Address(s.name, s.catalog, s.name), keys))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	q := &prepare(t, e.dataset, "SELECT COUNT(*) FROM t WHERE note ~ '([a-z]+ )+[0-9]+ ([a-z]+ )+x' OR upper(note) LIKE '%Q%Z%'").Query

	ctx, work := pace.Count(t.Context())
	if _, err := e.Run(ctx, q); err != nil {
		t.Fatal(err)
	}
	worked := work.Done()
	var said time.Duration
	for _, r := range c.Rows(t, testtrino.Admin, "SELECT CAST(sum(split_cpu_time_ms) AS varchar) || 'ms' FROM system.runtime.tasks t JOIN "+
		"system.runtime.queries q ON q.query_id = t.query_id WHERE q.\"user\" = '"+s.name+"' AND q.query LIKE '%regexp_extract_all%' AND "+
		"q.query NOT LIKE '%runtime%'") {
		if said, err = time.ParseDuration(r[0]); err != nil {
			t.Fatal(err)
		}
	}
	if worked < 20*time.Millisecond || worked < said*8/10 || worked > said*12/10+100*time.Millisecond {
		t.Errorf("%v were counted, and its tasks worked for %v", worked, said)
	}

	for name, c := range map[string]struct {
		public, waits time.Duration
		late          bool
	}{
		"it works for longer than is public": {worked / 8, 0, true},
		"it works and waits":                 {worked / 8, worked / 4, true},
		"it waits":                           {6 * worked, 7 * worked, false},
		"it is in time":                      {time.Minute, 0, false},
	} {
		ended := make(chan struct{})
		schedule := pace.NewSchedule(ended)
		p := pace.New(func() {})
		p.On(schedule, 10*time.Minute, nil)
		err := pace.RunElsewhere(p.Set(t.Context()), c.public, func(ctx context.Context) error {
			time.Sleep(c.waits)
			_, err := e.Run(ctx, q)
			return err
		})
		if errors.Is(err, pace.ErrLate) != c.late || !c.late && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		close(ended)
	}
}
