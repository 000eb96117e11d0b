package pgwire

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/server/admission"
)

// TestDepthWithNames: END and comments do not make a text look flatter than it is.
func TestDepthWithNames(t *testing.T) {
	r := strings.Repeat
	deep := r("(", 500) + "1" + r(")", 500)
	for _, sql := range []string{
		"SELECT " + r("1 end, ", 600) + deep,
		"SELECT " + r("1 AS end, ", 600) + deep,
		"SELECT " + r("p.end, ", 600) + deep + " FROM patients p",
		"SELECT " + r("CASE WHEN p.end THEN ", 300) + "1" + r(" END", 300) + " FROM patients p",
		"SELECT " + r("NOT /**/ ", 500) + "true",
		r("END; ", 90) + "SELECT " + r("(", 150) + "1" + r(")", 150),
	} {
		if _, err := splitStatements(sql); err == nil || !strings.Contains(err.Error(), "levels deep") {
			t.Errorf("%.60s: %v", sql, err)
		}
	}
	if _, err := splitStatements("SELECT " + r("CASE WHEN true THEN (1) END end, ", 200) + "1; END"); err != nil {
		t.Error(err)
	}
}

// Texts that cannot be read are counted like others, in both protocols, before they are read. A few
// are not held up, and neither is anybody else.
func TestGarbageIsCounted(t *testing.T) {
	p := newTestServer(t, "")
	p.dispatcher = admission.New(p.db, admission.Options{Patience: -1})
	startServing(t, p, nil)
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
		must(t, olga.Exec(t.Context(), "SET application_name = 'x'; SHOW server_version").Close())
	}
}

// To say what a wide answer looks like takes as much as to read a text of that length, and counts
// like that. Of narrow ones many are told.
func TestDescribesAreCounted(t *testing.T) {
	for columns, told := range map[int]bool{5: true, 1000: false} {
		p := newTestServer(t, "")
		p.dispatcher = admission.New(p.db, admission.Options{Patience: -1})
		startServing(t, p, nil)
		_, f := p.hijack(t)
		f.Send(&pgproto3.Parse{Name: "s", Query: wideQuery(columns)})
		const times = 300
		for range times {
			f.Send(&pgproto3.Describe{ObjectType: 'S', Name: "s"})
			f.Send(&pgproto3.Sync{})
		}
		must(t, f.Flush())
		codes := map[string]int{}
		for range times {
			for ready := false; !ready; {
				m, err := f.Receive()
				must(t, err)
				if e, failed := m.(*pgproto3.ErrorResponse); failed {
					codes[e.Code]++
				}
				_, ready = m.(*pgproto3.ReadyForQuery)
			}
		}
		if n := codes[tryAgain]; (n == 0) != told || len(codes) > 1 {
			t.Errorf("%d columns: %v", columns, codes)
		}
	}
}

// Somebody who asks again and again what an answer looks like, and does not read it, keeps nobody
// from having texts read meanwhile: what is sent to a client is sent without a place.
func TestDescribesUnread(t *testing.T) {
	t.Parallel()
	p := startTestServer(t, nil)
	other := p.ana(t)
	raw, f := p.hijack(t)
	f.Send(&pgproto3.Parse{Name: "s", Query: wideQuery(1000)})
	for range 120 { // 8 MB, which is more than the network takes
		f.Send(&pgproto3.Describe{ObjectType: 'S', Name: "s"})
	}
	must(t, f.Flush())
	defer raw.Close()
	ctx, stop := context.WithTimeout(background, 10*time.Second)
	defer stop()
	for range 20 {
		if _, err := other.Exec(ctx, "SELECT 1"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
