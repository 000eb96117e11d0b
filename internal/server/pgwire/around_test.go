package pgwire

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestAroundIsTold: what stops a SELECT over answers is told, because it sees nothing else, and
// what was bought inside stays.
func TestAroundIsTold(t *testing.T) {
	p := open(t, nil)
	conn := p.ana(t)
	const inside = "SELECT sex, count(*) AS n FROM patients GROUP BY sex"
	for around, want := range map[string]string{
		"SELECT t.n FROM (" + inside + ") AS t, generate_series(1, 60000) AS g": "more than 100000 rows",
		"SELECT CAST(sex || 'x' AS integer) FROM (" + inside + ") AS t":         "stopped",
	} {
		_, err := conn.Exec(background, around)
		var told *pgconn.PgError
		if !errors.As(err, &told) || told.Code != tooComplex || !strings.Contains(told.Message, want) ||
			!strings.Contains(told.Message, "paid for, and stay free") {
			t.Errorf("%s: %v", around, err)
		}
	}
	if n := p.charges(t); n != 1 {
		t.Errorf("%d charges", n)
	}
}
