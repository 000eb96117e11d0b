package trino

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// TestBytes: a column of texts may hold bytes that are none of Unicode's, which the driver reads as
// U+FFFD. Two such keys are one group before people are counted, so that nobody is in it twice; and
// one that is read as a public key adds to its group, and does not take its place.
func TestBytes(t *testing.T) {
	s := newSchema(t, "hive")
	for name, rows := range map[string]string{
		"single":  "(1, X'61ff'), (2, X'61fe'), (3, X'61efbfbd'), (4, X'62')",
		"several": "(1, X'61ff'), (1, X'61fe'), (2, X'61ff'), (3, X'61efbfbd'), (4, X'62')",
	} {
		raw := s.table("raw_" + name)
		s.Run(t, "CREATE TABLE "+raw+" (pid bigint, k varbinary)", "INSERT INTO "+raw+" VALUES "+rows)
		at := s.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+raw+" LIMIT 1")[0][0]
		s.Run(t, "CREATE TABLE "+s.table(name)+" (pid bigint, k varchar) WITH (external_location = '"+at+"')")
	}
	for _, c := range []struct{ table, keys string }{
		{"several", "private"}, {"single", "private"}, {"several", `["a\uFFFD", b]`}, {"single", `["a\uFFFD", b]`},
	} {
		keys := "datasets:\n d:\n  source: " + s.source() + "\n  budget: {epsilon: 1, delta: 1e-6}\n  analysts: {a: {}}\n" +
			"  unit: " + c.table + ".pid\n" +
			"  tables:\n   " + c.table + ":\n    columns:\n      k: {type: text, keys: " + c.keys + "}\n"
		limits := map[string]string{"single": "unique: pid", "several": "max_rows: 5\n    max_groups: 2"}[c.table]
		p, err := policy.Parse("policy.yaml", []byte(strings.Replace(keys, "columns:", limits+"\n    columns:", 1)))
		if err != nil {
			t.Fatal(err)
		}
		e := open(t, p.Datasets["d"])
		q := &prepare(t, e.dataset, "SELECT k, COUNT(DISTINCT pid) FROM "+c.table+" GROUP BY k").Query
		out, err := e.Run(t.Context(), q)
		if err != nil {
			t.Fatalf("%v: %v, %v", c, err, why(t, e, q))
		}
		if got := out.Measures[0].Open(); !slices.Equal(got, []int64{3, 1}) {
			t.Errorf("%v: %v", c, got)
		}
		if c.keys == "private" && !slices.Equal(out.Persons.Open(), []int64{3, 1}) {
			t.Errorf("%v: %v people", c, out.Persons.Open())
		}
	}
}
