package trino

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// widest are the types of each kind of column that take most to be read.
var widest = map[policy.Type]string{policy.Text: "char(9)", policy.Boolean: "varchar", policy.Date: "timestamp(9)",
	policy.Decimal: "double", policy.Integer: "decimal(38,0)", policy.Timestamp: "timestamp(9) with time zone"}

// onPaper is a dataset as if it were on a cluster, and how its statements are printed.
func onPaper(t testing.TB, of *policy.Dataset) (*policy.Dataset, *sqlgen.Schema) {
	t.Helper()
	ds := *of
	ds.Engine, ds.Tables = "trino", map[string]*policy.Table{}
	s := sqlgen.NewSchema(sqlDialect, &ds)
	for n, table := range of.Tables {
		own := *table
		own.Relation = "lake.clinic." + n
		ds.Tables[n] = &own
		d := &sqlgen.Table{Table: &own, Dialect: sqlDialect, Paths: ds.PathColumns(&own), From: name(&own) +
			" FOR VERSION AS OF 8954597067493422955", Collated: true, Stored: map[string]sqlgen.Column{}}
		for _, c := range d.Needed() {
			d.Stored[c] = sqlgen.Column{Name: c, Type: bigint}
			if own.Columns[c] != nil && c != own.UnitColumn {
				d.Stored[c] = sqlgen.Column{Name: c, Type: widest[own.Columns[c].Type]}
			}
			for _, p := range d.Paths {
				if c == p {
					d.Stored[c] = sqlgen.Column{Name: c, Type: bigint}
				}
			}
		}
		s.Tables[n] = d
	}
	if err := s.FindKinds(&ds); err != nil {
		t.Fatal(err)
	}
	return &ds, &s
}

// judge holds what is printed against what the planner has taken it for, and returns the lengths.
func judge(t rapid.TB, s *sqlgen.Schema, q *tree.Query) (printed, taken int64) {
	t.Helper()
	longest, all := planner.StatementLength(q)
	sum := int64(0)
	for _, st := range s.Statements(q) {
		n := int64(len(st.Text))
		if sum += n; n > longest {
			t.Errorf("%d characters were taken for %d at most:\n%.3000s\n%s", n, longest, st.Text, q.Format())
		}
		printed = max(printed, n)
		if d := nested(st.Text); d > 500 { // Trino has no stack for 750
			t.Errorf("brackets are %d deep:\n%.3000s", d, st.Text)
		}
	}
	if sum > all {
		t.Errorf("%d characters were taken for %d at most, all together:\n%s", sum, all, q.Format())
	}
	return printed, longest
}

// nested is how deep a statement is: a bracket counts as 1, CASE as 2, and a function as 3.
func nested(text string) (most int) {
	var open []int
	now := 0
	for _, word := range spelled.FindAllString(text, -1) {
		weight := 1
		switch {
		case word == "CASE":
			weight = 2
		case word == ")" || word == "]" || word == "END":
			now -= open[len(open)-1]
			open = open[:len(open)-1]
			continue
		case len(word) > 1 && word[len(word)-1] != '(':
			continue
		case len(word) > 1:
			weight = 3
		}
		open = append(open, weight)
		now += weight
		most = max(most, now)
	}
	return most
}

var spelled = regexp.MustCompile(`\w*\(|[\[\])]|\b(?:CASE|END)\b|"[^"]*"|'[^']*'`)

// TestWritten: no statement is longer than the planner takes it for, which refuses those that are
// too long for a cluster; and it does not take them for much longer.
func TestWritten(t *testing.T) {
	var printed, taken, n int64
	most := 0.
	add := func(p, of int64) {
		printed, taken, n = printed+p, taken+of, n+1
		most = max(most, float64(p)/float64(of))
	}
	for _, world := range generate.Worlds()[:2] {
		if world.Unit.Row() {
			continue // which a cluster refuses
		}
		d := generate.NewDice("written "+world.Name, 1)
		db := generate.Make(d, world)
		o := planner.Options{Public: reference.New(world, db.Tables).Public()}
		ds, s := onPaper(t, world)
		maker := generate.NewMaker(world, o)
		texts := make([]string, rounds(120, 3000))
		for i := range texts {
			texts[i] = maker.Question(d)
		}
		for _, a := range generate.Attacks() {
			texts = append(texts, a.Text)
		}
		for _, text := range texts {
			st, err := generate.Prepare(ds, text, o)
			if err != nil {
				continue
			}
			for _, p := range st.Plans {
				add(judge(t, s, &p.Query))
			}
		}
	}
	if n < 100 || taken > 8*printed {
		t.Errorf("%d characters of %d statements were taken for %d", printed, n, taken)
	}
	t.Logf("%d characters of %d statements were taken for %d; a statement had at most %.2f of what it was taken for", printed, n, taken,
		most)
}

// TestWrittenExpressions is the same for expressions of every kind.
func TestWrittenExpressions(t *testing.T) {
	ds, s := onPaper(t, dataset(t, "trino://discreet@trino.example.org/lake/clinic", sampleKeys()))
	written := func(t rapid.TB, x string) {
		for _, text := range []string{"SELECT COUNT(" + x + ") FROM t", "SELECT COUNT(*) FROM t WHERE (" + x + ") IS NULL",
			"SELECT COUNT(DISTINCT " + x + ") FROM t"} {
			if p, err := prepareOne(ds, text); err == nil {
				judge(t, s, &p.Query)
			}
		}
	}
	for _, c := range generate.Columns {
		written(t, c.Name) // where the column is nearly all that is written
	}
	rapid.Check(t, func(t *rapid.T) { written(t, generate.DrawAny(t, 4)) })
}

// TestTooLong: what would be too long for a cluster is refused, however it gets so.
func TestTooLong(t *testing.T) {
	many := func(n int, join, format string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
		}
		return strings.Join(all, join)
	}
	const refused = "a statement for this question would be too long"
	for name, c := range map[string]struct {
		text func(n int) string
		keys func(n int) string // of the column ward
		says string             // where it ends: before it is too long, or because it is
	}{
		"numbers": {text: func(n int) string {
			return "SELECT COUNT(*) FROM rows WHERE n IN (" + many(n, ", ", "#") + ")"
		}, says: "4000 words"},
		"texts": {text: func(n int) string {
			return "SELECT COUNT(*) FROM rows WHERE note IN (" + many(n, ", ", "'"+strings.Repeat("x", 1000)+"#'") + ")"
		}, says: "65536 bytes"},
		"keys": {text: func(int) string { return "SELECT ward, COUNT(*) FROM rows GROUP BY ward" },
			keys: func(n int) string { return many(n, ", ", strings.Repeat("ward # of ", 10)+"one") }, says: refused},
		"measures": {text: func(n int) string {
			return "SELECT " + many(min(n, 190), ", ", "SUM(cost + "+many(min(n, 60), " + ", "cost % 3")+" + #)") + " FROM rows"
		}, says: "4000 words"},
		"subqueries": {text: func(n int) string {
			return "SELECT " + many(n, ", ", "SUM(age + # + CASE WHEN EXISTS (SELECT 1 FROM rows r WHERE r.pid = p.pid AND r.cost > # AND "+
				many(min(n, 50), " AND ", "r.n <> #")+") THEN 1 ELSE 0 END)") + " FROM people p"
		}, says: "subqueries"},
		"times": {text: func(n int) string {
			return "SELECT COUNT(*) FROM rows WHERE " + strings.Repeat("date_trunc('hour', INTERVAL '1 hour' + ", n) + "seen" +
				strings.Repeat(")", n) + " > TIMESTAMP '2021-01-01 00:00:00'"
		}, says: "nested too deep"},
		"patterns": {text: func(n int) string {
			return "SELECT COUNT(*) FROM rows WHERE " + many(n, " OR ", "note ~ '^(foo|bar|baz)+#[a-z]{3}$'")
		}, says: "32 functions"},
	} {
		said, last := error(nil), int64(0)
		for n := 4; n <= 65536 && said == nil; n *= 2 {
			keys := onePersonKeys + "      seen: {type: timestamp, bounds: [2020-01-01, 2026-01-01]}\n"
			if c.keys != nil {
				keys = strings.ReplaceAll(keys, "a, b, c, d", c.keys(n))
			}
			ds, s := onPaper(t, dataset(t, "trino://discreet@trino.example.org/lake/clinic", keys))
			var p *tree.Plan
			if p, said = prepareOne(ds, c.text(n)); said == nil {
				last, _ = judge(t, s, &p.Query)
			}
		}
		t.Logf("%s: up to %d characters, and then %.100s", name, last, fmt.Sprint(said))
		if last > 1_000_000 || !strings.Contains(fmt.Sprint(said), c.says) {
			t.Errorf("%s: %d characters, %v", name, last, said)
		}
	}
}

// storedTypes are types in which a column of a policy's type may be stored.
var storedTypes = generate.Types{Who: [2]string{"bigint", "integer"}, Of: map[policy.Type][2][]string{
	policy.Text:    {{"varchar"}, {"varchar(40)", "char(7)", "uuid"}},
	policy.Boolean: {{"boolean"}, {"boolean"}},
	policy.Integer: {{"bigint"}, {"integer", "decimal(38,0)", "tinyint", "bigint", "smallint"}},
	policy.Decimal: {{"double"}, {"decimal(18,3)", "bigint", "integer", "real", "decimal(38,20)"}},
	policy.Date:    {{"date"}, {"timestamp(12)", "timestamp(0)", "timestamp(3)"}},
}}

// made is the schema that statements of a file name.
const made = `"memory"."made".`

// corpora are the questions of the planner's test data. Planning them takes longer than printing
// them in every way, and no test changes them.
func corpora(t testing.TB) []generate.Corpus {
	t.Helper()
	if allCorpora == nil {
		allCorpora = generate.Corpora(t, "../../planner/testdata", "trino")
	}
	return allCorpora
}

var allCorpora []generate.Corpus

// spelledAll prints what is asked, by question, on tables that are stored in one of two ways.
func spelledAll(t *testing.T, c generate.Corpus, way int) (sqlgen.Schema, [][]string) {
	t.Helper()
	s := generate.Stored(sqlDialect, c.Dataset, storedTypes, way, func(name string) string { return made + sqlgen.QuoteName(name) })
	for _, tb := range s.Tables {
		tb.OnLattice = nil // nobody has looked
	}
	if err := s.FindKinds(c.Dataset); err != nil {
		t.Fatal(err)
	}
	out := make([][]string, len(c.Asked))
	for i, a := range c.Asked {
		if a.Table != nil {
			text, args := sqlengine.PrintFetch(&s, a.Table)
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
		for _, c := range corpora(t) {
			_, all := spelledAll(t, c, way)
			for i, a := range c.Asked {
				lines.Add(fmt.Sprintf("%s %d, %s", a.Of, a.Number, how), strings.Join(all[i], "\n"))
			}
		}
	}
	lines.Hold(t, "testdata/statements.txt")
}

// TestStatementsRun: Trino takes those of them that are about tables stored in one way, a quarter
// and another every day, and some are run, on tables with a row of nothing, one of something and
// one of what stands at the ends of types, none of which ends one; with -full all are.
func TestStatementsRun(t *testing.T) {
	taken, ran := 0, 0
	for _, way := range daily.Sample(t, []int{0, 1}, 1) {
		for _, c := range corpora(t) {
			s, all := spelledAll(t, c, way)
			in := newSchema(t, "memory")
			texts := slices.Concat(all...)
			slices.Sort(texts)
			texts = slices.Compact(texts) // questions that are spelled otherwise and mean the same
			texts = daily.Sample(t, texts, (len(texts)+3)/4)
			for i, text := range texts {
				texts[i] = strings.ReplaceAll(text, made, fmt.Sprintf("%q.%q.", in.catalog, in.name))
			}
			some := daily.Sample(t, texts, 2)
			for _, name := range c.Dataset.TableNames() {
				in.create(t, s.Tables[name])
				if strings.Contains(strings.Join(some, ""), sqlgen.QuoteName(name)) {
					in.storeThree(t, s.Tables[name])
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

// create makes a table without rows, in which a statement is taken as in any other.
func (s schema) create(t *testing.T, tb *sqlgen.Table) {
	t.Helper()
	var list []string
	for _, name := range tb.Needed() {
		c := tb.Stored[name]
		list = append(list, sqlgen.QuoteName(c.Name)+" "+c.Type)
	}
	s.Run(t, "CREATE TABLE "+s.table(tb.Name)+" ("+strings.Join(list, ", ")+")")
}

func (s schema) storeThree(t *testing.T, tb *sqlgen.Table) {
	t.Helper()
	var names, values, nulls, last []string
	for _, name := range tb.Needed() {
		c := tb.Stored[name]
		names, nulls = append(names, sqlgen.QuoteName(c.Name)), append(nulls, "NULL")
		values = append(values, "CAST("+something[baseType(c.Type)]+" AS "+c.Type+")")
		last = append(last, "CAST("+hostile[baseType(c.Type)]+" AS "+c.Type+")")
	}
	s.Run(t, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s), (%s), (%s)", s.table(tb.Name), strings.Join(names, ", "),
		strings.Join(values, ", "), strings.Join(nulls, ", "), strings.Join(last, ", ")))
}

// something is a value of each type that is stored.
var something = map[string]string{varchar: "'F'", "char": "'M'", "uuid": "'00000000-0000-0000-0000-000000000001'", "boolean": "true",
	"tinyint": "7", "smallint": "7", "integer": "7", bigint: "7", "decimal": "7", "real": "7", double: "7", "date": "DATE '2024-01-02'",
	"timestamp": "TIMESTAMP '2024-01-02 03:04:05'"}

// hostile is a value at an end of each type.
var hostile = map[string]string{varchar: fmt.Sprintf("rpad('x', %d, 'y')", maxTextBytes), "char": constant("\U0010ffff"),
	"uuid": "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "boolean": "false", "tinyint": "-128", "smallint": "-32768", "integer": "-2147483648",
	bigint: "-9223372036854775808", "decimal": "-999999999999999", "real": "nan()", double: "-infinity()",
	"date": "DATE '-5877641-06-23'", "timestamp": "TIMESTAMP '-290308-12-21 19:59:06'"}

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
