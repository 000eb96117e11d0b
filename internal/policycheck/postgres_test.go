package policycheck

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// TestPostgresApart: one table of a PostgreSQL database in two datasets is found, also where the
// server has two names, or one of them is a partition of the other.
func TestPostgresApart(t *testing.T) {
	server := testpg.Start(t)
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
		if err := Files(p); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s and %s: %v", c.first, c.second, err)
		}
	}
}
