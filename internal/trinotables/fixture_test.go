package trinotables

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// only is a user that may read one schema, which is called like it, in every catalog.
const only = "only_tables"

// fixture is the schema of the user in some catalogs, which goes with the test.
func fixture(t *testing.T, catalogs ...string) *testtrino.Cluster {
	t.Helper()
	c := testtrino.Shared(t)
	for _, catalog := range []string{"memory", "hive", "iceberg", "delta"} {
		c.Run(t, "DROP SCHEMA IF EXISTS "+catalog+"."+only+" CASCADE")
	}
	for _, catalog := range catalogs {
		c.Run(t, "CREATE SCHEMA "+catalog+"."+only)
	}
	return c
}

// dataset is one with tables that are called t, u, ... and are these relations.
func dataset(t *testing.T, address, keys string, relations ...string) *policy.Dataset {
	t.Helper()
	tables := ""
	for i, r := range relations {
		name := string(rune('t' + i))
		kind := "unique: pid"
		if i > 0 {
			kind = "path: pid -> t.pid, max_rows: 1, max_groups: 1"
		}
		tables += name + ": {" + kind + ", source: " + r + ", columns: {pid: {type: integer}}}, "
	}
	p, err := policy.Parse("p.yaml", []byte("datasets: {d: {unit: t.pid, budget: {epsilon: 1}, analysts: {ana: }, source: '"+address+
		"', "+keys+"tables: {"+tables+"}}}"))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["d"]
}

// open returns the database of a dataset.
func open(t *testing.T, ds *policy.Dataset) *Database {
	t.Helper()
	d, err := Of(ds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// state looks, and fails the test where that does not work.
func state(t *testing.T, d *Database) *State {
	t.Helper()
	s, err := d.Look(t.Context())
	if err != nil {
		t.Fatal(Explained(err))
	}
	return s
}

// refused looks, and returns why that does not work, for the owner. What others are told has no
// word of the cluster's.
func refused(t *testing.T, d *Database, others string) string {
	t.Helper()
	_, err := d.Look(t.Context())
	if err == nil {
		t.Fatal("it was looked at")
	}
	if strings.Contains(err.Error(), only) || strings.Contains(err.Error(), "Trino says") || !strings.Contains(err.Error(), others) {
		t.Errorf("others are told: %v", err)
	}
	return Explained(err).Error()
}
