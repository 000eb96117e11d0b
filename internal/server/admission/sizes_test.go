package admission

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
)

const sizesPolicy = `datasets:
  clinic:
    engine: duckdb
    source: .
    unit: people.pid
    budget: {epsilon: 100, delta: 1e-6, per_query: {default: 0.1, max: 1}}
    analysts: {ana: }
    %s
    tables:
      people: {unique: pid, columns: {age: {type: integer, bounds: [0, 110]}}}
      notes:
        max_rows: 3
        max_groups: 1
        path: pid -> people.pid
        columns: {note: {type: text}, code: {type: text, keys: private}}
`

const declaredSizes = `    sizes:
      people: 8192
      tables:
        people: {rows: 8192}
        notes: {rows: 65536, lengths: {note: 256, code: 8}, values: {code: 65536}}
`

// makeSizes writes a database whose counts stand right below their steps, and then somebody with
// some rows of some text, each with a code of its own.
func makeSizes(t *testing.T, rows, length int, policy string) string {
	t.Helper()
	var people, notes strings.Builder
	people.WriteString("pid,age\n")
	notes.WriteString("pid,note,code\n")
	for i := range 16_384 {
		if i < 4096 {
			fmt.Fprintf(&people, "%d,%d\n", i, i%90)
		}
		fmt.Fprintf(&notes, "%d,%s,c%d\n", i/4, strings.Repeat("x", 85), i%1000)
	}
	if rows > 0 {
		fmt.Fprintf(&people, "%d,37\n", 4096)
	}
	for i := range rows {
		fmt.Fprintf(&notes, "%d,%s,d%d\n", 4096, strings.Repeat("x", length), i)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"people.csv": people.String(), "notes.csv": notes.String(), "policy.yaml": policy} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "policy.yaml")
}

// askSizes opens a database, and returns the deadlines of some questions, the tick, and, where they
// are asked, after how many ticks of 10 ms each left.
func askSizes(t *testing.T, path string, ask bool) (deadlines, left []float64) {
	t.Helper()
	const tick = 10 * time.Millisecond
	db, err := discreet.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	d := New(db, Options{Rate: 1e6})
	for _, sql := range []string{
		"SELECT COUNT(*) FROM notes WHERE note ~* 'a.*b' OR note ~* 'c.*d' OR note ~* 'e.*f' OR note ~* 'g.*h'",
		"SELECT code, COUNT(*) FROM notes GROUP BY code",
	} {
		x, err := d.Explain(t.Context(), api.Question{Analyst: "ana", SQL: sql})
		if err != nil || x.Deadline == nil {
			t.Fatalf("%s: %v", sql, err)
		}
		deadlines = append(deadlines, *x.Deadline)
		if !ask {
			continue
		}
		time.Sleep(d.clock.next(tick))
		began := time.Now()
		if _, err := d.Ask(t.Context(), api.Question{Analyst: "ana", SQL: sql}); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
		left = append(left, float64(time.Since(began)/tick))
	}
	magnitude, err := db.Magnitude(t.Context(), "clinic")
	if err != nil {
		t.Fatal(err)
	}
	return append(deadlines, float64(magnitude)), left
}

// Somebody who moves what is counted of the data, by being there, by very many rows with a key
// each, or by long texts, moves no deadline, tick or departure where the policy declares sizes.
// Without that they do, so that this test can fail.
func TestDeclaredSizes(t *testing.T) {
	if testing.Short() {
		t.Skip("public times are those of a program without the race detector")
	}
	release := "release: {deadline: 10ms}"
	declared, counted := fmt.Sprintf(sizesPolicy, release)+declaredSizes, fmt.Sprintf(sizesPolicy, release)
	base, _ := askSizes(t, makeSizes(t, 0, 0, declared), true)
	baseCounted, _ := askSizes(t, makeSizes(t, 0, 0, counted), false)
	for _, c := range []struct {
		name         string
		rows, length int
	}{{"one row", 1, 85}, {"many rows", 20_000, 85}, {"long texts", 4, 16_000}} {
		got, left := askSizes(t, makeSizes(t, c.rows, c.length, declared), true)
		if fmt.Sprint(got) != fmt.Sprint(base) {
			t.Errorf("%s: deadlines %v with them, and %v without", c.name, got, base)
		}
		for i, ticks := range left {
			public := float64(int(base[i] / 0.01))
			t.Logf("%s: left after %v ticks, public %v", c.name, ticks, public)
			if ticks < public-1 { // a tick for where it began
				t.Errorf("%s: it left after %v ticks, and its public time is %v", c.name, ticks, public)
			}
		}
		if moved, _ := askSizes(t, makeSizes(t, c.rows, c.length, counted), false); fmt.Sprint(moved) == fmt.Sprint(baseCounted) {
			t.Errorf("%s: nothing moves where it is counted, so nothing is tested: %v", c.name, moved)
		}
	}
}
