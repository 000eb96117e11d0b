package duckdb

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/golden"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// storedTypes are types in which a column of a policy's type may be stored.
var storedTypes = sample.Types{Who: [2]string{"BIGINT", "INTEGER"}, Of: map[policy.Type][2][]string{
	policy.Text:      {{"VARCHAR"}, {"VARCHAR", "ENUM('a', 'b')", "UUID"}},
	policy.Boolean:   {{"BOOLEAN"}, {"BOOLEAN"}},
	policy.Integer:   {{"BIGINT"}, {"INTEGER", "HUGEINT", "UTINYINT", "BIGINT"}},
	policy.Decimal:   {{"DOUBLE"}, {"DECIMAL(18,3)", "BIGINT", "INTEGER"}},
	policy.Date:      {{"DATE"}, {"TIMESTAMP", "TIMESTAMP_S"}},
	policy.Timestamp: {{"TIMESTAMP"}, {"TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS"}},
}}

// madeUp is a snapshot of tables that nobody has, stored in one of two ways.
func madeUp(t *testing.T, ds *policy.Dataset, way int) *snapshot {
	s := &snapshot{}
	s.Schema = sample.Stored(sqlDialect, ds, storedTypes, way, func(name string) string { return "source." + dialect.QuoteName(name) })
	for name, tb := range s.Tables {
		if ds.Unit.Row() {
			tb.RowID = "rowid"
		}
		for _, c := range tb.Columns {
			if c.Keys == policy.PublicKeys {
				s.Keys[c] = "(FROM " + dialect.QuoteName("keys "+name+`"`+c.Name) + ")"
				if c.Type == policy.Text && way == 0 {
					s.Listed[c] = "discreet_key(0::BIGINT, %s) >= 0"
				}
			}
		}
	}
	if err := s.FindKinds(ds); err != nil {
		t.Fatal(err)
	}
	return s
}

var keyNumber = regexp.MustCompile(`discreet_key\(\d+`)

// spelled prints all SQL of a query.
func spelled(t *testing.T, s *snapshot, q *tree.Query) string {
	var b strings.Builder
	for _, st := range s.Statements(q) {
		fmt.Fprintf(&b, "%s\n%v private %v summed %v measures %v persons %v values %d\n", st.Text, st.Args, st.Private, st.Summed,
			st.Measures, st.Persons, st.Values)
		if !st.Summed {
			continue
		}
		bulk, err := s.newBounded(q, st.Measures)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		fmt.Fprintf(&b, "bulk %s FROM %s\n%v\n", strings.Join(bulk.query.Columns, ", "), bulk.query.From, bulk.query.Args)
		bulk.close()
	}
	return b.String()
}

// TestStatements holds the SQL of all questions of plan's test data fixed, by a hash for each.
func TestStatements(t *testing.T) {
	var lines golden.Lines
	for way, how := range []string{"plain", "other types"} {
		all := sample.Corpora(t, "../../plan/testdata", "")
		rows := sample.NewCorpus(t, "testdata/rows.yaml", "d", "")
		rows.Ask(t, "rows", "testdata/rows.txt")
		for _, c := range append(all, rows) {
			s := madeUp(t, c.Dataset, way)
			for _, a := range c.Asked {
				text := ""
				if a.Table != nil {
					f := s.newFetch(a.Table)
					text = fmt.Sprintf("bulk %s FROM %s\n%v\n", strings.Join(f.query.Columns, ", "), f.query.From, f.query.Args)
					f.close()
				} else {
					text = spelled(t, s, a.Query)
				}
				lines.Add(fmt.Sprintf("%s %d, %s", a.Of, a.Number, how), keyNumber.ReplaceAllString(text, "discreet_key(0"))
			}
		}
	}
	lines.Hold(t, "testdata/statements.txt")
}
