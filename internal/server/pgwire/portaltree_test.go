package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A portal keeps its statement when that is replaced, and then the text of it alone: trees are
// twenty times as large, and nobody counts them.
func TestPortalsKeepNoTrees(t *testing.T) {
	p := open(t, nil)
	raw, err := p.ana(t).PgConn().Hijack()
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Conn.Close()
	const portals = 100
	long := "SELECT count(*) FROM patients WHERE age" + strings.Repeat("+1", 1900) + " > 0"
	before := memory()
	raw.Frontend.Send(&pgproto3.Query{String: "BEGIN"})
	for i := range portals {
		raw.Frontend.Send(&pgproto3.Parse{Query: long})
		raw.Frontend.Send(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", i)})
	}
	raw.Frontend.Send(&pgproto3.Sync{})
	if err := raw.Frontend.Flush(); err != nil {
		t.Fatal(err)
	}
	for bound, ready := 0, 0; ready < 2; {
		m, err := raw.Frontend.Receive()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *pgproto3.BindComplete:
			bound++
		case *pgproto3.ErrorResponse:
			t.Fatal(m.Message)
		case *pgproto3.ReadyForQuery:
			if ready++; ready == 2 && bound != portals {
				t.Errorf("%d portals", bound)
			}
		}
	}
	if now := memory(); now > before+portals*(64<<10) {
		t.Errorf("%d portals keep %d MB", portals, (now-before)>>20)
	}
}
