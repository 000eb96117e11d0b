package trino

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/testtrino"
)

// openedAlone opens a table of one column that a user reads alone, as a server does.
func openedAlone(t *testing.T, catalog, rows string) (s schema, e *Engine) {
	t.Helper()
	c := testtrino.Shared(t)
	s = schema{c, catalog, c.Alone(t, catalog)}
	s.Run(t, "CREATE TABLE "+s.table("t")+" AS SELECT * FROM (VALUES "+rows+") AS t (pid)")
	const keys = "unit: t.pid\ntables:\n  t:\n    unique: pid\n    columns: {}\n"
	e, err := Open(t.Context(), dataset(t, c.Address(s.name, catalog, s.name), keys))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return s, e
}

// counted asks how many people there are, in the state that was last looked at.
func counted(t *testing.T, e *Engine) (int64, error) {
	t.Helper()
	out, err := e.Run(t.Context(), &prepare(t, e.dataset, "SELECT COUNT(*) FROM t").Query)
	if err != nil {
		return 0, err
	}
	if out.State != e.Current().Version.Key() {
		t.Error("what was read is said to be of another state")
	}
	return out.Measures[0].Open()[0], nil
}

// TestSnapshotGone: a snapshot that is expired after it was looked at is a failure like every
// other, and the next question reads what there is.
func TestSnapshotGone(t *testing.T) {
	s, e := openedAlone(t, "iceberg", "BIGINT '1', 2")
	s.Run(t, "INSERT INTO "+s.table("t")+" VALUES 3")
	if n, err := counted(t, e); n != 2 || err != nil {
		t.Error(n, err) // as it was looked at
	}
	if _, err := s.DB(t, testtrino.Admin).Exec("ALTER TABLE "+s.table("t")+" EXECUTE expire_snapshots(retention_threshold => '0s')",
		sql.Named("X-Trino-Session", "iceberg.expire_snapshots_min_retention=0s")); err != nil {
		t.Fatal(err)
	}
	if n, err := counted(t, e); !errors.Is(err, engine.ErrRun) || err.Error() != engine.ErrRun.Error() {
		t.Error(n, err)
	}
	if _, err := e.Version(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, err := counted(t, e); n != 3 || err != nil {
		t.Error(n, err)
	}
}

// TestDeltaMadeAnew: a Delta table that was made anew has the same versions, and other rows. They
// are read as what they are, and not as the version that was looked at.
func TestDeltaMadeAnew(t *testing.T) {
	s, e := openedAlone(t, "delta", "BIGINT '1', 2")
	before := e.Current().Version
	s.Run(t, "DROP TABLE "+s.table("t"), "CREATE TABLE "+s.table("t")+" AS SELECT * FROM (VALUES BIGINT '1', 2, 3) AS t (pid)")
	if n, err := counted(t, e); n != 3 || err != nil || e.Current().Version == before {
		t.Error(n, err, e.Current().Version == before)
	}
}
