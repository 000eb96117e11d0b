package pgwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/ledger"
)

// runSQL runs statements, and returns the SQLSTATE of the first that fails.
func runSQL(c *pgconn.PgConn, sql string) string {
	_, err := c.Exec(background, sql).ReadAll()
	if err == nil {
		return ""
	}
	return sqlstate(err)
}

// A cursor that nobody fetches from costs nothing, one that somebody does is paid for once, and
// with what was set when it was declared.
func TestCursorIsPaidWhenFetched(t *testing.T) {
	p := startTestServer(t, nil)
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
		if failed := runSQL(c, step.sql); failed != "" {
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
	p := startTestServer(t, nil)
	many := p.ana(t).PgConn()
	if failed := runSQL(many, "BEGIN"); failed != "" {
		t.Fatal(failed)
	}
	opened := 0
	for ; opened < 2*maxPortals && runSQL(many, fmt.Sprintf("DECLARE c%d CURSOR FOR SELECT 1", opened)) == ""; opened++ {
	}
	if opened != maxPortals {
		t.Errorf("%d cursors were opened", opened)
	}
	if failed := runSQL(many, "ROLLBACK; BEGIN; DECLARE c CURSOR FOR SELECT 1; FETCH c; COMMIT"); failed != "" {
		t.Errorf("then: %s", failed)
	}
	// Bytes: one of 15 MB, and another, but no third; with the user's other sessions no fifth.
	large := func(c *pgconn.PgConn, name string) string {
		return runSQL(c, strings.ReplaceAll("DECLARE c CURSOR WITH HOLD FOR SELECT repeat('x', 1000000) FROM generate_series(1, 15); "+
			"FETCH 1 c; FETCH 3 c", " c", " "+name))
	}
	if a, b, c := large(many, "a"), large(many, "b"), large(many, "c"); a != "" || b != "" || c != outOfMemory {
		t.Errorf("large cursors: %q %q %q", a, b, c)
	}
	others := []*pgconn.PgConn{p.ana(t).PgConn(), p.ana(t).PgConn()}
	if a, b, c := large(others[0], "a"), large(others[0], "b"), large(others[1], "a"); a != "" || b != "" || c != outOfMemory {
		t.Errorf("of a user: %q %q %q", a, b, c)
	}
	if failed := runSQL(many, "CLOSE a"); failed != "" {
		t.Error(failed)
	}
	if failed := large(others[1], "b"); failed != "" {
		t.Errorf("after one was closed: %s", failed)
	}
	if failed := runSQL(many, "DISCARD ALL"); failed != "" {
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
	p := startTestServer(t, nil)
	c := p.ana(t).PgConn()
	n := 0
	for ; n < 2*maxPreparedStatements; n += 50 {
		var text strings.Builder
		for i := range 50 {
			fmt.Fprintf(&text, "PREPARE p%d AS SELECT 1;", n+i)
		}
		if failed := runSQL(c, text.String()); failed != "" {
			if failed != outOfMemory {
				t.Error(failed)
			}
			break
		}
	}
	if n != maxPreparedStatements {
		t.Errorf("%d statements were prepared", n)
	}
	if failed := runSQL(c, "EXECUTE p7; DEALLOCATE ALL; PREPARE p AS SELECT 1; EXECUTE p"); failed != "" {
		t.Error(failed)
	}
}

// TestCanceledFetch: a FETCH that is canceled while it waits charges nothing. Its transaction has
// failed; a cursor that outlives transactions can be fetched from again.
func TestCanceledFetch(t *testing.T) {
	p := startTestServer(t, nil)
	d := delayQuestions(p)
	conn := p.ana(t)
	c := conn.PgConn()
	for _, begin := range []string{"BEGIN; DECLARE c CURSOR FOR " + countQuery, "DECLARE c CURSOR WITH HOLD FOR " + countQuery} {
		if failed := runSQL(c, begin); failed != "" {
			t.Fatal(failed)
		}
		ended := askInBackground(conn, "FETCH c")
		<-d.came
		must(t, c.CancelRequest(background))
		if err := <-ended; sqlstate(err) != queryCanceled {
			t.Errorf("%s: %v", begin, err)
		}
		if strings.HasPrefix(begin, "BEGIN") {
			if failed := runSQL(c, "FETCH c"); failed != failedTransaction {
				t.Errorf("in a block that has failed: %s", failed)
			}
			if failed := runSQL(c, "ROLLBACK"); failed != "" {
				t.Error(failed)
			}
			if failed := runSQL(c, "FETCH c"); failed != invalidCursor {
				t.Errorf("after it: %s", failed)
			}
		}
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
	close(d.let)
	if failed := runSQL(c, "FETCH c; CLOSE c"); failed != "" {
		t.Errorf("again: %s", failed)
	}
	if n := p.charges(t); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// TestCopyOfNoColumn: a column that COPY is told to quote and that is not there costs nothing.
func TestCopyOfNoColumn(t *testing.T) {
	p := startTestServer(t, nil)
	c := p.ana(t).PgConn()
	if failed := runSQL(c, "COPY ("+countQuery+") TO STDOUT (FORMAT csv, FORCE_QUOTE (nothing))"); failed != undefinedColumn {
		t.Errorf("it said %q", failed)
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
	if failed := runSQL(c, "COPY ("+countQuery+") TO STDOUT (FORMAT csv, FORCE_QUOTE (count))"); failed != "" {
		t.Error(failed)
	}
	if n := p.charges(t); n != 1 {
		t.Errorf("%d charges", n)
	}
}

// TestCopyCutOff: who hangs up in the middle of a COPY has paid once, and gets the same answer
// again, free; who hangs up before has stopped it.
func TestCopyCutOff(t *testing.T) {
	p := startTestServer(t, nil)
	const sql = "SELECT age, count(*) FROM patients GROUP BY age"
	for _, format := range []string{"text", "binary"} {
		raw, err := p.ana(t).PgConn().Hijack()
		must(t, err)
		raw.Frontend.Send(&pgproto3.Query{String: "COPY (" + sql + ") TO STDOUT (FORMAT " + format + ")"})
		must(t, raw.Frontend.Flush())
		for data := false; !data; {
			m, err := raw.Frontend.Receive()
			must(t, err)
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
	d := delayQuestions(p)
	conn, _ := p.hijack(t)
	conn.Write(packet('Q', "COPY ("+countQuery+") TO STDOUT\x00"))
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
	p := startTestServer(t, nil)
	c := p.ana(t).PgConn()
	if failed := runSQL(c, "PREPARE q AS "+countQuery+"; DECLARE h CURSOR WITH HOLD FOR "+countQuery+"; BEGIN"); failed != "" {
		t.Fatal(failed)
	}
	runSQL(c, "SELECT nothing")
	for _, sql := range []string{"COPY (" + countQuery + ") TO STDOUT", "EXECUTE q",
		"FETCH h", "DECLARE d CURSOR FOR " + countQuery, "PREPARE r AS SELECT 1"} {
		if failed := runSQL(c, sql); failed != failedTransaction {
			t.Errorf("%s: %s", sql, failed)
		}
		if _, err := c.ExecParams(background, sql, nil, nil, nil, nil).Close(); sqlstate(err) != failedTransaction {
			t.Errorf("%s: %v", sql, err)
		}
	}
	if n := p.charges(t); n != 0 {
		t.Errorf("%d charges", n)
	}
}

// Clients of the extended protocol describe a cursor by its name, and fetch in binary.
func TestCursorExtended(t *testing.T) {
	p := startTestServer(t, nil)
	c := p.ana(t).PgConn()
	if failed := runSQL(c, "BEGIN"); failed != "" {
		t.Fatal(failed)
	}
	_, err := c.ExecParams(background, "DECLARE c CURSOR FOR SELECT sex, count(*) AS n FROM patients WHERE age > $1 GROUP BY sex",
		[][]byte{[]byte("40")}, nil, nil, nil).Close()
	must(t, err)
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

// fetchWay is a way to fetch the answer to a question: what is sent before, and what brings it.
type fetchWay struct {
	name  string
	begin string
	fetch string
	end   string
	copy  bool
}

// fetchWays are those that there are; %s is the question.
var fetchWays = []fetchWay{
	{name: "select", fetch: "%s"},
	{name: "copy", fetch: "COPY (%s) TO STDOUT", copy: true},
	{name: "csv", fetch: "COPY (%s) TO STDOUT WITH (FORMAT csv, DELIMITER E'\\t')", copy: true},
	{name: "binary", fetch: "COPY (%s) TO STDOUT WITH BINARY", copy: true},
	{name: "cursor", begin: "BEGIN; DECLARE c CURSOR FOR %s", fetch: "FETCH ALL c", end: "COMMIT"},
	{name: "held cursor", begin: "DECLARE c CURSOR WITH HOLD FOR %s", fetch: "FETCH 100 c", end: "CLOSE c"},
	{name: "moved cursor", begin: "BEGIN; DECLARE c SCROLL CURSOR FOR %s", fetch: "MOVE ALL c; MOVE ABSOLUTE 0 c; FETCH ALL c",
		end: "COMMIT"},
	{name: "prepared", begin: "PREPARE q AS %s", fetch: "EXECUTE q", end: "DEALLOCATE q"},
}

// ask asks by a way, and returns the rows as text, or as they are in binary.
func (w fetchWay) ask(conn *pgx.Conn, sql string) (string, error) {
	fill := func(text string) string { return strings.Replace(text, "%s", sql, 1) }
	for _, text := range []string{w.begin} {
		if text != "" {
			if _, err := conn.PgConn().Exec(background, fill(text)).ReadAll(); err != nil {
				return "", err
			}
		}
	}
	out, err := w.fetchText(conn, fill(w.fetch))
	if w.end != "" {
		if _, err := conn.PgConn().Exec(background, w.end).ReadAll(); err != nil {
			return "", err
		}
	}
	return out, err
}

func (w fetchWay) fetchText(conn *pgx.Conn, sql string) (string, error) {
	if w.copy {
		var b bytes.Buffer
		_, err := conn.PgConn().CopyTo(background, &b, sql)
		return b.String(), err
	}
	results, err := conn.PgConn().Exec(background, sql).ReadAll()
	var lines strings.Builder
	for _, r := range results {
		for _, row := range r.Rows {
			lines.Write(bytes.Join(row, []byte("\t")))
			lines.WriteByte('\n')
		}
	}
	return lines.String(), err
}

// charges is how many there are in the ledger.
func (p *testServer) charges(t testing.TB) int {
	t.Helper()
	n := 0
	for r, err := range p.db.Records(background, 0) {
		must(t, err)
		if r.Kind == ledger.KindCharge {
			n++
		}
	}
	return n
}

// TestWays: however an answer is fetched, it is the same answer, at the same price, and is
// remembered: whoever asks first, all others are free.
func TestWays(t *testing.T) {
	p := startTestServer(t, nil)
	for first := range fetchWays {
		sql := fmt.Sprintf("SELECT sex, count(*) AS n, avg(age) AS a FROM patients WHERE age > %d GROUP BY sex ORDER BY sex", 20+first)
		before, want := p.charges(t), ""
		order := append([]fetchWay{fetchWays[first]}, fetchWays...)
		for i, w := range order {
			var said notices
			c := p.config(t, "ana", "hospital")
			c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { said.add(n.Message) }
			conn := p.connect(t, c)
			got, err := w.ask(conn, sql)
			conn.Close(background)
			if err != nil {
				t.Fatal(w.name, err)
			}
			heard := strings.Join(said.take(), "\n")
			if price := "price: epsilon 0.1"; i == 0 && !strings.Contains(heard, price) || i > 0 && !strings.Contains(heard, "free") {
				t.Errorf("%s after %s: heard %s", w.name, fetchWays[first].name, heard)
			}
			if n := strings.Count(heard, "error (95%"); n != 1 {
				t.Errorf("%s: errors were told %d times", w.name, n)
			}
			if w.name == "binary" {
				if !strings.HasPrefix(got, binaryFileHeader) || !strings.HasSuffix(got, "\xff\xff") || strings.Count(got, "\x00\x03") < 3 {
					t.Errorf("binary: %q", got)
				}
				continue
			}
			if want == "" {
				want = got
			}
			if got != want || strings.Count(got, "\n") != 3 {
				t.Errorf("%s:\n%s\nnot\n%s", w.name, got, want)
			}
		}
		if n := p.charges(t) - before; n != 1 {
			t.Errorf("%s first: %d charges", fetchWays[first].name, n)
		}
	}
}

// undelayedDispatcher is a dispatcher with a planted bug: what comes of a question leaves when it
// is there.
type undelayedDispatcher struct{ *admission.Dispatcher }

func (d undelayedDispatcher) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	return d.DB().Ask(ctx, q)
}

// TestWaysWaitForTheTick: an answer leaves on the tick, whichever way it takes; and the test would
// notice one that does not.
func TestWaysWaitForTheTick(t *testing.T) {
	const tick = 150 * time.Millisecond
	p := startServing(t, newTestServer(t, hospital.Dataset("ticking", "c", budget)+"    release: {tick: 150ms}\n"), nil)
	var number atomic.Int64
	// waited says how long some fresh answers took, each asked when the one before had left. What
	// leaves on a tick and begins on one takes two, less what the first had waited.
	waited := func(t *testing.T, user string, w fetchWay, rounds int) time.Duration {
		conn := p.connect(t, p.config(t, user, "ticking"))
		defer conn.Close(background)
		took := []time.Duration{}
		for range rounds {
			fresh := fmt.Sprintf("SELECT count(*) FROM visits WHERE cost < %d", number.Add(1))
			fill := func(text string) string { return strings.Replace(text, "%s", fresh, 1) }
			if w.begin != "" {
				if _, err := conn.PgConn().Exec(background, fill(w.begin)).ReadAll(); err != nil {
					t.Fatal(w.name, err)
				}
			}
			begin := time.Now()
			if _, err := w.fetchText(conn, fill(w.fetch)); err != nil {
				t.Fatal(w.name, err)
			}
			took = append(took, time.Since(begin))
			if w.end != "" {
				if _, err := conn.PgConn().Exec(background, w.end).ReadAll(); err != nil {
					t.Fatal(w.name, err)
				}
			}
		}
		return slices.Min(took)
	}
	t.Run("all at once", func(t *testing.T) {
		for i, w := range fetchWays {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				if took := waited(t, []string{"ana", "ben"}[i%2], w, 2); took < tick*9/10 {
					t.Errorf("an answer came after %v, and a tick is %v", took, tick)
				}
			})
		}
	})
	p.Server.mu.Lock()
	p.Server.questions = undelayedDispatcher{p.dispatcher}
	p.Server.mu.Unlock()
	for _, w := range fetchWays {
		took := tick
		for try := 0; try < 3 && took >= tick*9/10; try++ {
			took = min(took, waited(t, "ana", w, 1))
		}
		if took >= tick*9/10 {
			t.Errorf("%s: nothing was noticed of answers that leave at once, which took %v", w.name, took)
		}
	}
}
