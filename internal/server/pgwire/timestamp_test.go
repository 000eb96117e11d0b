package pgwire

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestTimestamps: the quantiles of a timestamp are timestamps in text and in binary, for the
// client and for the question around them, and the same ones each time.
func TestTimestamps(t *testing.T) {
	p := open(t, nil)
	const inner = "SELECT min(seen) AS a, max(seen) AS b, median(seen) AS c, percentile_disc(0.25) WITHIN GROUP (ORDER BY seen) AS d " +
		"FROM (SELECT least(greatest(day, '2015-01-01'), '2030-01-01') + INTERVAL '90 minutes 0.000001 seconds' AS seen " +
		"FROM visits) AS v"
	for _, q := range []string{inner, "SELECT * FROM (" + inner + ") AS t"} {
		first := ""
		for _, mode := range modes {
			c := p.config(t, "ana", "hospital")
			c.DefaultQueryExecMode = mode
			var at [4]time.Time
			if err := p.connect(t, c).QueryRow(background, q).Scan(&at[0], &at[1], &at[2], &at[3]); err != nil {
				t.Fatal(mode, err)
			}
			got := fmt.Sprint(at)
			if first == "" {
				first = got
			}
			if got != first || at[0].Year() < 2000 || at[1].Before(at[2]) || at[2].Before(at[0]) {
				t.Errorf("%v: %v, and before %v", mode, got, first)
			}
		}
	}
}

// TestNow: now() is when the transaction began, as in PostgreSQL. So it is one question in a block,
// which is paid for once, and another one afterwards; also where a statement was prepared before.
func TestNow(t *testing.T) {
	p := open(t, nil)
	c := p.config(t, "ana", "hospital")
	var said notices
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
	conn := p.connect(t, c)
	exec := func(sql string) string {
		t.Helper()
		if _, err := conn.Exec(background, sql); err != nil {
			t.Fatal(sql, err)
		}
		return strings.Join(said.take(), "\n")
	}
	const week = "SELECT count(*) FROM visits WHERE day > now() - INTERVAL '7 days'"
	for i, want := range []struct {
		sql  string
		free bool
	}{{"BEGIN", false}, {week, false}, {week, true}, {week, true}, {"COMMIT AND CHAIN", false}, {week, false}, {week, true},
		{"ROLLBACK", false}, {week, false}, {week, false}} {
		heard := exec(want.sql)
		free, told := strings.Contains(heard, "price: free"), strings.Contains(heard, "now() is")
		if want.sql == week && (free != want.free || !told) {
			t.Errorf("%d: %s", i, heard)
		}
	}
	if heard := exec("EXPLAIN " + week); strings.Contains(heard, "already paid for") {
		t.Error(heard)
	}
}
