package admission

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

var switchRows = flag.Int("switch-rows", 2_000, "people of the databases that TestSwitches asks")

// switchPolicy is about people, one row each, and what was noted about them.
const switchPolicy = `datasets:
  clinic:
    engine: duckdb
    source: .
    unit: people.pid
    budget: {epsilon: 100, per_query: {default: 0.1, max: 1}}
    analysts: {ana: }
    release: {%s: 20ms}
    tables:
      people:
        unique: pid
        columns:
          pid: {type: integer, bounds: [0, 100000000]}
          age: {type: integer, bounds: [0, 110]}
          zip: {type: text}
          diag: {type: text}
          amount: {type: text}
      notes:
        max_rows: 3
        max_groups: 1
        path: pid -> people.pid
        columns:
          pid: {type: integer, bounds: [0, 100000000]}
          note: {type: text}
`

// makeSwitches writes the database, with somebody in it whom the questions are about or without.
func makeSwitches(t *testing.T, people int, somebody bool, release string) string {
	t.Helper()
	dir := t.TempDir()
	var p, n strings.Builder
	p.WriteString("pid,age,zip,diag,amount\n")
	n.WriteString("pid,note\n")
	row := func(pid, age int, zip, diag, amount string) {
		fmt.Fprintf(&p, "%d,%d,%s,%s,%s\n", pid, age, zip, diag, amount)
		for i := range 3 {
			fmt.Fprintf(&n, "%d,the %dth visit of a person who was well again after some days of rest %d\n", pid, i, pid*7919%100_003)
		}
	}
	for i := range people {
		row(i, i%90, fmt.Sprintf("z%d", 10+i%50), []string{"flu", "asthma", "fracture"}[i%3], fmt.Sprintf("n%d", i))
	}
	if somebody {
		row(people, 37, "z7", "HIV", "12.5")
	}
	for name, text := range map[string]string{"people.csv": p.String(), "notes.csv": n.String(),
		"policy.yaml": fmt.Sprintf(switchPolicy, release)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "policy.yaml")
}

// switches are questions in which one row that passes a condition switches on work for all others.
func switches() map[string]string {
	const who = "zip = 'z7' AND diag = 'HIV' AND age = 37"
	var terms, patterns []string
	for i := range 60 {
		terms = append(terms, fmt.Sprintf("rpad(x, 1000, 'x%c%c') LIKE 'a%%'", 'a'+i%26, 'a'+i/26))
	}
	for i := range 8 {
		patterns = append(patterns, fmt.Sprintf("note ~* '(re%cst|b%ced).*day'", 'a'+i, 'a'+i))
	}
	return map[string]string{
		"constant vector": "SELECT COUNT(*) FROM (SELECT CASE WHEN " + who + " THEN zip ELSE '-' END AS x FROM people) t WHERE " +
			strings.Join(terms, " OR "),
		"empty side": "SELECT COUNT(*) FROM (SELECT pid FROM notes WHERE " + strings.Join(patterns, " OR ") +
			") v JOIN people p ON p.pid = v.pid WHERE " + who,
		"left join": "SELECT COUNT(*) FROM (SELECT pid FROM people WHERE " + who + ") p " +
			"LEFT JOIN (SELECT pid, COUNT(*) AS n FROM notes WHERE " + strings.Join(patterns, " OR ") + " GROUP BY pid) v ON p.pid = v.pid",
		"semi join": "SELECT COUNT(*) FROM people p WHERE " + who + " AND EXISTS (SELECT 1 FROM notes v WHERE v.pid = p.pid AND (" +
			strings.Join(patterns, " OR ") + "))",
		"casts": "SELECT COUNT(*) FROM (SELECT CASE WHEN " + who + " THEN amount ELSE 'x' END AS x FROM people) t " +
			"WHERE CAST(x AS numeric(10,2)) > 5 OR CAST(replace(x, '2', '3') AS numeric(10,2)) > 7",
	}
}

// asked opens a database, asks each question, in a session of the sparse vector too, and returns
// how many ticks each took to leave and how many it was to take.
func asked(t *testing.T, path string) (took, public map[string]int) {
	t.Helper()
	const tick = 20 * time.Millisecond
	db, err := discreet.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := New(db, Options{Rate: 1e6})
	s, err := d.OpenSparse(t.Context(), api.SparseQuestion{Analyst: "ana", Epsilon: dp.One / 20, Above: 1, Sensitivity: 3})
	if err != nil {
		t.Fatal(err)
	}
	took, public = map[string]int{}, map[string]int{}
	for name, sql := range switches() {
		x, err := d.Explain(t.Context(), api.Question{Analyst: "ana", SQL: sql})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for kind, ask := range map[string]func(context.Context) error{
			"question": func(ctx context.Context) error {
				_, err := d.Ask(ctx, api.Question{Analyst: "ana", SQL: sql})
				return err
			},
			"session": func(ctx context.Context) error {
				_, err := d.AskSparse(ctx, "ana", s.ID, sql, "1000000")
				return err
			},
		} {
			time.Sleep(d.clock.next(tick))
			began := time.Now()
			if err := ask(t.Context()); err != nil {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
			took[name+", "+kind] = int(time.Since(began) / tick)
			if x.Deadline != nil {
				public[name+", "+kind] = int(*x.Deadline / tick.Seconds())
			}
		}
	}
	return took, public
}

// Whether somebody is there whom a condition singles out does not show in when the answer leaves:
// not before the public time, which is the same with them and without. How much later it is on a
// machine that is busy is for -v.
func TestSwitches(t *testing.T) {
	if testing.Short() {
		t.Skip("public times are those of a program without the race detector")
	}
	without, public := asked(t, makeSwitches(t, *switchRows, false, "deadline"))
	with, publicWith := asked(t, makeSwitches(t, *switchRows, true, "deadline"))
	for name := range without {
		t.Logf("%-28s %3d ticks without, %3d with, public %3d", name, without[name], with[name], public[name])
		if public[name] == 0 || public[name] != publicWith[name] {
			t.Errorf("%s: its public times are %d and %d ticks", name, public[name], publicWith[name])
		}
		if min(without[name], with[name]) < public[name]-1 { // a tick for where it began
			t.Errorf("%s: it left after %d ticks without and %d with, and its public time is %d",
				name, without[name], with[name], public[name])
		}
	}
}
