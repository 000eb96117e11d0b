package trinotables

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// count counts the rows of the table t in a state.
func count(t *testing.T, c *testtrino.Cluster, s *State) string {
	t.Helper()
	return c.Rows(t, only, "SELECT count(*) FROM "+s.From("t"))[0][0]
}

// TestVersions: a store that has versions is read in the one that was looked at, whatever becomes
// of the table meanwhile; one that has none says at least that it has changed.
func TestVersions(t *testing.T) {
	for _, catalog := range daily.Sample(t, []string{"iceberg", "hive"}, 1) {
		c := fixture(t, catalog)
		relation := catalog + "." + only + ".t"
		c.Run(t, "CREATE TABLE "+relation+" (pid bigint)")
		ds := dataset(t, c.Address(only, catalog, only), "", relation)
		ds.Tables["t"].Trusted = catalog == "hive"
		d := open(t, ds)
		pinned := catalog == "iceberg"
		empty := state(t, d)
		if empty.Pinned != pinned || empty.Version.Whole != pinned || empty.Version.State == "" || count(t, c, empty) != "0" {
			t.Errorf("%s, empty: %+v", catalog, empty)
		}
		c.Run(t, "INSERT INTO "+relation+" VALUES 1, 2")
		first := state(t, d)
		if again := state(t, d); first.Version == empty.Version || first.Version != again.Version {
			t.Errorf("%s: %+v, %+v, %+v", catalog, empty.Version, first.Version, again.Version)
		}
		c.Run(t, "INSERT INTO "+relation+" VALUES 3")
		second := state(t, d)
		if second.Version == first.Version || count(t, c, second) != "3" {
			t.Errorf("%s: %+v, %+v", catalog, first.Version, second.Version)
		}
		if first.Pinned != pinned || first.Version.Whole != pinned || pinned != (count(t, c, first) == "2") {
			t.Errorf("%s: %+v, of which %s rows are read", catalog, first, count(t, c, first))
		}
	}
}

// TestDelta: a Delta table is read in the version that was looked at, and one that was made anew is
// another one, although its versions are counted from 0 again.
func TestDelta(t *testing.T) {
	c := fixture(t, "delta")
	relation := "delta." + only + ".t"
	c.Run(t, "CREATE TABLE "+relation+" AS SELECT * FROM (VALUES BIGINT '1', 2) AS t (pid)")
	d := open(t, dataset(t, c.Address(only, "delta", only), "", relation))
	first := state(t, d)
	if !first.Pinned || !first.Version.Whole || !strings.HasSuffix(first.From("t"), " FOR VERSION AS OF 0") || count(t, c, first) != "2" {
		t.Errorf("%+v", first)
	}
	c.Run(t, "DROP TABLE "+relation, "CREATE TABLE "+relation+" AS SELECT * FROM (VALUES BIGINT '1', 2, 3) AS t (pid)")
	if second := state(t, d); second.Version == first.Version || count(t, c, second) != "3" {
		t.Errorf("%+v, %+v", first.Version, second.Version)
	}
}

// TestUnmarked: where a store does not say whether a table has changed, the owner has to.
func TestUnmarked(t *testing.T) {
	c := fixture(t, "memory")
	relation := "memory." + only + ".t"
	c.Run(t, "CREATE TABLE "+relation+" AS SELECT BIGINT '1' AS pid, CAST('first' AS varchar) AS load")
	at := c.Address(only, "memory", only)
	if why := refused(t, open(t, dataset(t, at, "", relation)), "nothing says whether the data"); !strings.Contains(why, "connector "+
		"memory") ||
		!strings.Contains(why, "refresh: 24h") || !strings.Contains(why, "version: SELECT") {
		t.Error(why)
	}
	d := open(t, dataset(t, at, "refresh: 24h, ", relation))
	s := state(t, d)
	if s.Pinned || s.Version.Whole || s.Version.State == "" || s.Version.Name != "" {
		t.Errorf("%+v", s)
	}
	d.now.period-- // a day later
	if later := state(t, d); later == s {
		t.Error("it was not looked again")
	}
	d = open(t, dataset(t, at, "version: 'SELECT max(load) FROM "+relation+"', ", relation))
	if s := state(t, d); s.Version.Name != "first" || s.Version.State != "" || s.Version.Whole {
		t.Errorf("%+v", s.Version)
	}
	c.Run(t, "INSERT INTO "+relation+" VALUES (2, 'second')")
	if s := state(t, d); s.Version.Name != "second" {
		t.Errorf("%+v", s.Version)
	}
	known := d.known
	for query, says := range map[string]string{"SELECT pid FROM " + relation: "several rows", "SELECT pid FROM " + relation + " " +
		"WHERE pid > 5": "no row",
		"SELECT NULL": "is NULL", "SELECT 1, 2": "one column", "SELECT nosuch": "nosuch", "SELECT 1); DROP TABLE " + relation + "; " +
			"--": "cannot be run",
		"SELECT ' '": "empty text"} {
		d.cluster.dataset.VersionQuery = query
		d.known = known // what the user may do was looked at, and takes long
		if why := refused(t, d, "the version query of the dataset d"); !strings.Contains(why, says) {
			t.Errorf("%s: %s", query, why)
		}
	}
}

// TestNamedVersions: with a version query, a store that has versions is read in that which it had
// when the query's answer first was what it is, also after refresh; and in a later one, where that
// is gone.
func TestNamedVersions(t *testing.T) {
	c := fixture(t, "iceberg", "memory")
	relation, log := "iceberg."+only+".t", "memory."+only+".log"
	c.Run(t, "CREATE TABLE "+relation+" AS SELECT BIGINT '1' AS pid", "CREATE TABLE "+log+" AS SELECT CAST('monday' AS varchar) AS load")
	ds := dataset(t, c.Address(only, "iceberg", only), "version: 'SELECT max_by(load, load) FROM "+log+"', ", relation)
	d := open(t, ds)
	first := state(t, d)
	c.Run(t, "INSERT INTO "+relation+" VALUES 2")
	if s := state(t, d); s.Version != first.Version || s.Version.Name != "monday" || count(t, c, s) != "1" || !s.Pinned {
		t.Errorf("%+v", s)
	}
	c.Run(t, "INSERT INTO "+log+" VALUES 'tuesday'")
	second := state(t, d)
	if second.Version.Name != "tuesday" || count(t, c, second) != "2" {
		t.Errorf("%+v", second)
	}
	c.Run(t, "DROP TABLE "+relation, "CREATE TABLE "+relation+" AS SELECT * FROM (VALUES BIGINT '1', 2, 3) AS t (pid)")
	if s := state(t, d); s.Version.Name != "tuesday" || s.Version == second.Version || count(t, c, s) != "3" {
		t.Errorf("%+v", s)
	}
	c.Run(t, "DROP TABLE "+log)
	ds.VersionQuery, ds.Refresh = "", time.Hour
	d = open(t, ds)
	before := state(t, d)
	c.Run(t, "INSERT INTO "+relation+" VALUES 4")
	if s := state(t, d); d.now.period == d.period() && s != before {
		t.Errorf("%+v", s)
	}
	// What is gone is not waited for.
	c.Run(t, "DROP TABLE "+relation, "CREATE TABLE "+relation+" AS SELECT BIGINT '1' AS pid")
	if s := state(t, d); s.Version == before.Version || count(t, c, s) != "1" {
		t.Errorf("%+v", s)
	}
}

// TestPatience: a cluster that takes too long is a failure as any other, with the same words for
// analysts and a reason for the owner, and not the end of the analyst's own time.
func TestPatience(t *testing.T) {
	free := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-free:
		case <-r.Context().Done():
		}
	}))
	defer slow.Close()
	defer close(free)
	u, _ := url.Parse(slow.URL)
	p, err := policy.Parse("p.yaml", []byte("datasets:\n  d:\n    source: trino://ana@"+u.Host+"/c/s?sslmode=disable\n    unit: p.pid\n"+
		"    budget: {epsilon: 1}\n    analysts: {ana: }\n    tables:\n      p:\n        unique: pid\n        columns:\n"+
		"          pid: {type: integer}\n"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := Of(p.Datasets["d"])
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.patience = 200 * time.Millisecond
	if _, err = d.CurrentState(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "the Trino cluster of the dataset d cannot be asked") ||
		!strings.Contains(catalogue.ForOwner(err).Error(), "it did not say within 200ms") {
		t.Error(err)
	}

	// Many who ask at the same time wait as long as one.
	begin := time.Now()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := d.CurrentState(t.Context()); err == nil ||
				!strings.Contains(catalogue.ForOwner(err).Error(), "it did not say within 200ms") {
				t.Error(err)
			}
		})
	}
	if all.Wait(); time.Since(begin) > 2*time.Second {
		t.Errorf("20 who asked waited %v, one after the other", time.Since(begin))
	}
}

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
	s, err := d.CurrentState(t.Context())
	if err != nil {
		t.Fatal(catalogue.ForOwner(err))
	}
	return s
}

// refused looks, and returns why that does not work, for the owner. What others are told has no
// word of the cluster's.
func refused(t *testing.T, d *Database, others string) string {
	t.Helper()
	_, err := d.CurrentState(t.Context())
	if err == nil {
		t.Fatal("it was looked at")
	}
	if strings.Contains(err.Error(), only) || strings.Contains(err.Error(), "Trino says") || !strings.Contains(err.Error(), others) {
		t.Errorf("others are told: %v", err)
	}
	return catalogue.ForOwner(err).Error()
}
