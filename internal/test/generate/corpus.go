package generate

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Asked is a question of a file that was planned: a query, or the table of a training.
type Asked struct {
	Of     string // the file
	Number int    // which of the file's questions
	Query  *tree.Query
	Table  *tree.Table
}

// Corpus is a dataset and the questions about it that are not refused.
type Corpus struct {
	Dataset *policy.Dataset
	Asked   []Asked
}

// Corpora are the questions of the planner's test data, which is in a folder. The engine is the one
// that the dataset is to be in, or none where that is as its policy says.
func Corpora(t testing.TB, data, engine string) []Corpus {
	t.Helper()
	hospital := NewCorpus(t, filepath.Join(data, "hospital.yaml"), "hospital", engine)
	files, _ := filepath.Glob(filepath.Join(data, "*.txt"))
	for _, file := range files {
		hospital.Ask(t, filepath.Base(file), file)
	}
	for i, c := range readQuestions(t, filepath.Join(data, "table/tables.txt")) {
		features, target, _ := strings.Cut(c, "\n=> ")
		if table, err := planner.PrepareTable(hospital.Dataset, features, target, planner.Options{Public: publicTables{}}); err == nil {
			hospital.Asked = append(hospital.Asked, Asked{"tables.txt", i, nil, table})
		}
	}
	trial := NewCorpus(t, filepath.Join(data, "holdout/trial.yaml"), "trial", engine)
	for i, c := range readQuestions(t, filepath.Join(data, "holdout/questions.txt")) {
		h, err := planner.PrepareHoldout(trial.Dataset, syntax.Open(c, nil), "", planner.Options{})
		if err != nil {
			continue
		}
		for _, q := range []*tree.Query{&h.Query, h.Train} {
			if q != nil {
				trial.Asked = append(trial.Asked, Asked{"questions.txt", i, q, nil})
			}
		}
	}
	return []Corpus{hospital, trial}
}

// NewCorpus is a dataset of a policy, about which nothing is asked yet.
func NewCorpus(t testing.TB, path, name, engine string) Corpus {
	t.Helper()
	p, err := policy.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	ds := p.Datasets[name]
	if engine != "" {
		ds.Engine = engine
	}
	return Corpus{Dataset: ds}
}

func (c *Corpus) Ask(t testing.TB, of, file string) {
	t.Helper()
	for i, text := range readQuestions(t, file) {
		st, err := planner.Prepare(c.Dataset, text, planner.Options{Public: publicTables{}})
		if err != nil {
			continue
		}
		for _, p := range st.Plans {
			c.Asked = append(c.Asked, Asked{of, i, &p.Query, nil})
		}
	}
}

// readQuestions returns the questions of a file, without what was answered.
func readQuestions(t testing.TB, file string) (out []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.Split(string(text), "====\n")[1:] {
		c, _, _ = strings.Cut(c, "\n----\n")
		out = append(out, c)
	}
	return out
}

// publicTables are the public tables of the planner's test data.
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

// Plan is the plan of a text that is one question, with nothing around it; or why there is none.
func Plan(ds *policy.Dataset, text string) (*tree.Plan, error) {
	s, err := planner.Prepare(ds, text, planner.Options{})
	if err != nil {
		return nil, err
	}
	if len(s.Plans) != 1 || s.Outer != nil {
		return nil, fmt.Errorf("%d questions, or something around them", len(s.Plans))
	}
	return s.Plans[0], nil
}

// MustPlan is [Plan] of a text that is not refused.
func MustPlan(t testing.TB, ds *policy.Dataset, text string) *tree.Plan {
	t.Helper()
	p, err := Plan(ds, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

//go:embed testdata/hostile.txt
var hostile string

// Attack is something that a hostile analyst asks. See testdata/hostile.txt for what verdicts there
// are.
type Attack struct {
	Family, Verdict, Text string
}

// Attacks returns what hostile analysts ask about the clinic among the [Worlds], family by family.
func Attacks() (all []Attack) {
	for _, family := range strings.Split(hostile, "\n== ")[1:] {
		name, rest, _ := strings.Cut(family, "\n")
		for block := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
			verdict, text, _ := strings.Cut(strings.TrimSpace(block), "\n")
			all = append(all, Attack{name, verdict, text})
		}
	}
	return all
}
