package pgwire

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// do runs statements, and returns the SQLSTATE of the first that fails.
func do(c *pgconn.PgConn, sql string) string {
	_, err := c.Exec(background, sql).ReadAll()
	if err == nil {
		return ""
	}
	return code(err)
}

// A cursor that nobody fetches from costs nothing, one that somebody does is paid for once, and
// with what was set when it was declared.
func TestCursorIsPaidWhenFetched(t *testing.T) {
	p := open(t, nil)
	var said notices
	config := p.config(t, "ana", "hospital")
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
	c := p.connect(t, config).PgConn()
	for i, step := range []struct {
		sql     string
		charges int
		says    string
	}{
		{"BEGIN; DECLARE a CURSOR FOR SELECT count(*) FROM patients WHERE age > 40; FETCH 0 a; MOVE 0 a; COMMIT", 0, ""},
		{"SET dp.epsilon = 0.5; SET dp.request = 'tuesday'", 0, ""},
		{"DECLARE b SCROLL CURSOR WITH HOLD FOR SELECT sex, count(*) FROM patients GROUP BY sex", 0, ""},
		{"SET dp.epsilon = 0.1", 0, ""},
		{"FETCH b", 1, "price: epsilon 0.5"},
		{"FETCH PRIOR b; FETCH ALL b; MOVE FIRST b", 1, ""},
		{"BEGIN; FETCH LAST b; ROLLBACK; FETCH FIRST b", 1, ""},
		{"CLOSE b; DECLARE b CURSOR WITH HOLD FOR SELECT sex, count(*) FROM patients GROUP BY sex", 1, ""},
		{"SET dp.epsilon = 0.5; CLOSE b", 1, ""},
		{"DECLARE b CURSOR WITH HOLD FOR SELECT sex, count(*) FROM patients GROUP BY sex; FETCH b", 1, "free"},
	} {
		if failed := do(c, step.sql); failed != "" {
			t.Fatalf("%s: %s", step.sql, failed)
		}
		heard := strings.Join(said.take(), "\n")
		told := strings.Contains(heard, step.says) && (step.says != "" || !strings.Contains(heard, "price"))
		if n := p.charges(t); n != step.charges || !told {
			t.Errorf("%d, %s: %d charges, and heard %s", i, step.sql, n, heard)
		}
	}
}

// TestCursorsAreBounded: what cursors left open take of the server has limits, in number and in
// bytes, in a session and for a user; and it is given back, whoever ends them.
func TestCursorsAreBounded(t *testing.T) {
	p := open(t, nil)
	many := p.ana(t).PgConn()
	if failed := do(many, "BEGIN"); failed != "" {
		t.Fatal(failed)
	}
	opened := 0
	for ; opened < 2*maxPortals && do(many, fmt.Sprintf("DECLARE c%d CURSOR FOR SELECT 1", opened)) == ""; opened++ {
	}
	if opened != maxPortals {
		t.Errorf("%d cursors were opened", opened)
	}
	if failed := do(many, "ROLLBACK; BEGIN; DECLARE c CURSOR FOR SELECT 1; FETCH c; COMMIT"); failed != "" {
		t.Errorf("then: %s", failed)
	}
	// Bytes: one of 15 MB, and another, but no third; with the user's other sessions no fifth.
	large := func(c *pgconn.PgConn, name string) string {
		return do(c, strings.ReplaceAll("DECLARE c CURSOR WITH HOLD FOR SELECT repeat('x', 1000000) FROM generate_series(1, 15); "+
			"FETCH 1 c; FETCH 3 c", " c", " "+name))
	}
	if a, b, c := large(many, "a"), large(many, "b"), large(many, "c"); a != "" || b != "" || c != outOfMemory {
		t.Errorf("large cursors: %q %q %q", a, b, c)
	}
	others := []*pgconn.PgConn{p.ana(t).PgConn(), p.ana(t).PgConn()}
	if a, b, c := large(others[0], "a"), large(others[0], "b"), large(others[1], "a"); a != "" || b != "" || c != outOfMemory {
		t.Errorf("of a user: %q %q %q", a, b, c)
	}
	if failed := do(many, "CLOSE a"); failed != "" {
		t.Error(failed)
	}
	if failed := large(others[1], "b"); failed != "" {
		t.Errorf("after one was closed: %s", failed)
	}
	if failed := do(many, "DISCARD ALL"); failed != "" {
		t.Error(failed)
	}
	for _, c := range others {
		c.Close(background)
	}
	for range 1000 {
		if p.options.Held.Held() == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("bytes are held for cursors that are gone")
}

// TestPreparedAreBounded: many prepared statements are refused, and not kept.
func TestPreparedAreBounded(t *testing.T) {
	p := open(t, nil)
	c := p.ana(t).PgConn()
	n := 0
	for ; n < 2*maxPrepared; n += 50 {
		var text strings.Builder
		for i := range 50 {
			fmt.Fprintf(&text, "PREPARE p%d AS SELECT 1;", n+i)
		}
		if failed := do(c, text.String()); failed != "" {
			if failed != outOfMemory {
				t.Error(failed)
			}
			break
		}
	}
	if n != maxPrepared {
		t.Errorf("%d statements were prepared", n)
	}
	if failed := do(c, "EXECUTE p7; DEALLOCATE ALL; PREPARE p AS SELECT 1; EXECUTE p"); failed != "" {
		t.Error(failed)
	}
}

// TestCanceledFetch: a FETCH that is canceled while it waits charges nothing. Its transaction has
// failed; a cursor that outlives transactions can be fetched from again.
func TestCanceledFetch(t *testing.T) {
	p := open(t, nil)
	d := slowly(p)
	conn := p.ana(t)
	c := conn.PgConn()
	for _, begin := range []string{"BEGIN; DECLARE c CURSOR FOR " + counting, "DECLARE c CURSOR WITH HOLD FOR " + counting} {
		if failed := do(c, begin); failed != "" {
			t.Fatal(failed)
		}
		ended := asking(conn, "FETCH c")
		<-d.came
		if err := c.CancelRequest(background); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; code(err) != queryCanceled {
			t.Errorf("%s: %v", begin, err)
		}
		if strings.HasPrefix(begin, "BEGIN") {
			if failed := do(c, "FETCH c"); failed != failedTransaction {
				t.Errorf("in a block that has failed: %s", failed)
			}
			if failed := do(c, "ROLLBACK"); failed != "" {
				t.Error(failed)
			}
			if failed := do(c, "FETCH c"); failed != invalidCursor {
				t.Errorf("after it: %s", failed)
			}
		}
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
	close(d.let)
	if failed := do(c, "FETCH c; CLOSE c"); failed != "" {
		t.Errorf("again: %s", failed)
	}
	if n := p.charges(t); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// TestCopyOfNoColumn: a column that COPY is told to quote and that is not there costs nothing.
func TestCopyOfNoColumn(t *testing.T) {
	p := open(t, nil)
	c := p.ana(t).PgConn()
	if failed := do(c, "COPY ("+counting+") TO STDOUT (FORMAT csv, FORCE_QUOTE (nothing))"); failed != undefinedColumn {
		t.Errorf("it said %q", failed)
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
	if failed := do(c, "COPY ("+counting+") TO STDOUT (FORMAT csv, FORCE_QUOTE (count))"); failed != "" {
		t.Error(failed)
	}
	if n := p.charges(t); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// TestCopyCutOff: who hangs up in the middle of a COPY has paid once, and gets the same answer
// again, free; who hangs up before has stopped it.
func TestCopyCutOff(t *testing.T) {
	p := open(t, nil)
	const sql = "SELECT age, count(*) FROM patients GROUP BY age"
	for _, format := range []string{"text", "binary"} {
		raw, err := p.ana(t).PgConn().Hijack()
		if err != nil {
			t.Fatal(err)
		}
		raw.Frontend.Send(&pgproto3.Query{String: "COPY (" + sql + ") TO STDOUT (FORMAT " + format + ")"})
		if err := raw.Frontend.Flush(); err != nil {
			t.Fatal(err)
		}
		for data := false; !data; {
			m, err := raw.Frontend.Receive()
			if err != nil {
				t.Fatal(err)
			}
			_, data = m.(*pgproto3.CopyData)
		}
		raw.Conn.Close()
	}
	var first, again strings.Builder
	for _, b := range []io.Writer{&first, &again} {
		if _, err := p.ana(t).PgConn().CopyTo(background, b, "COPY ("+sql+") TO STDOUT"); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != again.String() || strings.Count(first.String(), "\n") < 50 {
		t.Errorf("%q, and then %q", first.String(), again.String())
	}
	if n := p.charges(t); n != 1 {
		t.Errorf("%d charges", n)
	}
	d := slowly(p)
	conn, _ := p.hijack(t)
	conn.Write(packet('Q', "COPY ("+counting+") TO STDOUT\x00"))
	<-d.came
	conn.Close()
	for range 1000 {
		if d.ended.Load() == 1 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if n := p.charges(t); n != 1 || d.ended.Load() != 1 {
		t.Errorf("%d charges, and %d ended", n, d.ended.Load())
	}
}

// In a block that has failed nothing is asked, whichever way, and nothing is charged.
func TestWaysInAFailedBlock(t *testing.T) {
	p := open(t, nil)
	c := p.ana(t).PgConn()
	if failed := do(c, "PREPARE q AS "+counting+"; DECLARE h CURSOR WITH HOLD FOR "+counting+"; BEGIN"); failed != "" {
		t.Fatal(failed)
	}
	do(c, "SELECT nothing")
	for _, sql := range []string{"COPY (" + counting + ") TO STDOUT", "EXECUTE q",
		"FETCH h", "DECLARE d CURSOR FOR " + counting, "PREPARE r AS SELECT 1"} {
		if failed := do(c, sql); failed != failedTransaction {
			t.Errorf("%s: %s", sql, failed)
		}
		if _, err := c.ExecParams(background, sql, nil, nil, nil, nil).Close(); code(err) != failedTransaction {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
}

// Clients of the extended protocol describe a cursor by its name, and fetch in binary.
func TestCursorExtended(t *testing.T) {
	p := open(t, nil)
	c := p.ana(t).PgConn()
	if failed := do(c, "BEGIN"); failed != "" {
		t.Fatal(failed)
	}
	_, err := c.ExecParams(background, "DECLARE c CURSOR FOR SELECT sex, count(*) AS n FROM patients WHERE age > $1 GROUP BY sex",
		[][]byte{[]byte("40")}, nil, nil, nil).Close()
	if err != nil {
		t.Fatal(err)
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
	seen := 0
	for _, sql := range []string{"FETCH 1 FROM c", "FETCH FORWARD 10 FROM c"} {
		r := c.ExecParams(background, sql, nil, nil, nil, []int16{1}).Read()
		if r.Err != nil || len(r.FieldDescriptions) != 2 {
			t.Fatalf("%s: %+v", sql, r)
		}
		if n := r.FieldDescriptions[1]; n.Format != 1 || n.DataTypeOID != int8OID {
			t.Fatalf("%s: %+v", sql, r)
		}
		for _, row := range r.Rows {
			if seen++; len(row[1]) != 8 {
				t.Errorf("%q", row)
			}
		}
	}
	if seen != 3 || p.charges(t) != 1 {
		t.Errorf("%d rows, %d charges", seen, p.charges(t))
	}
	var e *pgconn.PgError
	_, err = c.ExecParams(background, "EXECUTE nobody", nil, nil, nil, nil).Close()
	if !errors.As(err, &e) || e.Code != invalidStatement {
		t.Error(err)
	}
}
