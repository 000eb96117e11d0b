package trino

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/golden"
	"github.com/discreet-dp/discreet/policy"
)

// storedTypes are types in which a column of a policy's type may be stored.
var storedTypes = sample.Types{Who: [2]string{"bigint", "integer"}, Of: map[policy.Type][2][]string{
	policy.Text:    {{"varchar"}, {"varchar(40)", "char(7)", "uuid"}},
	policy.Boolean: {{"boolean"}, {"boolean"}},
	policy.Integer: {{"bigint"}, {"integer", "decimal(38,0)", "tinyint", "bigint", "smallint"}},
	policy.Decimal: {{"double"}, {"decimal(18,3)", "bigint", "integer", "real", "decimal(38,20)"}},
	policy.Date:    {{"date"}, {"timestamp(12)", "timestamp(0)", "timestamp(3)"}},
}}

// made is the schema that statements of a file name.
const made = `"memory"."made".`

// spelledAll prints what is asked, by question, on tables that are stored in one of two ways.
func spelledAll(t *testing.T, c sample.Corpus, way int) (dialect.Schema, [][]string) {
	t.Helper()
	s := sample.Stored(sqlDialect, c.Dataset, storedTypes, way, func(name string) string { return made + dialect.QuoteName(name) })
	for _, tb := range s.Tables {
		tb.OnLattice = nil // nobody has looked
	}
	if err := s.FindKinds(c.Dataset); err != nil {
		t.Fatal(err)
	}
	out := make([][]string, len(c.Asked))
	for i, a := range c.Asked {
		if a.Table != nil {
			text, args := sqlengine.Fetched(&s, a.Table)
			out[i] = append(out[i], text)
			if len(args) > 0 {
				t.Errorf("%s %d has parameters", a.Of, a.Number)
			}
			continue
		}
		for _, st := range s.Statements(a.Query) {
			out[i] = append(out[i], st.Text)
			if len(st.Args) > 0 {
				t.Errorf("%s %d has parameters", a.Of, a.Number)
			}
		}
	}
	return s, out
}

// TestStatements holds the SQL of all questions of the planner's test data fixed, by a hash each:
// go test ./internal/engine/trino -run TestStatements -rewrite writes them anew.
func TestStatements(t *testing.T) {
	var lines golden.Lines
	for way, how := range []string{"plain", "other types"} {
		for _, c := range sample.Corpora(t, "../../plan/testdata", "trino") {
			_, all := spelledAll(t, c, way)
			for i, a := range c.Asked {
				lines.Add(fmt.Sprintf("%s %d, %s", a.Of, a.Number, how), strings.Join(all[i], "\n"))
			}
		}
	}
	lines.Hold(t, "testdata/statements.txt")
}

// TestStatementsRun: Trino takes all of them, and some are run, on tables with a row of nothing,
// one of something and one of what stands at the ends of types, none of which ends one; with -full
// all are.
func TestStatementsRun(t *testing.T) {
	taken, ran := 0, 0
	for way := range 2 {
		for _, c := range sample.Corpora(t, "../../plan/testdata", "trino") {
			s, all := spelledAll(t, c, way)
			in := newSchema(t, "memory")
			for _, name := range c.Dataset.TableNames() {
				in.storeThree(t, s.Tables[name])
			}
			texts := slices.Concat(all...)
			slices.Sort(texts)
			texts = slices.Compact(texts) // questions that are spelled otherwise and mean the same
			var some []string
			for i, text := range texts {
				texts[i] = strings.ReplaceAll(text, made, fmt.Sprintf("%q.%q.", in.catalog, in.name))
				if i%usually(60, 1) == 0 {
					some = append(some, texts[i])
				}
			}
			in.validate(t, texts)
			in.runAll(t, some)
			taken, ran = taken+len(texts), ran+len(some)
		}
	}
	t.Logf("%d statements were taken, and %d of them run", taken, ran)
}

// validate has statements analysed, many at a time, and those of a list that is not taken each
// alone.
func (s schema) validate(t *testing.T, all []string) {
	t.Helper()
	for len(all) > 0 {
		n, size := 0, 0
		var parts []string
		for n < len(all) && (n == 0 || n < 60 && size+len(all[n]) < 500_000) {
			parts = append(parts, "SELECT count(*) FROM ("+strings.TrimPrefix(all[n], byPerson)+")")
			size += len(all[n])
			n++
		}
		_, err := s.Column(t, "EXPLAIN (TYPE VALIDATE) "+strings.Join(parts, " UNION ALL "))
		switch {
		case err != nil && n == 1:
			t.Errorf("%v\nin %s", err, all[0])
		case err != nil:
			for _, text := range all[:n] {
				s.validate(t, []string{text})
			}
		}
		all = all[n:]
	}
}

// storeThree makes a table with three rows.
func (s schema) storeThree(t *testing.T, tb *dialect.Table) {
	t.Helper()
	var list, values, nulls, last []string
	for _, name := range tb.Needed() {
		c := tb.Stored[name]
		list = append(list, fmt.Sprintf("%q %s", c.Name, c.Type))
		values, nulls = append(values, "CAST("+something[base(c.Type)]+" AS "+c.Type+")"), append(nulls, "NULL")
		last = append(last, "CAST("+hostile[base(c.Type)]+" AS "+c.Type+")")
	}
	s.Run(t, fmt.Sprintf("CREATE TABLE %s (%s)", s.table(tb.Name), strings.Join(list, ", ")),
		fmt.Sprintf("INSERT INTO %s VALUES (%s), (%s), (%s)", s.table(tb.Name), strings.Join(values, ", "), strings.Join(nulls, ", "),
			strings.Join(last, ", ")))
}

// something is a value of each type that is stored.
var something = map[string]string{varchar: "'F'", "char": "'M'", "uuid": "'00000000-0000-0000-0000-000000000001'", "boolean": "true",
	"tinyint": "7", "smallint": "7", "integer": "7", bigint: "7", "decimal": "7", "real": "7", double: "7", "date": "DATE '2024-01-02'",
	"timestamp": "TIMESTAMP '2024-01-02 03:04:05'"}

// hostile is a value at an end of each type.
var hostile = map[string]string{varchar: fmt.Sprintf("rpad('x', %d, 'y')", longest), "char": constant("\U0010ffff"),
	"uuid": "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "boolean": "false", "tinyint": "-128", "smallint": "-32768", "integer": "-2147483648",
	bigint: "-9223372036854775808", "decimal": "-999999999999999", "real": "nan()", double: "-infinity()",
	"date": "DATE '-5877641-06-23'", "timestamp": "TIMESTAMP '-290308-12-21 19:59:06'"}

// runAll runs statements, several at once.
func (s schema) runAll(t *testing.T, all []string) {
	db := s.DB(t, "discreet")
	next := make(chan string)
	var done sync.WaitGroup
	for range 3 {
		done.Go(func() {
			for text := range next {
				rows, err := db.QueryContext(t.Context(), text)
				if err == nil {
					for rows.Next() {
					}
					err = rows.Err()
					rows.Close()
				}
				if err != nil {
					t.Errorf("%v\nin %s", err, text)
				}
			}
		})
	}
	for _, text := range all {
		next <- text
	}
	close(next)
	done.Wait()
}
