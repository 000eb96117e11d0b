package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/hospital"
)

// What a stream or a holdout fails with has words of its own, without data in them.
func TestSessionErrors(t *testing.T) {
	for err, code := range map[error]string{api.ErrStreamPart: "53400", api.ErrHoldoutRun: "55000", api.ErrChanging: "55000"} {
		if e := explain(t.Context(), fmt.Errorf("pid 37 has HIV: %w", err)); e.code != code || e.message != err.Error() {
			t.Errorf("%v: %+v", err, e)
		}
	}
}

// A count that goes through a stream says so beside the answer: paid or free, and no receipt where
// nothing was ever charged for it.
func TestStreamNotices(t *testing.T) {
	p := serve(t, furnish(t, hospital.Stream(300, "0.4", "5")), nil)
	c := p.config(t, "ben", "other")
	var said notices
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message + "|" + n.Detail) }
	conn := p.connect(t, c)
	if _, err := conn.Exec(background, "SET dp.stream = on"); err != nil {
		t.Fatal(err)
	}
	first := int64(-1)
	for i, question := range []string{
		"SELECT count(*) FROM patients WHERE sex = 'F' AND age >= 30", "SELECT count(*) FROM patients WHERE age > 29 AND sex IN ('F')",
		"SELECT count(*) FROM patients WHERE NOT (age < 30) AND sex = 'F'",
	} {
		said.take()
		var n int64
		if err := conn.QueryRow(background, question).Scan(&n); err != nil {
			t.Fatal(question, err)
		}
		text := strings.Join(said.take(), "\n")
		if !strings.Contains(text, "answered through the stream patients") {
			t.Errorf("%s: %s", question, text)
		}
		if i == 0 {
			first = n
			if !strings.Contains(text, "price: epsilon ") || !strings.Contains(text, "|receipt: record ") {
				t.Errorf("%s: %s", question, text)
			}
			continue
		}
		if n != first || !strings.Contains(text, "price: free") || strings.Contains(text, "record 0") {
			t.Errorf("%s is %d, the first time %d: %s", question, n, first, text)
		}
	}
	rows, err := conn.Query(background, "EXPLAIN SELECT count(*) FROM patients WHERE sex = 'F' AND age >= 30")
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		plan = append(plan, fmt.Sprint(values[0]))
	}
	if !strings.Contains(strings.Join(plan, "\n"), "stream patients") {
		t.Errorf("EXPLAIN says\n%s", strings.Join(plan, "\n"))
	}
}
