package pgwire

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// TestExistence asks as programs do whether there are rows: for the price of a count, where the
// owner has said so.
func TestExistence(t *testing.T) {
	p := startServing(t, newTestServer(t, "    existence: 40\n"), nil)
	var said notices
	c := p.config(t, "ana", "other")
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
	conn := p.connect(t, c)
	left := func() (out string) {
		t.Helper()
		must(t, conn.QueryRow(background, "SHOW dp.budget").Scan(nil, nil, nil, nil, nil, &out))
		return out
	}
	_, err := conn.Exec(background, "SET dp.epsilon = 1") // the noise decides nothing
	must(t, err)
	for _, one := range []struct{ many, few string }{
		{"SELECT 1 AS one FROM patients WHERE age >= $1 LIMIT 1",
			"SELECT 1 AS one FROM patients WHERE age >= $1 AND zip = 'nowhere' LIMIT 1"},
		{`SELECT 1 AS "a" FROM "patients" WHERE "patients"."age" >= $1 LIMIT 1`, ""},
	} {
		var x int
		if err := conn.QueryRow(background, one.many, 1).Scan(&x); err != nil || x != 1 {
			t.Errorf("%s: %v %v", one.many, x, err)
		}
		if one.few != "" {
			if err := conn.QueryRow(background, one.few, 1).Scan(&x); !errors.Is(err, pgx.ErrNoRows) {
				t.Errorf("%s: %v %v", one.few, x, err)
			}
		}
	}
	if heard := strings.Join(said.take(), "\n"); !strings.Contains(heard, "is above 40") || !strings.Contains(heard, "price: epsilon 1;") {
		t.Error(heard)
	}
	// The count is kept: what it is asked for in other words is free, and so is the count itself.
	before := left()
	for sql, want := range map[string]bool{
		"SELECT EXISTS (SELECT * FROM patients WHERE age >= 1)":                            true,
		"SELECT NOT EXISTS (SELECT 1 FROM patients WHERE age >= 1 LIMIT 1)":                false,
		"SELECT COUNT(*) > 40 FROM patients WHERE age >= 1":                                true,
		"SELECT EXISTS (SELECT age FROM patients WHERE age >= 1 AND zip = 'nowhere') AS x": false,
	} {
		var found bool
		if err := conn.QueryRow(background, sql).Scan(&found); err != nil || found != want {
			t.Errorf("%s: %v %v", sql, found, err)
		}
	}
	if now := left(); now != before || now != "8" {
		t.Errorf("%s was left, and now %s", before, now)
	}
	// Where the owner has said nothing it is refused, and free.
	strict := p.ana(t)
	for _, sql := range []string{"SELECT 1 FROM patients LIMIT 1", "SELECT EXISTS (SELECT 1 FROM patients)"} {
		if _, err := strict.Exec(background, sql); sqlstate(err) != notPermitted {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
