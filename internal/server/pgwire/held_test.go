package pgwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What suspended portals hold is counted in bytes, in a session and over all sessions of a user,
// and is given back with them.
func TestHeld(t *testing.T) {
	p := open(t, nil)
	var codes []string
	suspend := func() int {
		raw, err := p.ana(t).PgConn().Hijack()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { raw.Conn.Close() })
		raw.Frontend.Send(&pgproto3.Query{String: "BEGIN"})
		n := 0
		for i := range 4 {
			raw.Frontend.Send(&pgproto3.Parse{Query: "SELECT repeat('x', 1000000) FROM generate_series(1, 15)"})
			raw.Frontend.Send(&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", i)})
			raw.Frontend.Send(&pgproto3.Execute{Portal: fmt.Sprint("p", i), MaxRows: 1})
			raw.Frontend.Send(&pgproto3.Sync{})
		}
		if err := raw.Frontend.Flush(); err != nil {
			t.Fatal(err)
		}
		for ready := 0; ready < 5; {
			m, err := raw.Frontend.Receive()
			if err != nil {
				t.Fatal(err)
			}
			switch m := m.(type) {
			case *pgproto3.ReadyForQuery:
				ready++
			case *pgproto3.PortalSuspended:
				n++
			case *pgproto3.ErrorResponse:
				codes = append(codes, m.Code)
			}
		}
		return n
	}
	if n := suspend(); n != 2 || codes[0] != outOfMemory {
		t.Errorf("a session suspends %d portals of 15 MB: %v", n, codes)
	}
	if n := suspend() + suspend(); n != 2 {
		t.Errorf("two more sessions suspend %d", n)
	}
}

// Of statements that are no SELECT the tree is kept, so they are short.
func TestLongCommand(t *testing.T) {
	p := open(t, nil)
	c := p.ana(t)
	_, err := c.Exec(background, "SET search_path = "+strings.Repeat("a, ", 2000)+"a")
	if code(err) != tooComplex {
		t.Error(err)
	}
	if _, err := c.Exec(background, "SET search_path = a, b"); err != nil {
		t.Error(err)
	}
}
