package server

import (
	"cmp"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
)

var madeUp = flag.Int("madeup", 0, "how many made-up questions are sent through the listeners, in every way; 0 means some")

// ways are the statements by which PostgreSQL's clients fetch an answer. The first is the question
// itself, which the others ask again.
var ways = []struct {
	name, text string
	copies     bool
}{
	{"simple", "%s", false},
	{"COPY", "COPY (%s) TO STDOUT", true},
	{"PREPARE", "PREPARE p AS %s; EXECUTE p; DEALLOCATE p", false},
	{"a cursor", "BEGIN; DECLARE c CURSOR FOR %s; FETCH ALL FROM c; CLOSE c; COMMIT", false},
	{"a cursor that is held", "DECLARE h SCROLL CURSOR WITH HOLD FOR %s; MOVE 1 IN h; FETCH ABSOLUTE 0 IN h; FETCH ALL IN h; CLOSE h",
		false},
	{"COPY of CSV", "COPY (%s) TO STDOUT (FORMAT csv, HEADER)", true},
	{"COPY of bytes", "COPY (%s) TO STDOUT (FORMAT binary)", true},
}

// ticking matches what is another question at another moment.
var ticking = regexp.MustCompile(`now\(\)|CURRENT_TIMESTAMP`)

// withoutChosen leaves the notices of an answer in which noise chose which groups are shown, and
// so how many.
func withoutChosen(said string) string {
	if !strings.Contains(said, "another noisy answer chose") {
		return said
	}
	return strings.Join(notices.FindAllString(said, -1), "\n")
}

var notices = regexp.MustCompile(`(?m)^\{Severity:.*$`)

// TestMadeUpQuestions sends made-up questions over the wire to neighbours, in every way
// that there is to fetch an answer. What is said and charged is the same on both; and on each, all
// ways fetch the same rows and only the first of them is paid for.
func TestMadeUpQuestions(t *testing.T) {
	one, other := neighbours(t, storekinds.Stores()[0])
	maker := generate.NewMaker(one.data, planner.Options{Public: reference.New(one.data,
		generate.Make(generate.NewDice("doors", 1), one.data).Tables).Public()})
	var texts []string
	first := daily.Choices(t).Below(1_000_000) // other questions every day
	for i := range cmp.Or(*madeUp, daily.Rounds(25, 500)) {
		if text := maker.Question(generate.NewDice("made up", uint64(first+i))); !ticking.MatchString(text) {
			texts = append(texts, text)
		}
	}
	masks := map[string]mask{} // of text and policy, which are the same on both sides
	for _, text := range texts {
		masks[text] = one.masked(text)
	}
	var sides [2][]string
	answered := 0
	for i, f := range []*front{one, other} {
		c := f.wire()
		for _, text := range texts {
			said, rows := asked(t, c, masks[text], text)
			sides[i] = append(sides[i], said...)
			if rows[0] == nil {
				continue
			}
			answered++
			for k, w := range ways {
				if same := slices.Equal(rows[k], rows[0]); !same && (!w.copies || w.name == "COPY") {
					t.Errorf("by %s %q has the rows\n%.500q\nand not\n%.500q", w.name, text, rows[k], rows[0])
				}
			}
		}
	}
	for i, said := range sides[0] {
		if withoutChosen(said) != withoutChosen(sides[1][i]) {
			t.Errorf("by %s %.300q\nsays\n%.1500s\nand without one person\n%.1500s", ways[i%len(ways)].name, texts[i/len(ways)], said,
				sides[1][i])
		}
	}
	a, b := one.charges(), other.charges()
	if a != b {
		t.Errorf("the ledgers differ:\n%s\n%s", a, b)
	}
	charges := strings.Count(a, "\n")
	t.Logf("%d questions, %d of them answered, %d charges", len(texts), answered/2, charges)
	if answered/2 < len(texts)/3 || charges < len(texts)/4 || charges > answered/2 {
		t.Errorf("of %d questions %d were answered, for %d charges", len(texts), answered/2, charges)
	}
}

// asked asks a question in every way, and returns what was said, and the rows, which are nil where
// it was refused.
func asked(t *testing.T, c *pgconn.HijackedConn, m mask, text string) (said []string, rows [][]string) {
	t.Helper()
	for _, w := range ways {
		c.Frontend.Send(&pgproto3.Query{String: fmt.Sprintf(w.text, text)})
		must(t, c.Frontend.Flush())
		var b strings.Builder
		mine := []string{}
		for ready := false; !ready; {
			x, err := c.Frontend.Receive()
			if err != nil {
				t.Fatalf("%s: %q: %v", w.name, text, err)
			}
			switch x := x.(type) {
			case *pgproto3.DataRow:
				var cells []string
				for _, v := range x.Values {
					if v == nil {
						v = []byte(`\N`)
					}
					cells = append(cells, string(v))
				}
				mine = append(mine, strings.Join(cells, "\t"))
			case *pgproto3.CopyData:
				mine = append(mine, strings.TrimSuffix(string(x.Data), "\n"))
			case *pgproto3.ErrorResponse:
				mine = nil
			}
			_, copied := x.(*pgproto3.CopyData)
			if text := m.hide(x); text != "" && !copied {
				fmt.Fprintln(&b, text)
			}
			_, ready = x.(*pgproto3.ReadyForQuery)
		}
		say(t, c, m, &pgproto3.Query{String: "ROLLBACK"}) // of what was refused in a transaction
		said, rows = append(said, b.String()), append(rows, mine)
	}
	return said, rows
}
