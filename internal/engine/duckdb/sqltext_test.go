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

	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
)

var rewrite = flag.Bool("rewrite", false, "write the results into testdata instead of comparing them")

// publicTables are the public tables of plan's test data.
type publicTables struct{}

func (publicTables) Most(_ string, columns []string) (int64, error) {
	return []int64{25, 5, 1}[min(2, len(columns))], nil
}

func (publicTables) Values(_, column string, _ int) ([]policy.Value, error) {
	if column == "low" {
		return []policy.Value{{Type: policy.Integer, Int: 20}, {Type: policy.Integer, Int: 60}}, nil
	}
	return []policy.Value{{Type: policy.Text, Text: "north"}, {Type: policy.Text, Text: "south"}}, nil
}

const rowPolicy = `
datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: row
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {a: {}}
    tables:
      t:
        columns:
          k: {type: text, keys: [a, b, null]}
          i: {type: integer, bounds: [0, 9]}
          s: {type: timestamp}
          p: {type: text, keys: private}
      w:
        public: true
        max_rows: 3
        columns:
          k:   {type: text}
          low: {type: integer, bounds: [0, 200]}
`

var rowQuestions = []string{
	"SELECT COUNT(*) FROM t", "SELECT k, COUNT(*), SUM(i) FROM t GROUP BY k", "SELECT p, COUNT(*) FROM t GROUP BY p",
	"SELECT k, COUNT(DISTINCT i), MEDIAN(i) FROM t GROUP BY k", "SELECT p, k, SUM(i) FROM t GROUP BY p, k",
	"SELECT low, COUNT(*), SUM(i), COUNT(DISTINCT i) FROM t JOIN w ON t.k = w.k GROUP BY low", "SELECT p, low, COUNT(*) FROM t JOIN w ON t.k = w.k GROUP BY p, low",
	"SELECT COUNT(*) FROM t LEFT JOIN w ON t.k = w.k AND t.i < w.low", "SELECT MEDIAN(i) FROM t JOIN w ON t.k = w.k",
	"SELECT COUNT(*) FROM t WHERE extract(hour FROM s) = 3 AND date_trunc('month', s) < '2024-01-01'",
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
	s := &snapshot{tables: map[string]*table{}, keys: map[*policy.Column]string{}, listed: map[*policy.Column]*chunks.Keys{}, byRow: ds.Unit.Row()}
	for _, name := range ds.TableNames() {
		p := ds.Tables[name]
		tb := &table{Table: p, paths: ds.PathColumns(p), from: "source." + quoteName(name), collated: way == 1, stored: map[string]column{}, prepared: map[string]prepared{}}
		if ds.Unit.Row() {
			tb.rowid = "rowid"
		}
		for i, c := range tb.needed() {
			typ := []string{"BIGINT", "INTEGER"}[way]
			if c := p.Columns[c]; c != nil {
				types := storedTypes[c.Type][way]
				typ = types[i%len(types)]
				if way == 1 && c.Type == policy.Decimal && c.Granularity != nil {
					tb.prepared[c.Name] = prepared{}
				}
				if c.Keys == policy.PublicKeys {
					s.keys[c] = tb.keysOf(c)
					if c.Type == policy.Text && way == 0 {
						s.listed[c] = chunks.NewKeys(textPlaces(c.KeyValues), -1)
						t.Cleanup(s.listed[c].Close)
					}
				}
			}
			if slices.Contains(tb.paths, c) && way == 1 {
				typ = "INTEGER"
			}
			tb.stored[c] = column{strings.ToUpper(c), typ}
		}
		s.tables[name] = tb
	}
	var err error
	if s.kinds, err = s.identities(ds); err != nil {
		t.Fatal(err)
	}
	return s
}

var keyNumber = regexp.MustCompile(`discreet_key\(\d+`)

// spelled prints all SQL of a query.
func spelled(t *testing.T, s *snapshot, q *plan.Query) string {
	var b strings.Builder
	for _, st := range s.print(q) {
		fmt.Fprintf(&b, "%s\n%v private %v summed %v measures %v persons %v values %d\n", st.text, st.args, st.private, st.summed, st.measures, st.persons, st.values)
		if !st.summed {
			continue
		}
		bulk, err := s.newBounded(q, st.measures)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		fmt.Fprintf(&b, "bulk %s FROM %s\n%v\n", strings.Join(bulk.query.Columns, ", "), bulk.query.From, bulk.query.Args)
		bulk.close()
	}
	return b.String()
}

// TestStatements compares the SQL of all questions of plan's test data with what it was.
func TestStatements(t *testing.T) {
	load := func(path, name string) *policy.Dataset {
		p, err := policy.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return p.Datasets[name]
	}
	const data = "../../plan/testdata/"
	hospital, trial := load(data+"hospital.yaml", "hospital"), load(data+"holdout/trial.yaml", "trial")
	p, err := policy.Parse("d.yaml", []byte(rowPolicy))
	if err != nil {
		t.Fatal(err)
	}
	options := plan.Options{Public: publicTables{}}
	var out, full strings.Builder
	for way, how := range []string{"plain", "other types"} {
		one := func(file string, i int, text string) {
			text = keyNumber.ReplaceAllString(text, "discreet_key(0")
			fmt.Fprintf(&full, "%s %d, %s\n%s", file, i, how, text)
			fmt.Fprintf(&out, "%s %d, %s: %.6x\n", file, i, how, sha256.Sum256([]byte(text)))
		}
		ask := func(s *snapshot, ds *policy.Dataset, file string, i int, text string) {
			st, err := plan.Prepare(ds, text, options)
			if err != nil {
				return
			}
			for _, p := range st.Plans {
				one(file, i, spelled(t, s, &p.Query))
			}
		}
		s := madeUp(t, hospital, way)
		files, _ := filepath.Glob(data + "*.txt")
		for _, file := range files {
			for i, c := range corpusOf(t, file) {
				ask(s, hospital, filepath.Base(file), i, c)
			}
		}
		for i, c := range corpusOf(t, data+"table/tables.txt") {
			features, target, _ := strings.Cut(c, "\n=> ")
			table, err := plan.PrepareTable(hospital, features, target, options)
			if err != nil {
				continue
			}
			f := s.newFetch(table)
			one("tables.txt", i, fmt.Sprintf("bulk %s FROM %s\n%v\n", strings.Join(f.query.Columns, ", "), f.query.From, f.query.Args))
			f.close()
		}
		s = madeUp(t, trial, way)
		for i, c := range corpusOf(t, data+"holdout/questions.txt") {
			h, err := plan.PrepareHoldout(trial, c, "", plan.Options{})
			if err != nil {
				continue
			}
			one("questions.txt", i, spelled(t, s, &h.Query))
			if h.Train != nil {
				one("questions.txt", i, spelled(t, s, h.Train))
			}
		}
		s = madeUp(t, p.Datasets["d"], way)
		for i, c := range rowQuestions {
			if _, err := plan.Prepare(p.Datasets["d"], c, options); err != nil {
				t.Error(c, err)
			}
			ask(s, p.Datasets["d"], "rows", i, c)
		}
	}
	if path := os.Getenv("STATEMENTS"); path != "" {
		os.WriteFile(path, []byte(full.String()), 0o666)
	}
	const file = "testdata/statements.txt"
	if *rewrite {
		os.MkdirAll("testdata", 0o777)
		if err := os.WriteFile(file, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != out.String() {
		t.Error("other SQL than before")
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
