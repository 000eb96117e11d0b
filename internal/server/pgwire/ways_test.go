package pgwire

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/ledger"
)

// way is a way to fetch the answer to a question: what is sent before, and what brings it.
type way struct {
	name  string
	begin string
	fetch string
	end   string
	copy  bool
}

// ways are those that there are; %s is the question.
var ways = []way{
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
func (w way) ask(conn *pgx.Conn, sql string) (string, error) {
	fill := func(text string) string { return strings.Replace(text, "%s", sql, 1) }
	for _, text := range []string{w.begin} {
		if text != "" {
			if _, err := conn.PgConn().Exec(background, fill(text)).ReadAll(); err != nil {
				return "", err
			}
		}
	}
	out, err := w.bring(conn, fill(w.fetch))
	if w.end != "" {
		if _, err := conn.PgConn().Exec(background, w.end).ReadAll(); err != nil {
			return "", err
		}
	}
	return out, err
}

func (w way) bring(conn *pgx.Conn, sql string) (string, error) {
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
func (p *place) charges(t testing.TB) int {
	t.Helper()
	n := 0
	for r, err := range p.db.Records(background, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == ledger.KindCharge {
			n++
		}
	}
	return n
}

// TestWays: however an answer is fetched, it is the same answer, at the same price, and is
// remembered: whoever asks first, all others are free.
func TestWays(t *testing.T) {
	p := open(t, nil)
	for first := range ways {
		sql := fmt.Sprintf("SELECT sex, count(*) AS n, avg(age) AS a FROM patients WHERE age > %d GROUP BY sex ORDER BY sex", 20+first)
		before, want := p.charges(t), ""
		order := append([]way{ways[first]}, ways...)
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
				t.Errorf("%s after %s: heard %s", w.name, ways[first].name, heard)
			}
			if n := strings.Count(heard, "error (95%"); n != 1 {
				t.Errorf("%s: errors were told %d times", w.name, n)
			}
			if w.name == "binary" {
				if !strings.HasPrefix(got, binaryHead) || !strings.HasSuffix(got, "\xff\xff") || strings.Count(got, "\x00\x03") < 3 {
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
			t.Errorf("%s first: %d charges", ways[first].name, n)
		}
	}
}

// early is a dispatcher with a planted bug: what comes of a question leaves when it is there.
type early struct{ *admission.Dispatcher }

func (d early) Ask(ctx context.Context, q api.Question) (*api.Answer, error) {
	return d.DB().Ask(ctx, q)
}

// TestWaysWaitForTheTick: an answer leaves on the tick, whichever way it takes; and the test would
// notice one that does not.
func TestWaysWaitForTheTick(t *testing.T) {
	const tick = 150 * time.Millisecond
	p := serve(t, furnish(t, hospital.Dataset("ticking", "c", budget)+"    release: {tick: 150ms}\n"), nil)
	number := 0
	// waited says how long some fresh answers took, each asked when the one before had left. What
	// leaves on a tick and begins on one takes two, less what the first had waited.
	waited := func(w way) time.Duration {
		conn := p.connect(t, p.config(t, "ana", "ticking"))
		defer conn.Close(background)
		took := []time.Duration{}
		for range 3 {
			number++
			fill := func(text string) string {
				return strings.Replace(text, "%s", fmt.Sprintf("SELECT count(*) FROM visits WHERE cost < %d", number), 1)
			}
			if w.begin != "" {
				if _, err := conn.PgConn().Exec(background, fill(w.begin)).ReadAll(); err != nil {
					t.Fatal(w.name, err)
				}
			}
			begin := time.Now()
			if _, err := w.bring(conn, fill(w.fetch)); err != nil {
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
	for _, w := range ways {
		if took := waited(w); took < tick*9/10 {
			t.Errorf("%s: an answer came after %v, and a tick is %v", w.name, took, tick)
		}
	}
	p.Server.mu.Lock()
	p.Server.questions = early{p.dispatcher}
	p.Server.mu.Unlock()
	for _, w := range ways {
		if took := waited(w); took >= tick*9/10 {
			t.Errorf("%s: nothing was noticed of answers that leave at once, which took %v", w.name, took)
		}
	}
}
