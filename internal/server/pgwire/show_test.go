package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/hospital"
)

// A budget that epsilon or rho keeps is said to be one; once Gaussian noise has closed the first
// way, nobody is shown it any more.
func TestShowBudgetOfTwoWays(t *testing.T) {
	p := serve(t, furnish(t, hospital.Dataset("either", "c", "{epsilon: 10, delta: 1e-6, noise: auto}")+"    release: immediate\n"), nil)
	show := func(user string, before ...string) (claims, heard string) {
		t.Helper()
		c := p.config(t, user, "either")
		c.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
		var said notices
		c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
		conn := p.connect(t, c)
		for _, text := range before {
			if _, err := conn.Exec(background, text); err != nil {
				t.Fatal(err)
			}
		}
		said.take()
		rows, err := conn.Query(background, "SHOW dp.budget")
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for rows.Next() {
			v, err := rows.Values()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(v[2], " ", v[4]))
		}
		return strings.Join(all, ", "), strings.Join(said.take(), "\n")
	}
	const either = "by the sum of epsilon or by that of rho"
	for _, user := range []string{"ana", "olga"} {
		if claims, heard := show(user); !strings.HasPrefix(claims, "epsilon 0, rho 0") || !strings.Contains(heard, either) {
			t.Errorf("%s: %s, %s", user, claims, heard)
		}
	}
	if claims, heard := show("ana", "SET dp.mechanism = gaussian", "SELECT count(*) FROM patients"); !strings.HasPrefix(claims, "rho 0.") ||
		strings.Contains(heard, either) || !strings.Contains(heard, "left: ") {
		t.Errorf("%s, %s", claims, heard)
	}
	for _, user := range []string{"ben", "olga"} {
		if claims, heard := show(user); strings.Contains(claims, "epsilon") || strings.Contains(claims, "unbounded") ||
			strings.Contains(heard, either) {
			t.Errorf("%s: %s, %s", user, claims, heard)
		}
	}
}
