package trino

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/exact"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

var (
	measured = flag.Int64("measure", 0, "how many people there are where questions are run and their processor time is measured; 0 "+
		"for no such run")
	record = flag.Bool("record", false, "whether what was measured is written to testdata of package publictime")
	every  = flag.Int("every", 1, "which of the questions are measured: each of so many")
)

// madeUp spells a number below n that is made of a row's number.
func madeUp(seed, n int64) string {
	return fmt.Sprintf("(abs(from_big_endian_64(xxhash64(to_big_endian_64(x * 1000 + %d)))) %% %d)", seed, n)
}

// hospitalRows and trialRows make the tables of the planner's tests, as the tests of package
// publictime do for DuckDB.
func hospitalRows(people int64) map[string]string {
	from := func(n int64) string { return fmt.Sprintf(" FROM TABLE(sequence(0, %d)) AS t(x)", n-1) }
	h := madeUp
	day := func(first string, seed, n int64) string {
		return fmt.Sprintf("date_add('day', %s, DATE '%s')", h(seed, n), first)
	}
	return map[string]string{
		"patients": "SELECT x AS pid, CAST(" + h(1, 111) + " AS integer) AS age, element_at(ARRAY['F', 'M', 'X', NULL], " +
			"CAST(1 + " + h(2, 4) +
			" AS integer)) AS sex, '1' || lpad(CAST(" + h(3, 1000) + " AS varchar), 4, '0') AS zip, 'diagnosis ' || CAST(" + h(4, 40) +
			" AS varchar) AS diagnosis, CAST(CAST(" + h(5, 5000000) + " AS decimal(18,2)) / 100 AS decimal(12,2)) AS cost, " + h(6, 3) +
			" = 0 AS smoker, " + day("2024-01-01", 7, 3) + " AS admitted, " + day("1930-01-01", 8, 30000) + " AS born, CAST(" + h(9, 1500) +
			" AS double) / 10 AS weight, " + h(10, 100000) + " - 50000 AS balance, " + h(11, 9) + " * 500 - 1000 AS income, " +
			h(12, 1000000000) + " AS wealth" + from(people),
		"visits": fmt.Sprintf("SELECT CAST(floor(%d * power(CAST(%s AS double) / 1000003, 1.7)) AS bigint) AS pid, ", people,
			h(21, 1000003)) +
			"chr(97 + " + h(22, 8) + ") AS ward, " + day("2023-01-01", 23, 700) + " AS day, CAST(CAST(" + h(24, 500000) +
			" AS decimal(18,2)) / 100 AS decimal(10,2)) AS cost" + from(3*people),
		"orders": "SELECT x AS oid, " + h(31, people) + " AS customer, " + day("2024-01-01", 32, 366) +
			" AS day, element_at(ARRAY['meal', 'drug'], CAST(1 + " + h(33, 2) + " AS integer)) AS kind" + from(2*people),
		"items": "SELECT " + h(41, 2*people) + " AS oid, CAST(CAST(" + h(42, 100000) + " AS decimal(18,2)) / 100 AS decimal(10,2)) AS " +
			"price, CAST(" + h(43, 21) + " AS integer) AS quantity, 'region ' || CAST(" + h(44, 30) + " AS varchar) AS " +
			"region" + from(4*people),
		"wards": "SELECT chr(97 + x) AS ward, 'region ' || CAST(x % 5 AS varchar) AS region, CAST(x * 3 AS integer) AS beds" + from(25),
		"tags":  "SELECT chr(97 + x % 9) AS ward, 't' || CAST(x % 5 AS varchar) AS tag, CAST(x * 8 AS integer) AS low" + from(25),
	}
}

func trialRows(people int64) map[string]string {
	from := func(n int64) string { return fmt.Sprintf(" FROM TABLE(sequence(0, %d)) AS t(x)", n-1) }
	h := madeUp
	row := "CAST(" + h(1, 4) + " AS varchar) AS predicted, CAST(" + h(2, 4) + " AS varchar) AS outcome, CAST(" + h(3, 111) +
		" AS integer) AS age, CAST(CAST(" + h(4, 101) + " AS decimal(18,2)) / 100 AS decimal(4,2)) AS risk, " + h(5, 2) + " = 0 AS ill"
	return map[string]string{
		"rows":   "SELECT x AS pid, " + row + from(people),
		"train":  "SELECT " + row + from(people/10),
		"visits": "SELECT " + h(6, people) + " AS pid, 'w' || CAST(x % 7 AS varchar) AS ward" + from(people),
		"more":   "SELECT x AS pid, CAST(x % 2 AS integer) AS x" + from(people),
	}
}

// TestTook runs the questions of the corpora, and prints and records the processor time that Trino
// says: TestRecordedCluster of package publictime compares it with what is public.
func TestTook(t *testing.T) {
	if *measured == 0 {
		t.Skip("this is measured with -measure and a number of people")
	}
	rows := map[string]func(int64) map[string]string{"hospital": hospitalRows, "trial": trialRows}
	for _, c := range sample.Corpora(t, "../../plan/testdata", "trino") {
		e := openCorpus(t, c.Dataset, rows[c.Dataset.Name](*measured))
		sizes, err := e.Sizes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		head, err := json.Marshal(sizes)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", e.Machine(t.Context()))
		out, seen := string(head)+"\n", map[string]bool{}
		for i, a := range c.Asked {
			name := hashOf(a)
			if i%*every != 0 || a.Query != nil && a.Query.ListsKeys() || seen[name] {
				continue
			}
			seen[name] = true
			ctx, work := pace.Count(t.Context())
			began := time.Now()
			if a.Query != nil {
				_, err = e.Run(ctx, a.Query)
			} else {
				_, err = e.Fetch(ctx, a.Table, exact.NewCollector(func([]int64) {}))
			}
			if err != nil {
				t.Errorf("%s %d: %v", a.Of, a.Number, err)
				continue
			}
			line := fmt.Sprintf("%s %d %d\n", name[:16], work.Done().Microseconds(), time.Since(began).Microseconds())
			t.Logf("%s %d %s", a.Of, a.Number, line)
			out += line
		}
		if *record {
			path := fmt.Sprintf("../../publictime/testdata/trino-%s-%d.txt", c.Dataset.Name, *measured)
			if err := os.WriteFile(path, []byte(out), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// openCorpus stores tables, and opens them as a server does.
func openCorpus(t *testing.T, ds *policy.Dataset, tables map[string]string) *Engine {
	t.Helper()
	c := testtrino.Shared(t)
	in := schema{c, "iceberg", c.Alone(t, "iceberg")}
	for name, rows := range tables {
		in.Run(t, "CREATE TABLE "+in.table(name)+" AS "+rows)
	}
	ds.Source = c.Address(in.name, in.catalog, in.name)
	for name, table := range ds.Tables {
		table.Relation = in.catalog + "." + in.name + "." + name
	}
	e, err := Open(t.Context(), ds)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

func hashOf(a sample.Asked) string {
	if a.Query != nil {
		return a.Query.Hash()
	}
	return a.Table.Hash()
}
