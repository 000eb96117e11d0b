package pgwire

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/server/admission"
)

// Texts that cannot be read are counted like others, in both protocols, before they are read. A few
// are not held up, and neither is anybody else.
func TestGarbageIsCounted(t *testing.T) {
	p := furnish(t, "")
	p.dispatcher = admission.New(p.db, admission.Options{Patience: -1})
	serve(t, p, nil)
	garbage := "SELECT FROM FROM " + strings.Repeat("a", 200<<10)
	for name, send := range map[string]func(*pgconn.PgConn) error{
		"ana": func(c *pgconn.PgConn) error { return c.Exec(t.Context(), garbage).Close() },
		"ben": func(c *pgconn.PgConn) error {
			_, err := c.Prepare(t.Context(), "", garbage, nil)
			return err
		},
	} {
		c := p.connect(t, p.config(t, name, "hospital")).PgConn()
		codes := map[string]int{}
		for range 60 {
			var e *pgconn.PgError
			if err := send(c); !errors.As(err, &e) {
				t.Fatalf("%s: %v", name, err)
			}
			codes[e.Code]++
		}
		if codes[syntaxError] < 10 || codes[syntaxError] > 30 || codes[syntaxError]+codes[tryAgain] != 60 {
			t.Errorf("%s: %v", name, codes)
		}
	}
	olga := p.connect(t, p.config(t, "olga", "hospital")).PgConn()
	for range 100 { // what drivers send
		if err := olga.Exec(t.Context(), "SET application_name = 'x'; SHOW server_version").Close(); err != nil {
			t.Fatal(err)
		}
	}
}
