package curator_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/curator/policycheck"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// TestFilesThatMayBeOne: public tables may have many names, other tables of one database are other
// data, and labels are not a table too.
func TestFilesThatMayBeOne(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"people.csv", "towns.csv", "all.duckdb"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("pid,age,label\n1,2,1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(dir, name), filepath.Join(dir, "same-"+name)); err != nil {
			t.Skip(err)
		}
	}
	const head = "{engine: duckdb, unit: %.pid, budget: {epsilon: 1}, analysts: {ana: }, "
	private := func(source string) string {
		return "{source: " + source + ", unique: pid, columns: {age: {type: integer}}}"
	}
	public := func(source string) string {
		return "{source: " + source + ", public: true, columns: {age: {type: integer}}}"
	}
	one := func(name, tables string) string {
		return "  " + name + ": " + strings.Replace(head, "%", "p"+name, 1) + "tables: {p" + name + ": " + private(name+".csv") + tables +
			"}"
	}
	for _, c := range []struct{ name, text, says string }{
		{"public tables", one("x", ", t: "+public("towns.csv")) + "}\n" + one("y", ", t: "+public("same-towns.csv")) + "}\n", ""},
		{"public and private", one("x", ", t: "+public("towns.csv")) + "}\n" +
			one("y", ", t: {source: same-towns.csv, path: age -> py.pid, max_rows: 1, max_groups: 1, columns: {}}") + "}\n",
			"only one of them is public"},
		{"in one dataset",
			one("x", ", t: {source: people.csv, path: age -> px.pid, max_rows: 1, max_groups: 1, columns: {}}, u: {source: "+
				"same-people.csv, path: age -> px.pid, max_rows: 1, max_groups: 1, columns: {}}") + "}\n", "under two names"},
		{"other tables", "  x: {engine: duckdb, source: all.duckdb, unit: a.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {a: " +
			"{unique: pid, columns: {}}}}\n" +
			"  y: {engine: duckdb, source: same-all.duckdb, unit: b.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {b: {unique: " +
			"pid, columns: {}}}}\n", ""},
		{"labels and a table", one("x", "") + ", holdouts: {e: {labels: people.csv, column: label, threshold: 0.04, noise: 0.01, " +
			"answers: 2}}}\n" + one("y", ", t: {source: same-people.csv, path: age -> py.pid, max_rows: 1, max_groups: 1, columns: {}}") +
			"}\n", "write table: to hold out"},
		{"labels of two datasets", one("x", "") +
			", holdouts: {e: {labels: people.csv, column: label, threshold: 0.04, noise: 0.01, answers: 2}}}\n" + one("y", "") +
			", holdouts: {e: {labels: same-people.csv, column: label, threshold: 0.04, noise: 0.01, answers: 2}}}\n", "two budgets"},
		{"the same table", "  x: {engine: duckdb, source: all.duckdb, unit: a.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {a: " +
			"{unique: pid, columns: {}}}}\n" +
			"  y: {engine: duckdb, source: same-all.duckdb, unit: A.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {A: {unique: " +
			"pid, columns: {}}}}\n", "two budgets"},
	} {
		p, err := policy.Parse(filepath.Join(dir, "p.yaml"), []byte("datasets:\n"+c.text))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err := policycheck.Files(p); (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// forwardPort listens on another port and hands everything on, as a proxy before a coordinator
// does: what is answered has the proxy's address in it.
func forwardPort(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := &url.URL{Scheme: "http", Host: host}
	s := &http.Server{Handler: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host
	}}}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

// TestPostgresApart: one table of a PostgreSQL database in two datasets is found, also where the
// server has two names, or one of them is a partition of the other.
func TestPostgresApart(t *testing.T) {
	server := testpg.Shared(t)
	conn, err := pgx.Connect(context.Background(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, s := range []string{"CREATE ROLE reader LOGIN", "CREATE TABLE people (pid bigint)", "CREATE TABLE others (pid bigint)",
		"CREATE TABLE visits (pid bigint, y int) PARTITION BY LIST (y)", "CREATE TABLE visits_1 PARTITION OF visits FOR VALUES IN (1)"} {
		if _, err := conn.Exec(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	folder := u.Query().Get("host")
	link := filepath.Join(t.TempDir(), "s")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	address := func(folder string) string { return "postgres://reader@/postgres?host=" + folder }
	dataset := func(address, relation, public string) string {
		return "{unit: t.pid, budget: {epsilon: 1}, analysts: {ana: }, source: '" + address + "', tables: {t: {unique: pid, source: " +
			relation + ", columns: {pid: {type: integer}}}" + public + "}}"
	}
	const told = ", p: {public: true, source: public.people, columns: {pid: {type: integer}}}"
	for _, c := range []struct{ first, second, want string }{
		{dataset(address(folder), "public.people", ""), dataset(address(link), "public.others", ""), ""},
		{dataset(address(folder), "public.people", ""), dataset(address(link), "public.people", ""), "two budgets"},
		{dataset(address(folder), "public.visits", ""), dataset(address(folder), "public.visits_1", ""), "two budgets"},
		{dataset(address(folder), "public.people", ""), dataset(address(link), "public.others", told), "only one of them is public"},
		{dataset(address(folder), "public.people", ""), dataset("postgres://reader@/postgres?host=/nowhere", "public.people", ""), ""},
		{dataset(address(folder), "public.people", ""), dataset(address(link), "public.gone", ""), ""},
	} {
		p, err := policy.Parse("p.yaml", []byte("datasets: {d: "+c.first+", e: "+c.second+"}"))
		if err != nil {
			t.Fatal(err)
		}
		if err := policycheck.Files(p); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s and %s: %v", c.first, c.second, err)
		}
	}
}

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
		doubts, err := policycheck.Apart(p)
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
