package trino

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/testtrino"
)

// alone is a schema of Hive's that one user may read who may read nothing else, and one beside it.
type alone struct {
	schema
	beside schema
}

func newAlone(t *testing.T) alone {
	t.Helper()
	c := testtrino.Shared(t)
	return alone{schema{c, "hive", c.Alone(t, "hive")}, newSchema(t, "hive")}
}

// open opens a table of people, as a server does: rights and versions are looked at.
func (a alone) open(t *testing.T, table string) (*Engine, error) {
	t.Helper()
	keys := "unit: " + table + ".pid\ntables:\n  " + table + ":\n    unique: pid\n    trusted: true\n    columns:\n" +
		"      v: {type: integer, bounds: [-10, 1000]}\n"
	e, err := Open(t.Context(), dataset(t, a.Address(a.name, "hive", a.name), keys))
	if err == nil {
		t.Cleanup(func() { e.Close() })
	}
	return e, err
}

// folder is where a table is.
func (s schema) folder(t *testing.T, table string) string {
	t.Helper()
	return s.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+s.table(table)+" LIMIT 1")[0][0]
}

// outage is what analysts are told where the tables cannot be looked at, whatever the reason is.
const outage = "the Trino cluster of the dataset d cannot be asked; ask the owner to run 'discreet check', which says why"

// TestHiveFiles: files whose columns have narrower types than the table's are read; those of which
// nothing can be read end a question as everything does that goes wrong while it runs, and files
// and partitions that are none are an outage, before anything is charged, in words that say nothing
// of them.
func TestHiveFiles(t *testing.T) {
	a := newAlone(t)
	a.beside.Run(t, "CREATE TABLE "+a.beside.table("narrow")+" AS SELECT * FROM (VALUES (INTEGER '1', SMALLINT '-7'), (2, 500), (3, "+
		"NULL)) AS t (pid, v)",
		"CREATE TABLE "+a.beside.table("texts")+" AS SELECT * FROM (VALUES (BIGINT '1', 'seven')) AS t (pid, v)")
	a.Run(t, fmt.Sprintf("CREATE TABLE %s (pid bigint, v bigint) WITH (external_location = '%s')", a.table("t"),
		a.beside.folder(t, "narrow")))
	e, err := a.open(t, "t")
	if err != nil {
		t.Fatal(err)
	}
	q := &prepare(t, e.dataset, "SELECT COUNT(*), SUM(v) FROM t").Query
	out, err := e.Run(t.Context(), q)
	if err != nil {
		t.Fatal(why(t, e, q))
	}
	if got := []int64{out.Measures[0].Open()[0], out.Measures[1].Open()[0]}; !slices.Equal(got, []int64{3, 493}) {
		t.Error(got)
	}

	// Somebody puts a file there that is no Parquet.
	a.beside.Run(t, fmt.Sprintf("CREATE TABLE %s (line varchar) WITH (format = 'TEXTFILE', external_location = '%s')",
		a.beside.table("lines"), a.beside.folder(t, "narrow")), "INSERT INTO "+a.beside.table("lines")+" VALUES 'no Parquet'")
	if _, err := e.Version(t.Context()); err == nil || err.Error() != outage {
		t.Error(err)
	}

	a.Run(t, "DROP TABLE "+a.table("t"), fmt.Sprintf("CREATE TABLE %s (pid bigint, v bigint) WITH (external_location = '%s')",
		a.table("t"), a.beside.folder(t, "texts")))
	if e, err = a.open(t, "t"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Run(t.Context(), q); !errors.Is(err, engine.ErrRun) || err.Error() != engine.ErrRun.Error() {
		t.Error(err)
	}
}

// TestHivePartitions: a value of a partition that is no number, where the column is one, is an
// outage too.
func TestHivePartitions(t *testing.T) {
	a := newAlone(t)
	// Partitions of somebody else's may not be inside of what Hive keeps itself.
	at := "local:///outside/" + a.beside.name
	a.beside.Run(t, fmt.Sprintf("CREATE TABLE %s WITH (partitioned_by = ARRAY['v'], external_location = '%s') AS "+
		"SELECT * FROM (VALUES (BIGINT '1', '5'), (2, 'seven')) AS t (pid, v)", a.beside.table("raw"), at))
	a.Run(t, fmt.Sprintf("CREATE TABLE %s (pid bigint, v bigint) WITH (partitioned_by = ARRAY['v'], external_location = '%s')",
		a.table("t"), at), fmt.Sprintf("CALL hive.system.sync_partition_metadata('%s', 't', 'FULL')", a.name))
	if _, err := a.open(t, "t"); err == nil || err.Error() != outage {
		t.Error(err)
	}
}
