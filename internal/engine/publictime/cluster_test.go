package publictime_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/releaseclock"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
)

// clustered is the cluster that the constants are of.
var clustered = publictime.Machine{Factor: 1, Cluster: true, SQL: true}

// TestRecordedCluster compares public times with what Trino said once that its processors worked:
// nothing took more than a quarter of its public time, so that what makes a question fail, half of
// it, is twice what honest ones need. The tests of package trino write the files (TestTook): sizes,
// and then by question its hash, the work and the time that passed, in microseconds, on two cores
// that were busy with a lot else.
func TestRecordedCluster(t *testing.T) {
	found := 0
	for _, c := range generate.Corpora(t, "../../planner/testdata", "trino") {
		paths, _ := filepath.Glob(filepath.Join("testdata", "trino-"+c.Dataset.Name+"-*.txt"))
		for _, path := range paths {
			sizes, took := readClustered(t, path)
			var lines []string
			near, all := 0, 0
			for _, a := range c.Asked {
				name, public := "", time.Duration(0)
				if a.Query != nil {
					name, public = a.Query.Hash()[:16], clustered.Query(a.Query, sizes)
				} else {
					name, public = a.Table.Hash()[:16], clustered.Fetch(a.Table, sizes)
				}
				d, ok := took[name]
				if !ok {
					continue
				}
				delete(took, name) // each is counted once
				all++
				if public <= max(3*d[1], tickOf(sizes)) {
					near++
				}
				line := fmt.Sprintf("%6.2f times: %8.3f s public, %8.3f s worked, %8.3f s passed: %s %d",
					float64(public)/float64(max(d[0], 1)), public.Seconds(), d[0].Seconds(), d[1].Seconds(), a.Of, a.Number)
				if lines = append(lines, line); public < 4*d[0] {
					t.Error(path, line)
				}
			}
			slices.Sort(lines)
			t.Logf("%s: %d questions, of which %d leave within three times what passed, or a tick\n%s", path, all, near,
				strings.Join(lines[:min(len(lines), 10)], "\n"))
			found += all
		}
	}
	if found < 200 {
		t.Errorf("only %d of the measured questions are there; measure them again", found)
	}
}

// readClustered reads what was measured: by hash, what was worked and what passed.
func readClustered(t *testing.T, path string) (sizes publictime.Sizes, took map[string][2]time.Duration) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &sizes) != nil {
		t.Fatalf("%s: no sizes", path)
	}
	took = map[string][2]time.Duration{}
	for lines.Scan() {
		var name string
		var worked, passed int64
		if _, err := fmt.Sscan(lines.Text(), &name, &worked, &passed); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		took[name] = [2]time.Duration{time.Duration(worked) * time.Microsecond, time.Duration(passed) * time.Microsecond}
	}
	return sizes, took
}

// clinicOnCluster makes the tables of the clinic, of so many people, as Trino spells them.
func clinicOnCluster(people int64) map[string]string {
	h := func(seed, n int64) string {
		return fmt.Sprintf("(abs(from_big_endian_64(xxhash64(to_big_endian_64(x * 1000 + %d)))) %% %d)", seed, n)
	}
	text := func(seed, n int64) string { return "CAST(" + h(seed, n) + " AS varchar)" }
	cents := func(seed, n int64) string {
		return "CAST(CAST(" + h(seed, n) + " AS decimal(18,2)) / 100 AS decimal(10,2))"
	}
	one := func(seed, n int64, of string) string {
		return "element_at(ARRAY[" + of + "], CAST(1 + " + h(seed, n) + " AS integer))"
	}
	from := func(n int64) string { return fmt.Sprintf(" FROM TABLE(sequence(0, %d)) AS t(x)", n-1) }
	return map[string]string{
		"people": "SELECT x AS pid, 'z' || " + text(1, 50) + " AS zip, " + one(2, 5, "'flu', 'HIV', 'asthma', 'fracture', 'diabetes'") +
			" AS diag, CAST(" + h(3, 111) + " AS integer) AS age, " + cents(4, 500000) + " AS cost, CASE WHEN " + h(5, 2) + " = 0 THEN " +
			text(6, 100000) + " || '.25' ELSE 'c' || " + text(6, 900) + " END AS code, date_add('day', " + h(7, 40000) +
			", DATE '1910-01-01') AS born, CAST(from_unixtime(1500000000 + " + h(8, 200000000) + ") AS timestamp(6)) AS seen, CAST(" +
			h(9, 100000) + " AS double) / 7 AS score" + from(people),
		"visits": fmt.Sprintf("SELECT CAST(floor(%d * power(CAST(%s AS double) / 1000003, 1.7)) AS bigint) AS pid, ", people,
			h(11, 1000003)) +
			"chr(97 + " + h(12, 8) + ") AS ward, 'seen on ' || " + text(13, 1000) + " || ' with ' || " +
			one(14, 3, "'a cough', 'some fever and a headache', 'nothing'") + " || ', ' || " + text(15, 1<<62) + " AS note, " +
			"date_add('day', " + h(16, 1800) + ", DATE '2020-01-01') AS day, " + cents(17, 100000) + " AS cost" + from(3*people),
		"labs": "SELECT " + h(21, people) + " AS pid, 'k' || " + text(22, 300) + " AS kind, CAST(" + h(23, 1001) + " AS integer) AS value" +
			from(2*people),
		"codes": "SELECT 'c' || CAST(x AS varchar) AS code, 'label of ' || CAST(x AS varchar) AS label, CAST(x AS integer) AS low, " +
			"CAST(x % 100 AS integer) AS area" + from(900),
	}
}

// TestProbesCluster runs the probes on Trino: none works for more than a quarter of its public
// time, as that of a cluster of this speed.
func TestProbesCluster(t *testing.T) {
	if *measured == 0 {
		t.Skip("this is measured with -measure and a number of people")
	}
	c := testtrino.Shared(t)
	user := c.Alone(t, "iceberg")
	for name, rows := range clinicOnCluster(*measured) {
		c.Run(t, "CREATE TABLE iceberg."+user+"."+name+" AS "+rows)
	}
	text := strings.Replace(clinic, "    engine: duckdb\n    source: d.duckdb\n", "    source: "+c.Address(user, "iceberg", user)+"\n", 1)
	ds := parse(t, t.TempDir(), text)
	e, err := trino.Open(t.Context(), ds)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	sizes, err := e.Sizes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", e.Machine(t.Context()))
	for i, text := range probesOf() {
		if i%*every != 0 || *probeFilter != "" && *probeFilter != "hostile" && !strings.Contains(text, *probeFilter) {
			continue
		}
		s, err := planner.Prepare(ds, text, planner.Options{Public: engine.PublicTables(context.Background(), e)})
		if err != nil {
			t.Logf("%s: %v", text, err)
			continue
		}
		for _, p := range s.Plans {
			public := clustered.Query(&p.Query, sizes)
			ctx, work := releaseclock.CountWork(t.Context())
			if _, err := e.Run(ctx, &p.Query); err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			line := fmt.Sprintf("%8.3f s public, %8.3f s worked, %6.2f times: %s", public.Seconds(), work.Done().Seconds(),
				float64(public)/float64(max(1, work.Done())), clipped(text))
			if t.Log(line); public < 4*work.Done() {
				t.Error(line)
			}
		}
	}
}
