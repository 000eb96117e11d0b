package curator_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/planner/verify"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

var found = &verify.Difference{Where: "the planted tree", What: strings.Repeat("it is wrong ", 200)}

// TestDisagreement: where the second check objects nothing is charged, no engine runs, and
// everybody reads one text. On every path to an engine, and for every price of it.
func TestDisagreement(t *testing.T) {
	w := curatortest.Build(t, hospital.New(200, 1), hospital.Dataset("hospital", "data", curatortest.Plenty)+curatortest.HeldOut+`    streams:
      people:
        table: patients
        columns: {sex: , smoker: , age: {width: 37}}
        size: 200
        alpha: 0.4
`, 1, map[string]string{
		"labels.csv": curatortest.Labelled(600), "named.csv": "id,label\na,1\nb,0.25\nc,0\n",
		"data/train_rows.csv": "age,sex,zip,diagnosis,smoker,cost\n30,F,1,flu,true,10\n40,M,1,flu,false,20\n",
	})
	session := w.OpenSparse(nil)
	const around = "SELECT sum(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t"
	const mean = "SELECT holdout_mean(smoker) FROM patients"
	train := curatortest.Smokers("1")
	ways := map[string]func() error{
		"ask":        func() error { _, err := w.AskSQL("SELECT SUM(age) FROM patients"); return err },
		"ask around": func() error { _, err := w.AskSQL(around); return err },
		"explain": func() error {
			_, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: curatortest.Patients})
			return err
		},
		"describe": func() error {
			_, err := w.Describe(ctx, api.Question{Analyst: "ana", SQL: curatortest.Patients})
			return err
		},
		"session":          func() error { _, err := session.Ask(ctx, curatortest.Patients, "10"); return err },
		"train":            func() error { _, err := w.Trainings.Train(ctx, train, nil); return err },
		"quote a training": func() error { _, err := w.Trainings.Quote(ctx, train); return err },
		"holdout": func() error {
			_, err := w.Holdouts.Ask(ctx, api.HoldoutQuestion{Analyst: "ana", SQL: mean})
			return err
		},
		"holdout in SQL":  func() error { _, err := w.AskSQL(mean); return err },
		"holdout's price": func() error { _, err := w.Explain(ctx, api.Question{Analyst: "ana", SQL: mean}); return err },
		"stream": func() error {
			_, err := w.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
			return err
		},
		"stream's price": func() error {
			_, err := w.Streams.Quote(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
			return err
		},
	}
	opened := w.Curator // by which the session is checked
	r := w.Record()
	spent, records := w.Spent(), w.RecordCount()
	r.Take()
	for _, everything := range []bool{true, false} {
		w.Rewire(w.Data, w.Ledger)
		w.ObjectTo(everything, found)
		opened.ObjectTo(everything, found)
		for name, way := range ways {
			err := way()
			var refusal *api.Refusal
			var dispute *api.Disagreement
			if !errors.As(err, &refusal) || !errors.As(err, &dispute) || err.Error() != (&api.Disagreement{}).Error() ||
				refusal.Position != -1 {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if !strings.HasPrefix(dispute.Detail, "the planted tree: it is wrong") || len(dispute.Detail) > curator.MaxDetailBytes+3 ||
				strings.Contains(err.Error(), "planted") {
				t.Errorf("%s: %q", name, dispute.Detail)
			}
		}
	}
	if calls := r.Take(); slices.Contains(calls, "run") || slices.Contains(calls, "fetch") || slices.Contains(calls, "charge") {
		t.Errorf("%v was called", calls)
	}
	if w.Spent() != spent || w.RecordCount() != records {
		t.Error("something was charged")
	}
	// Without objections all of them are answered, or priced.
	w.Rewire(w.Data, w.Ledger)
	opened.ObjectToNothing()
	for name, way := range ways {
		if err := way(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// waysToAnEngine are the lines of the curator and the packages of sessions that make a tree, or
// give one to an engine, and who checks it twice.
var waysToAnEngine = map[string]string{
	"curator/planner.go: planner.PrepareText(":                   "verifier.CheckTwice follows",
	"session/sparsesession/session.go: planner.Prepare(":         "verifier.CheckTwice follows",
	"session/training/price.go: planner.PrepareTable(":           "secondChecks.table follows",
	"session/holdoutsession/prepare.go: planner.PrepareHoldout(": "secondChecks.holdout follows; where one is looked for, nothing runs",
	"session/holdoutsession/ask.go: planner.PrepareHoldout(":     "names and columns alone; what runs is Sessions.Ask's",
	"session/streamsession/session.go: .Histogram()":             "secondChecks.cells, where the plan is made",
	"session/streamsession/rehearse.go: .Histogram()":            "the same plan",
	"curator/runner.go: engine.Run(":                             "by those below, and by nobody else",
	"curator/runner.go: engine.Fetch(":                           "by the one below",
	"curator/runner.go: engine.RunPublic(":                       "by the one below",
	"curator/computation.go: runner.Run(":                        "what planner.prepare returned",
	"session/sparsesession/session.go: c.Run(":                   "what was made above it",
	"session/holdoutsession/ask.go: c.Run(":                      "what prepareHoldout returned",
	"session/streamsession/session.go: c.Run(":                   "the histogram",
	"session/streamsession/rehearse.go: c.Run(":                  "the histogram",
	"session/training/train.go: c.Fetch(":                        "what prepareTraining returned",
	"session/holdoutsession/prepare.go: c.RunPublic(":            "the training table's, which secondChecks.holdout looks at",
}

// TestWaysToAnEngine: a new way to an engine is a decision, and is checked twice too.
func TestWaysToAnEngine(t *testing.T) {
	var files []string
	for _, folders := range []string{"../curator/*.go", "../curator/*/*.go", "../session/*/*.go"} {
		more, err := filepath.Glob(folders)
		if err != nil || len(more) == 0 {
			t.Fatal(folders, err)
		}
		files = append(files, more...)
	}
	found := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range []string{
			"planner.Prepare(", "planner.PrepareText(", "planner.PrepareTable(", "planner.PrepareHoldout(", ".Histogram()",
			"engine.Run(", "engine.Fetch(", "c.Run(", "c.Fetch(", "engine.RunPublic(", "c.RunPublic(",
			"runner.Run(", "runner.Fetch(", "runner.RunPublic(",
		} {
			if strings.Contains(string(text), way) {
				found[strings.TrimPrefix(file, "../")+": "+way] = true
			}
		}
	}
	for way := range found {
		if waysToAnEngine[way] == "" {
			t.Errorf("%s is a new way to an engine: check what goes there twice, and say where", way)
		}
	}
	for way := range waysToAnEngine {
		if !found[way] {
			t.Errorf("%s is no way any more", way)
		}
	}
}

// TestCorpusIsAgreed: the second check has nothing against what this package is tested with.
func TestCorpusIsAgreed(t *testing.T) {
	w := curatortest.New(t, curatortest.Concentrated)
	asked := 0
	for _, text := range slices.Concat(curatortest.Questions, curatortest.Attacks) {
		st, err := planner.Prepare(w.Dataset, text, planner.Options{})
		if err != nil {
			continue
		}
		asked++
		for _, p := range st.Plans {
			if err := verify.Query(w.Dataset, &p.Query); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	if asked < 70 {
		t.Errorf("only %d questions were looked at", asked)
	}
}

// secret is an exact value that no noise of these tests happens to leave as it is.
const secret = 987_654_321

// marked is an engine whose every exact value is the secret.
type marked struct{ engine.Engine }

func (m marked) Run(_ context.Context, q *tree.Query) (*engine.Result, error) {
	out := make([]sealed.Vector, len(q.Measures))
	for i := range out {
		v := make([]int64, q.Groups())
		for j := range v {
			v[j] = secret
		}
		out[i] = sealed.Seal(v)
	}
	return &engine.Result{Measures: out}, nil
}

// shows returns how a value shows the secret, or nothing.
func shows(v any) string {
	for _, verb := range []string{"%v", "%+v", "%#v", "%d", "%s", "%x", "%X", "%q", "%o", "%b", "%c", "%U", "%e", "%t", "%p"} {
		if text := fmt.Sprintf(verb, v); spells(text) {
			return verb
		}
	}
	if text, err := json.Marshal(v); spells(string(text)) || err != nil && spells(err.Error()) {
		return "json"
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil && spells(err.Error()) {
		return "gob"
	}
	var whole bytes.Buffer
	gob.NewEncoder(&whole).Encode(int64(secret))
	if tail := whole.Bytes()[len(whole.Bytes())-4:]; bytes.Contains(b.Bytes(), tail) {
		return "gob"
	}
	return ""
}

func spells(text string) bool {
	for _, format := range []string{"%d", "%x", "%X", "%o", "%b", "%.3e"} {
		if strings.Contains(text, fmt.Sprintf(format, secret)) {
			return true
		}
	}
	return false
}

func TestNothingShowsExactValues(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	r := w.Record()
	r.Engine = marked{w.Data}
	var calls []mech.Call
	w.Noise.Record(func(c mech.Call) { calls = append(calls, c) })
	a := w.MustAsk("SELECT sex, COUNT(*), SUM(cost), AVG(age) FROM patients GROUP BY sex")
	if len(calls) != 3 || calls[0].Values.Open()[0] != secret {
		t.Fatalf("%d calls", len(calls))
	}
	type inside struct {
		private sealed.Vector
		Public  sealed.Vector
		deep    []any
	}
	vector := calls[0].Values
	for name, v := range map[string]any{
		"answer": a, "answer's fields": *a, "call": calls[0], "vector": vector, "pointer": &vector, "slice": []sealed.Vector{vector},
		"map": map[string]sealed.Vector{"a": vector}, "struct": inside{vector, vector, []any{vector}},
		"pointer to struct": &inside{private: vector},
		"array":             [1]inside{{private: vector}}, "error": fmt.Errorf("failed at %v %d %#v", vector, vector, vector),
		"charge": r.Charges[0], "kept": string(r.Kept[0]), "wrapped": errors.Join(fmt.Errorf("%w: %s", dp.ErrAmount, calls[0].Values)),
	} {
		if how := shows(v); how != "" {
			t.Errorf("the %s shows an exact value with %s", name, how)
		}
	}
	// The test sees a value that is shown.
	for name, v := range map[string]any{"number": int64(secret), "slice": []int64{secret}, "struct": struct{ x []int64 }{[]int64{secret}},
		"error": fmt.Errorf("%x", secret)} {
		if shows(v) == "" {
			t.Errorf("a %s that shows the secret was not noticed", name)
		}
	}
}

// talkative is an engine whose errors hold data, as no engine's may.
type talkative struct{ engine.Engine }

func (talkative) Run(context.Context, *tree.Query) (*engine.Result, error) {
	return nil, fmt.Errorf("cannot cast %d", secret)
}

// The choke point does not rely on engines to keep quiet.
func TestErrorsOfTheEngineAreNotPassedOn(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	w.Record().Engine = talkative{w.Data}
	_, err := w.AskSQL("SELECT COUNT(*) FROM patients")
	if err != sessionhost.ErrRun || shows(err) != "" {
		t.Errorf("got %v", err)
	}
}
