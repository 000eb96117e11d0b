package duckdb

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

var rewrite = flag.Bool("rewrite", false, "write the results into testdata instead of comparing them")

// publicTables are the public tables of plan's test data.
type publicTables struct{}

func (publicTables) Most(_ string, columns []string) (int64, error) {
	return []int64{25, 5, 1}[min(2, len(columns))], nil
}

func (publicTables) Rows(string, int) ([][]tree.Value, error) { return nil, nil }

func (publicTables) Values(_, column string, _ int) ([]policy.Value, error) {
	if column == "low" {
		return []policy.Value{{Type: policy.Integer, Int: 20}, {Type: policy.Integer, Int: 60}}, nil
	}
	return []policy.Value{{Type: policy.Text, Text: "north"}, {Type: policy.Text, Text: "south"}}, nil
}

// storedTypes are types in which a column of a policy's type may be stored.
var storedTypes = map[policy.Type][2][]string{
	policy.Text:      {{"VARCHAR"}, {"VARCHAR", "ENUM('a', 'b')", "UUID"}},
	policy.Boolean:   {{"BOOLEAN"}, {"BOOLEAN"}},
	policy.Integer:   {{"BIGINT"}, {"INTEGER", "HUGEINT", "UTINYINT", "BIGINT"}},
	policy.Decimal:   {{"DOUBLE"}, {"DECIMAL(18,3)", "BIGINT", "INTEGER"}},
	policy.Date:      {{"DATE"}, {"TIMESTAMP", "TIMESTAMP_S"}},
	policy.Timestamp: {{"TIMESTAMP"}, {"TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS"}},
}

// madeUp is a snapshot of tables that nobody has, stored in one of two ways.
func madeUp(t *testing.T, ds *policy.Dataset, way int) *snapshot {
	s := &snapshot{}
	s.Schema = dialect.NewSchema(sqlDialect, ds)
	for _, name := range ds.TableNames() {
		p := ds.Tables[name]
		tb := &dialect.Table{Table: p, Dialect: sqlDialect, Paths: ds.PathColumns(p), From: "source." + dialect.QuoteName(name),
			Collated: way == 1,
			Stored:   map[string]dialect.Column{}, OnLattice: map[string]bool{}}
		if ds.Unit.Row() {
			tb.RowID = "rowid"
		}
		for i, c := range tb.Needed() {
			typ := []string{"BIGINT", "INTEGER"}[way]
			if c := p.Columns[c]; c != nil {
				types := storedTypes[c.Type][way]
				typ = types[i%len(types)]
				if way == 1 && c.Type == policy.Decimal && c.Granularity != nil {
					tb.OnLattice[c.Name] = true
				}
				if c.Keys == policy.PublicKeys {
					s.Keys[c] = "(FROM " + dialect.QuoteName("keys "+name+`"`+c.Name) + ")"
					if c.Type == policy.Text && way == 0 {
						s.Listed[c] = "discreet_key(0::BIGINT, %s) >= 0"
					}
				}
			}
			if slices.Contains(tb.Paths, c) && way == 1 {
				typ = "INTEGER"
			}
			tb.Stored[c] = dialect.Column{Name: strings.ToUpper(c), Type: typ}
		}
		s.Tables[name] = tb
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
	const file = "testdata/statements.txt"
	text, err := os.ReadFile(file)
	if err != nil && !*rewrite {
		t.Fatal(err)
	}
	var out []string
	known := strings.Split(string(text), "\n")
	for way, how := range []string{"plain", "other types"} {
		eachStatement(t, way, func(of string, i int, text string) {
			text = keyNumber.ReplaceAllString(text, "discreet_key(0")
			line := fmt.Sprintf("%s %d, %s: %.6x", of, i, how, sha256.Sum256([]byte(text)))
			if out = append(out, line); !*rewrite && (len(out) > len(known) || known[len(out)-1] != line) {
				t.Errorf("%s, and now it is\n%s", line, text)
			}
		})
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(out, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if len(known) != len(out)+1 {
		t.Errorf("there are %d statements, and were %d", len(out), len(known)-1)
	}
}

// eachStatement prints all questions on tables that are stored in one of two ways.
func eachStatement(t *testing.T, way int, tell func(of string, i int, text string)) {
	load := func(path, name string) (*snapshot, *policy.Dataset) {
		p, err := policy.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return madeUp(t, p.Datasets[name], way), p.Datasets[name]
	}
	options := plan.Options{Public: publicTables{}}
	ask := func(s *snapshot, ds *policy.Dataset, of string, i int, text string) {
		st, err := plan.Prepare(ds, text, options)
		if err != nil {
			return
		}
		for _, p := range st.Plans {
			tell(of, i, spelled(t, s, &p.Query))
		}
	}
	const data = "../../plan/testdata/"
	s, ds := load(data+"hospital.yaml", "hospital")
	files, _ := filepath.Glob(data + "*.txt")
	for _, file := range files {
		for i, c := range corpusOf(t, file) {
			ask(s, ds, filepath.Base(file), i, c)
		}
	}
	for i, c := range corpusOf(t, data+"table/tables.txt") {
		features, target, _ := strings.Cut(c, "\n=> ")
		if table, err := plan.PrepareTable(ds, features, target, options); err == nil {
			f := s.newFetch(table)
			tell("tables.txt", i, fmt.Sprintf("bulk %s FROM %s\n%v\n", strings.Join(f.query.Columns, ", "), f.query.From, f.query.Args))
			f.close()
		}
	}
	s, ds = load(data+"holdout/trial.yaml", "trial")
	for i, c := range corpusOf(t, data+"holdout/questions.txt") {
		h, err := plan.PrepareHoldout(ds, syntax.Open(c, nil), "", plan.Options{})
		if err != nil {
			continue
		}
		tell("questions.txt", i, spelled(t, s, &h.Query))
		if h.Train != nil {
			tell("questions.txt", i, spelled(t, s, h.Train))
		}
	}
	s, ds = load("testdata/rows.yaml", "d")
	for i, c := range corpusOf(t, "testdata/rows.txt") {
		ask(s, ds, "rows", i, c)
	}
}

// corpusOf returns the questions of a file.
func corpusOf(t *testing.T, file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range strings.Split(string(text), "====\n")[1:] {
		c, _, _ = strings.Cut(c, "\n----\n")
		out = append(out, c)
	}
	return out
}
