package planner_test

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/policy"
)

func hospital(t testing.TB) *policy.Dataset {
	p, err := policy.Load("testdata/hospital.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["hospital"]
}

func parsed(t testing.TB, text string) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse("policy.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, ds := range p.Datasets {
		return ds
	}
	t.Fatal("the policy has no dataset")
	return nil
}

// TestData runs testdata/*.txt. A file holds cases separated by lines of ====,
// each a question, a line of ----, and what it means: the query and how far one
// person moves it, or the refusal. Lines before the first ==== are a comment.
func TestData(t *testing.T) {
	ds := hospital(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		golden.Run(t, file, func(question string) string { return outcome(ds, question) })
	}
}

// readCases returns a file's comment and then its cases.
func readCases(t testing.TB, file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "====\n")
}

// outcome shows all that a text means, or why it is refused. The dataset's and the
// table's lines are left out where they are the first table's, to be short.
func outcome(ds *policy.Dataset, text string) string {
	st, err := planner.Prepare(ds, text, planner.Options{Public: tables{}})
	if err != nil {
		return refusal(text, err)
	}
	var b strings.Builder
	if st.Empty {
		b.WriteString("no rows\n")
	}
	for _, o := range st.Rows {
		fmt.Fprintf(&b, "column %q: %v\n", o.Name, o.Expr.Type().Kind)
	}
	for i, p := range st.Plans {
		if st.Outer != nil && !p.Continues {
			fmt.Fprintf(&b, "%s is:\n", planner.AnswerName(i))
		}
		if p.Continues {
			b.WriteString("and\n")
		}
		show(&b, p)
	}
	for i, t := range st.Tables {
		fmt.Fprintf(&b, "%s is the public table %s\n", planner.PublicName(i), t.Name)
	}
	if st.Outer != nil {
		outer := &pg.RawStmt{Stmt: &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: st.Outer}}}
		text, err := pg.Deparse(&pg.ParseResult{Version: 170007, Stmts: []*pg.RawStmt{outer}})
		fmt.Fprintf(&b, "outer: %s %v\n", text, err)
	}
	return b.String()
}

func show(b *strings.Builder, p *tree.Plan) {
	for line := range strings.Lines(p.Query.Format()) {
		if !strings.HasPrefix(line, "dataset ") && line != "from \"patients\" unit unique \"pid\"\n" &&
			(line != "rows 1 groups 1 neighbours add-remove\n" || p.Query.Bounded()) {
			b.WriteString(line)
		}
	}
	for i, m := range p.Query.Measures {
		lo, hi := p.Query.Interval(m)
		fmt.Fprintf(b, "moves %d: %s within [%v, %v] by %s, at most %v, %v\n",
			i, m.Describe(), lo, hi, m.Step().RatString(), p.Query.Sensitivity(m, dp.L1), p.Query.Sensitivity(m, dp.L2))
	}
	for i, s := range p.Stats {
		fmt.Fprintf(b, "#%d %s\n", i, describeStat(s))
	}
	for _, o := range p.Columns {
		fmt.Fprintf(b, "column %q: %s\n", o.Name, tree.Format(o.Expr))
	}
	for _, w := range p.Within {
		for i, e := range w.By {
			fmt.Fprintf(b, "where %s is in column %d of %s\n", tree.Format(e), w.Columns[i], planner.AnswerName(w.Answer))
		}
	}
	if p.Having != nil {
		fmt.Fprintf(b, "having %s\n", tree.Format(p.Having))
	}
	for _, o := range p.Order {
		fmt.Fprintf(b, "order by %s descending %v nulls first %v\n", tree.Format(o.By), o.Descending, o.NullsFirst)
	}
	if p.Limit != nil {
		fmt.Fprintf(b, "limit %d\n", *p.Limit)
	}
	if p.Ties {
		b.WriteString("with ties\n")
	}
	if p.Offset != 0 {
		fmt.Fprintf(b, "offset %d\n", p.Offset)
	}
}

// tables are the public tables of the test data.
type tables struct{}

// Most has 25 rows, of which 5 are equal in one column.
func (tables) Most(_ string, columns []string) (int64, error) {
	return []int64{25, 5, 1}[min(2, len(columns))], nil
}

func (tables) Values(table, column string, limit int) ([]policy.Value, error) {
	var out []policy.Value
	if column == "beds" {
		return []policy.Value{{Type: policy.Integer, Int: 10}, {Type: policy.Integer, Int: 20}}, nil
	}
	if column == "low" {
		return []policy.Value{{Type: policy.Integer, Int: 20}, {Type: policy.Integer, Int: 60}}, nil
	}
	for _, v := range []string{"north", "south"} {
		out = append(out, policy.Value{Type: policy.Text, Text: v})
	}
	return out, nil
}

// Rows are two wards, and tags of which one ward has two.
func (tables) Rows(table string, _ int) ([][]tree.Value, error) {
	if table == "wards" { // ward, region, beds
		return [][]tree.Value{{"north", "north", big.NewInt(10)}, {"south", "south", big.NewInt(20)}}, nil
	}
	return [][]tree.Value{ // ward, tag, low
		{"north", "north", big.NewInt(20)}, {"north", "south", big.NewInt(60)}, {"south", "south", big.NewInt(60)}}, nil
}

// describeStat says what a released value is made of.
func describeStat(s tree.Stat) string {
	note := ""
	if s.Note != "" {
		note = "; " + s.Note
	}
	switch s.Kind {
	case tree.KeyStat:
		return fmt.Sprintf("is key %d", s.Key)
	case tree.AbsentStat:
		return "is a key of another set"
	case tree.GroupingStat:
		return fmt.Sprintf("is grouping %d of %d bits", s.Bits, s.Key)
	case tree.MeasureStat:
		return fmt.Sprintf("is measure %d", s.Measure)
	case tree.QuantileStat:
		return fmt.Sprintf("is quantile %d of measure %d%s", s.Quantile, s.Measure, note)
	case tree.VarianceStat:
		return fmt.Sprintf("is a variance (sample %v, root %v) of squares %d around %v, sum %d around %v, count %d",
			s.Sample, s.Root, s.Square, s.SquareCenter, s.Measure, s.Center, s.Count)
	}
	return fmt.Sprintf("is measure %d over measure %d, plus %v steps", s.Measure, s.Count, s.Center)
}

// refusal shows a refusal and what stands at its position.
func refusal(text string, err error) string {
	var r *api.Refusal
	if !errors.As(err, &r) {
		return fmt.Sprintf("NOT A REFUSAL: %v\n", err)
	}
	at := "refused " + r.Code
	if r.Position >= 0 && r.Position <= len(text) {
		near := []rune(text[r.Position:])
		at += fmt.Sprintf(" at %d, %q", r.Position, string(near[:min(len(near), 12)]))
	} else if r.Position != -1 {
		at += fmt.Sprintf(" at %d, OUTSIDE THE TEXT", r.Position)
	}
	return fmt.Sprintf("%s\n%s\n%s\n", at, r.Reason, r.Instead)
}

// What was read of a text is kept for whoever asks it next, so to plan it changes nothing of it.
func TestPlanningChangesNoText(t *testing.T) {
	ds := hospital(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no test data", err)
	}
	for _, file := range files {
		for _, c := range readCases(t, file)[1:] {
			sql, _, _ := strings.Cut(c, "----\n")
			text := syntax.Open(strings.TrimSuffix(sql, "\n"), nil)
			read, err := text.Select()
			if err != nil {
				continue
			}
			before := proto.Clone(read)
			planner.AsksHoldout(text)
			text.At(time.Now())
			_, _ = planner.PrepareText(ds, text, planner.Options{Public: tables{}})
			if !proto.Equal(before, read) {
				t.Errorf("%s: its tree was changed", sql)
			}
		}
	}
}

// TestQualifiedNames: every question of the test data means the same, byte for byte, with the
// database and the schema in front of every table, and of every column that has a table in front
// of it.
func TestQualifiedNames(t *testing.T) {
	ds := hospital(t)
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	asked, changed := 0, 0
	for _, file := range files {
		cases := readCases(t, file)[1:]
		for _, c := range daily.Sample(t, cases, (len(cases)+2)/3) {
			text, _, _ := strings.Cut(c, "----\n")
			plain := rewritten(text, func(*pg.Node) {})
			want := outcome(ds, plain)
			if plain == "" || strings.HasPrefix(want, "refused") {
				continue
			}
			asked++
			other := qualify(text)
			if other != plain {
				changed++
			}
			if got := outcome(ds, other); got != want {
				t.Errorf("%s\nis\n%s\nand not\n%s", other, got, want)
			}
		}
	}
	if asked < daily.Rounds(60, 200) || changed < asked*daily.Rounds(8, 9)/10 {
		t.Errorf("%d questions, and %d of them with names to change", asked, changed)
	}
}

// qualify puts the database and the schema before names.
func qualify(text string) string {
	with := map[string]bool{}
	rewritten(text, func(n *pg.Node) {
		if q := n.GetCommonTableExpr(); q != nil {
			with[q.Ctename] = true
		}
	})
	return rewritten(text, func(n *pg.Node) {
		if v := n.GetRangeVar(); v != nil && !with[v.Relname] {
			v.Catalogname, v.Schemaname, v.Inh = "hospital", "public", !v.Inh
		}
		if c := n.GetColumnRef(); len(c.GetFields()) == 2 {
			schema := &pg.Node{Node: &pg.Node_String_{String_: &pg.String{Sval: "public"}}}
			c.Fields = append([]*pg.Node{schema}, c.Fields...)
		}
	})
}

// rewritten is a text after a change of its tree, or nothing where it is no SELECT.
func rewritten(text string, change func(*pg.Node)) string {
	tree, err := pg.Parse(text)
	if err != nil || len(tree.Stmts) != 1 {
		return ""
	}
	syntax.EachNode(tree.Stmts[0].Stmt, func(n *pg.Node) bool { change(n); return true })
	out, err := pg.Deparse(tree)
	if err != nil {
		return ""
	}
	return out
}
