package pgcatalog

import (
	"fmt"
	"testing"
)

// An advisory lock is a session's own: it can be taken more than once, and is given back as often.
func TestAdvisoryLocks(t *testing.T) {
	c, other := testCatalog(t), testCatalog(t)
	for _, step := range []struct {
		in        *Catalog
		sql, want string
	}{
		{c, "SELECT pg_advisory_unlock(5)", "f"},
		{c, "SELECT pg_try_advisory_lock(5), pg_try_advisory_lock(5)", "t|t"},
		{other, "SELECT pg_try_advisory_lock(5), pg_advisory_unlock(5), pg_advisory_unlock(5)", "t|t|f"},
		{c, "SELECT pg_advisory_unlock_shared(5), pg_advisory_unlock(0, 5)", "f|f"},
		{c, "SELECT pg_advisory_unlock(5), pg_advisory_unlock(5), pg_advisory_unlock(5)", "t|t|f"},
		{c, "SELECT pg_advisory_lock(1, 2), pg_advisory_unlock(1, 2)", "|t"},
		{c, "SELECT pg_try_advisory_xact_lock(7), pg_advisory_unlock(7)", "t|f"},
		{c, "SELECT pg_try_advisory_lock(8), pg_advisory_unlock_all(), pg_advisory_unlock(8)", "t||f"},
		{c, fmt.Sprintf("SELECT count(pg_try_advisory_lock(g)) FROM generate_series(1, %d) g", maxLocks), "1000"},
	} {
		if got := show(t, step.in, step.sql); got != step.want {
			t.Errorf("%s: %s, and not %s", step.sql, got, step.want)
		}
	}
	if got := show(t, c, "SELECT pg_try_advisory_lock(1)"); got != "t" {
		t.Errorf("a lock that is held is refused: %s", got)
	}
	if _, err := c.Query(t.Context(), "SELECT pg_try_advisory_lock(-1)", nil, nil); err == nil {
		t.Error("a session can hold any number of locks")
	}
}
