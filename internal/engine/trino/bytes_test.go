package trino

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// storeBytes makes a table of people and of texts that are these bytes.
func (s schema) storeBytes(t *testing.T, name, rows string) {
	raw := s.table("raw_" + name)
	s.Run(t, "CREATE TABLE "+raw+" (pid bigint, k varbinary)", "INSERT INTO "+raw+" VALUES "+rows)
	at := s.Rows(t, testtrino.Admin, `SELECT regexp_replace("$path", '/[^/]*$') FROM `+raw+" LIMIT 1")[0][0]
	s.Run(t, "CREATE TABLE "+s.table(name)+" (pid bigint, k varchar) WITH (external_location = '"+at+"')")
}

// TestBytes: a column of texts may hold bytes that are none of Unicode's, which the driver reads as
// U+FFFD. Two such keys are one group before people are counted, so that nobody is in it twice; and
// one that is read as a public key adds to its group, and does not take its place.
func TestBytes(t *testing.T) {
	s := newSchema(t, "hive")
	s.storeBytes(t, "single", "(1, X'61ff'), (2, X'61fe'), (3, X'61efbfbd'), (4, X'62')")
	s.storeBytes(t, "several", "(1, X'61ff'), (1, X'61fe'), (2, X'61ff'), (3, X'61efbfbd'), (4, X'62')")
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

// noTexts are bytes that are none of Unicode's: parts of a character, characters that are spelled
// too long, halves of a pair, numbers that no character has; and some that are.
var noTexts = []string{"", "ff", "61ff", "f0", "f09f", "f09f98", "61f0", "c3", "61c3", "e2", "e282", "61e282", "80",
	"8080", "eda080", "edb080",
	"f4908080", "f8888080", "c080", "00", "6100", "efbfbd", "31ff", "ff31", "323032302d30312d3031ff",
	"f0323032302d30312d3031", "6161c3", "c361",
	"f0616161", "e261", "c3c3c3", "f0f0f0f0", "f7bfbfbf", "fbbfbfbfbf", "fdbfbfbfbfbf", "e28228", "f0288c28",
	"eda0bdedb880", "20f0", "f020",
	"2020c3", "69cc87", "c4b0", "efac83", "e1ba9e"}

// ofBytes are all functions of texts.
var ofBytes = []string{
	"upper(k) = 'A'", "lower(k) = 'a'", "length(k) > 2", "left(k, 2) = 'a'", "right(k, 1) = 'a'",
	"substring(k, 2, 3) = 'a'", "strpos(k, 'a') = 2",
	"replace(k, 'a', 'b') = 'b'", "trim(k) = 'a'", "trim(both 'ab' from k) = 'a'", "ltrim(k, 'é') = 'a'", "rtrim(k, 'a') = ''",
	"lpad(left(k, 20), 5, 'x') = 'a'", "rpad(left(k, 20), 5, 'x') = 'a'", "left(k, 30) || left(k, 20) = 'a'",
	"concat(left(k, 30), 'é') = 'a'",
	"concat_ws(',', left(k, 30), 'é') = 'a'", "split_part(k, 'a', 2) = ''", "k LIKE '%a_'", "k LIKE '_a%'",
	"k LIKE '%a%b%'", "k LIKE 'a%'",
	"k ILIKE '%A_'", "k ~ '^a.$'", "k ~ '[^a]b'", "k ~* 'a|é'", "k SIMILAR TO 'a%|_b'", "k > 'a'", "CAST(k AS INTEGER) > 1",
	"CAST(k AS NUMERIC(10,2)) > 1", "CAST(k AS DATE) > DATE '2020-01-01'",
	"CAST(k AS TIMESTAMP) > TIMESTAMP '2020-01-01'", "CAST(k AS BOOLEAN)",
	"greatest(k, 'a') = 'a'", "nullif(k, 'a') = 'b'", "starts_with(k, 'a')", "upper(left(k, 1)) = lower(right(k, 1))",
}

// TestBytesAnywhere: whatever is computed from a text, no bytes of one make a question fail.
func TestBytesAnywhere(t *testing.T) {
	s := newSchema(t, "hive")
	rows := make([]string, len(noTexts))
	for i, bytes := range noTexts {
		rows[i] = fmt.Sprintf("(%d, X'%s')", i, bytes)
	}
	s.storeBytes(t, "t", strings.Join(rows, ", "))
	ds := s.dataset(t, "unit: t.pid\ntables: {t: {unique: pid, columns: {k: {type: text}}}}\n")
	e := open(t, ds)
	for some := range slices.Chunk(ofBytes, usually(len(ofBytes)/3, 1)) {
		sum := make([]string, len(some))
		for i, x := range some {
			sum[i] = "CASE WHEN " + x + " THEN 1 ELSE 0 END"
		}
		q := &prepare(t, ds, "SELECT SUM("+strings.Join(sum, " + ")+") FROM t").Query
		if _, err := e.Run(t.Context(), q); err != nil {
			t.Errorf("%v: %v", some, why(t, e, q))
		}
	}
}
