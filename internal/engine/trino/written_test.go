package trino

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/audit/generate"
	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// widest are the types of each kind of column that take most to be read.
var widest = map[policy.Type]string{policy.Text: "char(9)", policy.Boolean: "varchar", policy.Date: "timestamp(9)",
	policy.Decimal: "double", policy.Integer: "decimal(38,0)", policy.Timestamp: "timestamp(9) with time zone"}

// onPaper is a dataset as if it were on a cluster, and how its statements are printed.
func onPaper(t testing.TB, of *policy.Dataset) (*policy.Dataset, *dialect.Schema) {
	t.Helper()
	ds := *of
	ds.Engine, ds.Tables = "trino", map[string]*policy.Table{}
	s := dialect.NewSchema(sqlDialect, &ds)
	for n, table := range of.Tables {
		own := *table
		own.Relation = "lake.clinic." + n
		ds.Tables[n] = &own
		d := &dialect.Table{Table: &own, Dialect: sqlDialect, Paths: ds.PathColumns(&own), From: name(&own) +
			" FOR VERSION AS OF 8954597067493422955", Collated: true, Stored: map[string]dialect.Column{}}
		for _, c := range d.Needed() {
			d.Stored[c] = dialect.Column{Name: c, Type: bigint}
			if own.Columns[c] != nil && c != own.UnitColumn {
				d.Stored[c] = dialect.Column{Name: c, Type: widest[own.Columns[c].Type]}
			}
			for _, p := range d.Paths {
				if c == p {
					d.Stored[c] = dialect.Column{Name: c, Type: bigint}
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
func judge(t rapid.TB, s *dialect.Schema, q *tree.Query) (printed, taken int64) {
	t.Helper()
	longest, all := plan.Written(q)
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
		o := plan.Options{Public: reference.New(world, db.Tables).Public()}
		ds, s := onPaper(t, world)
		maker := generate.NewMaker(world, o)
		texts := make([]string, usually(300, 3000))
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
	rapid.Check(t, func(t *rapid.T) {
		x := sample.DrawAny(t, 4)
		for _, text := range []string{"SELECT COUNT(" + x + ") FROM t", "SELECT COUNT(*) FROM t WHERE (" + x + ") IS NULL",
			"SELECT COUNT(DISTINCT " + x + ") FROM t"} {
			if p, err := prepareOne(ds, text); err == nil {
				judge(t, s, &p.Query)
			}
		}
	})
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
	const refused = "one for this question would be too long"
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
