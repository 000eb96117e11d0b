package policycheck

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// TestTrinoApart: one table of a cluster in two datasets is found, also where the cluster has two
// names, and two tables that have files in common; and where nothing can be found it is said.
func TestTrinoApart(t *testing.T) {
	c := testtrino.Shared(t)
	in := map[string]string{}
	for _, catalog := range []string{"hive", "iceberg", "memory"} {
		in[catalog] = catalog + "." + c.Schema(t, catalog)
		c.Run(t, "CREATE TABLE "+in[catalog]+".people AS SELECT BIGINT '1' AS pid", "CREATE TABLE "+in[catalog]+".others AS SELECT BIGINT "+
			"'2' AS pid")
	}
	at := c.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+in["hive"]+".people")[0][0]
	c.Run(t, "CREATE TABLE "+in["hive"]+".same (pid bigint) WITH (external_location = '"+at+"')")
	one := c.Address(testtrino.Reader, "hive", "s")
	other := otherAddress(t, one)
	dataset := func(address, relation, public string) string {
		return "{unit: t.pid, budget: {epsilon: 1}, analysts: {ana: }, refresh: 24h, source: '" + address + "', tables: {t: {unique: " +
			"pid, trusted: true, source: " + relation + ", columns: {pid: {type: integer}}}" + public + "}}"
	}
	const postgres = "{unit: t.pid, budget: {epsilon: 1}, analysts: {ana: }, source: 'postgres://reader@/clinic?host=/nowhere', tables: " +
		"{t: {unique: pid, source: public.t, columns: {pid: {type: integer}}}}}"
	for _, x := range []struct{ first, second, want, doubt string }{
		{dataset(one, in["memory"]+".people", ""), dataset(other, in["memory"]+".people", ""), "two budgets", ""},
		{dataset(one, in["memory"]+".people", ""), dataset(other, in["memory"]+".others", ""), "", ""},
		{dataset(one, in["hive"]+".people", ""), dataset(one, in["hive"]+".same", ""), "two budgets", ""},
		{dataset(one, in["hive"]+".people", ""), dataset(other, in["hive"]+".others", ""), "", ""},
		{dataset(one, in["iceberg"]+".people", ""), dataset(other, in["iceberg"]+".others", ""), "", ""},
		{dataset(one, in["iceberg"]+".people", ""), dataset(other, in["iceberg"]+".people", ""), "two budgets", ""},
		{dataset(one, in["hive"]+".people", ""), dataset(one, in["hive"]+".others",
			", u: {public: true, trusted: true, source: "+in["hive"]+".same, columns: {pid: {type: integer}}}"),
			"only one of them is public", ""},
		{dataset(one, in["memory"]+".people", ""), postgres, "", "behind the connector memory"},
		{dataset(one, in["iceberg"]+".people", ""), postgres, "", ""},
		{dataset(one, "nowhere.a.b", ""), dataset("trino://a@127.0.0.1:1/c?sslmode=disable", "c.a.b", ""), "", ""},
	} {
		p, err := policy.Parse("p.yaml", []byte("datasets: {d: "+x.first+", e: "+x.second+"}"))
		if err != nil {
			t.Fatal(err)
		}
		doubts, err := Apart(p)
		if (err == nil) != (x.want == "") || err != nil && !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s and %s: %v", x.first, x.second, err)
		}
		if said := strings.Join(doubts, "\n"); (said == "") != (x.doubt == "") || !strings.Contains(said, x.doubt) {
			t.Errorf("%s and %s: %q", x.first, x.second, said)
		}
	}
}

// otherAddress is another address of the same cluster, through a port that leads there.
func otherAddress(t *testing.T, address string) string {
	t.Helper()
	host, rest, ok := strings.Cut(strings.TrimPrefix(address, "trino://"+testtrino.Reader+"@"), "/")
	if !ok {
		t.Fatal(address)
	}
	return fmt.Sprintf("trino://%s@%s/%s", testtrino.Reader, forwardPort(t, host), rest)
}
