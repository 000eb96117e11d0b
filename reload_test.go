package discreet_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/policy"
)

// reloadable is a hospital under a policy that the test changes.
type reloadable struct {
	*discreet.DB
	t    *testing.T
	path string
}

func newReloadable(t *testing.T, budget string) *reloadable {
	dir := t.TempDir()
	if err := hospital.New(100, 1).Write(filepath.Join(dir, "data")); err != nil {
		t.Fatal(err)
	}
	r := &reloadable{t: t, path: filepath.Join(dir, "policy.yaml")}
	r.write("datasets:\n" + hospital.Dataset("hospital", "data", budget))
	r.DB = open(t, r.path)
	return r
}

func (r *reloadable) write(text string) {
	r.t.Helper()
	if err := os.WriteFile(r.path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reloadable) replace(old, new string) {
	r.t.Helper()
	text, err := os.ReadFile(r.path)
	if err != nil || !strings.Contains(string(text), old) {
		r.t.Fatalf("the policy has no %q: %v", old, err)
	}
	r.write(strings.Replace(string(text), old, new, 1))
}

// reload changes a text of the policy, reads it again, and returns what has changed.
func (r *reloadable) reload(old, new string) map[string]api.PolicyChange {
	r.t.Helper()
	r.replace(old, new)
	out, err := r.Reload(background, false)
	if err != nil || !out.Applied {
		r.t.Fatalf("%s: %+v, %v", new, out, err)
	}
	changes := map[string]api.PolicyChange{}
	for _, c := range out.Changes {
		changes[c.What] = c
	}
	return changes
}

func (r *reloadable) ask(analyst, sql string) (*api.Answer, error) {
	return r.Ask(background, api.Question{Analyst: analyst, SQL: sql})
}

func (r *reloadable) must(analyst, sql string) *api.Answer {
	r.t.Helper()
	a, err := r.ask(analyst, sql)
	if err != nil {
		r.t.Fatalf("%s: %s: %v", analyst, sql, err)
	}
	return a
}

func (r *reloadable) refuses(analyst, sql, why string) {
	r.t.Helper()
	var refusal *api.Refusal
	if _, err := r.ask(analyst, sql); !errors.As(err, &refusal) || !strings.Contains(err.Error(), why) {
		r.t.Errorf("%s: %s: %v", analyst, sql, err)
	}
}

// spent is what the dataset has spent, and what an analyst has.
func (r *reloadable) spent(analyst string) (all, own dp.Amount) {
	r.t.Helper()
	accounts, err := r.Budget(background, "")
	if err != nil {
		r.t.Fatal(err)
	}
	for _, a := range accounts {
		if a.Name == "hospital/"+analyst {
			own = a.Spent.Epsilon
		}
	}
	return accounts[0].Spent.Epsilon, own
}

const (
	tenths = "{epsilon: 1, per_query: {default: 0.1}}"
	ages   = "SELECT SUM(age) FROM patients"
)

// Who may ask changes at once, and nobody gets back what was spent, also not by going and coming.
func TestReloadAnalysts(t *testing.T) {
	r := newReloadable(t, tenths)
	r.must("ben", people)
	r.refuses("eve", people, "there is no analyst")
	changes := r.reload("ben: {share: 0.5}", "eve: {share: 0.1}")
	if changes["analyst ben"].Was != "share 0.5" || changes["analyst eve"].Is != "share 0.1" || len(changes) != 2 {
		t.Errorf("%+v", changes)
	}
	if a := r.must("eve", people); !a.Receipt.Free {
		t.Error("what was paid for before is paid again")
	}
	r.must("eve", ages)
	if _, err := r.ask("eve", "SELECT COUNT(*) FROM visits"); err == nil {
		t.Error("a new analyst has more than the quota")
	}
	r.refuses("ben", people, "there is no analyst")
	r.reload("eve: {share: 0.1}", "ben: {share: 0.1}")
	if _, err := r.ask("ben", "SELECT COUNT(*) FROM visits"); err == nil {
		t.Error("an analyst who came back has forgotten what was spent")
	}
	if all, own := r.spent("ben"); all.String() != "0.2" || own.String() != "0.1" {
		t.Errorf("spent %v, and %v by ben", all, own)
	}
}

// An answer that was paid for under other bounds, limits or keys is none of a new question's.
func TestReloadAnswers(t *testing.T) {
	for _, c := range []struct {
		sql, old, new, what, means string
		times                      float64
	}{
		{ages, "bounds: [0, 110]", "bounds: [0, 165]", "bounds of patients.age", "noise of SUM 1.5 times as large", 1.5},
		{ages, "bounds: [0, 110]", "bounds: [-220, 55]", "bounds of patients.age", "noise of SUM 2 times as large", 2},
		{"SELECT COUNT(*) FROM visits", "max_rows: 6", "max_rows: 3", "max_rows of visits", "counts and sums 0.5 times as large", 0.5},
		{"SELECT SUM(cost) FROM visits", "max_rows: 6", "max_rows: 12", "max_rows of visits", "counts and sums 2 times as large", 2},
		{"SELECT sex, COUNT(*) FROM patients GROUP BY sex", "keys: [F, M, X]", "keys: [F, M, X, Y]", "keys of patients.sex",
			"which groups", 1},
	} {
		r := newReloadable(t, tenths)
		deviation := func() float64 {
			x, err := r.Explain(background, api.Question{Analyst: "ana", SQL: c.sql})
			if err != nil {
				t.Fatal(err)
			}
			return x.Questions[0].Measures[0].Deviation
		}
		r.must("ana", c.sql)
		before := deviation()
		if got := r.reload(c.old, c.new)[c.what]; !strings.Contains(got.Means, c.means) {
			t.Errorf("%s: %+v", c.new, got)
		}
		if got := deviation() / before; got < c.times*0.99 || got > c.times*1.01 {
			t.Errorf("%s: the noise is %v times as large; want %v", c.new, got, c.times)
		}
		if a := r.must("ana", c.sql); a.Receipt.Free {
			t.Errorf("%s: the answer from before was given", c.new)
		}
		if all, _ := r.spent("ana"); all.String() != "0.2" {
			t.Errorf("%s: spent %v", c.new, all)
		}
		r.reload(c.new, c.old)
		if a := r.must("ana", c.sql); !a.Receipt.Free {
			t.Errorf("%s: what was paid for under the policy that came back is paid again", c.old)
		}
	}
}

// Limits are not chosen from a count that was made for another policy's question: its cells would
// be taken for what they are not. Under another policy with the same count they are.
func TestReloadAfterCount(t *testing.T) {
	for new, want := range map[string]error{"max_sum: 500, bounds: [0, 2000]": api.ErrChanging, "bounds: [0, 2000], nullable: false": nil} {
		r := newReloadable(t, "{epsilon: 10, per_query: {default: 0.5}}")
		r.reload("max_rows: 6", "max_rows: auto")
		first, then, err := r.First(background, api.Question{Analyst: "ana", SQL: "SELECT SUM(cost) FROM visits"})
		if err != nil || first == nil {
			t.Fatal(first, err)
		}
		if then.Count, err = r.Ask(background, *first); err != nil {
			t.Fatal(err)
		}
		paid, _ := r.spent("ana")
		r.reload("bounds: [0, 2000]", new)
		then.Alone = true
		if _, err := r.Ask(background, then); !errors.Is(err, want) {
			t.Errorf("%s: %v", new, err)
		}
		if all, _ := r.spent("ana"); want != nil && all != paid {
			t.Errorf("%s: spent %v, and before %v", new, all, paid)
		}
	}
}

// Columns and views come and go.
func TestReloadTables(t *testing.T) {
	r := newReloadable(t, tenths)
	old, smokers := "          smoker:    {type: boolean}\n", "SELECT COUNT(*) FROM patients WHERE smoker"
	r.must("ana", smokers)
	if changes := r.reload(old, ""); changes["column patients.smoker"].Was != "boolean, keys 2 public" {
		t.Errorf("%+v", changes)
	}
	r.refuses("ana", smokers, "smoker")
	r.reload("    tables:", "    views: {old: SELECT age FROM patients WHERE age > 60}\n    tables:")
	r.must("ana", "SELECT COUNT(*) FROM old")
	if d, err := r.Describe(background, api.Question{Analyst: "ana", SQL: "SELECT COUNT(*) FROM old WHERE age < $1"}); err != nil ||
		d.Parameters[0] != "integer" {
		t.Errorf("%+v, %v", d, err)
	}
	r.reload("          cost:      ", old+"          cost:      ")
	if a := r.must("ana", smokers); !a.Receipt.Free {
		t.Error("the column is another one")
	}
}

// What has a mistake, or needs a restart, changes nothing and says what it is.
func TestReloadRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"max_rows: 6", "max_rows: six", "policy.yaml:"},
		{"epsilon: 1,", "epsilon: 2,", "(hospital.budget.epsilon)"},
		{"epsilon: 1,", "epsilon: 1, delta: 1e-6,", "hospital.budget.delta"},
		{"path: pid ->", "path: vid ->", "hospital.tables.visits.path"},
		{"unique: pid", "{max_rows: 2, max_groups: 1}", "policy.yaml:"},
		{"        unique: pid\n", "        max_rows: 2\n        max_groups: 2\n", "hospital.tables.patients.unique"},
		{"source: data", "source: other", "hospital.source"},
		{"    unit:", "    neighbours: substitute\n    unit:", "hospital.neighbours"},
		{"    unit:", "    release: {tick: 1s}\n    unit:", "hospital.release"},
		{"    unit:", "    failures: 9\n    unit:", "hospital.failures"},
		{"      visits:", "      stays: {path: pid -> patients.pid, unique: pid, columns: {}}\n      visits:", "hospital.tables.stays"},
		{"datasets:", "ledger: other.ledger\ndatasets:", "(ledger)"},
		{"  hospital:", "  clinic:", "datasets.clinic, datasets.hospital"},
		{"    tables:", "    views: {old: SELECT years FROM patients}\n    tables:", "years"},
		{"smoker: ", "sober: ", "sober"}, // which is not in the data
	} {
		r := newReloadable(t, tenths)
		r.must("ana", people)
		before := r.Policy()
		r.replace(c.old, c.new)
		for _, trial := range []bool{true, false} {
			out, err := r.Reload(background, trial)
			if trial && c.want == "sober" {
				continue // the data is not looked at
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || out != nil {
				t.Errorf("%s: %+v, %v", c.new, out, err)
			}
		}
		if r.Policy() != before {
			t.Errorf("%s: the policy has changed", c.new)
		}
		if a := r.must("ana", people); !a.Receipt.Free {
			t.Errorf("%s: another dataset is asked", c.new)
		}
	}
}

// What is no file is not waited for.
func TestReloadReadsFiles(t *testing.T) {
	r := newReloadable(t, tenths)
	if err := errors.Join(os.Remove(r.path), os.Symlink(os.DevNull, r.path)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reload(background, false); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Error(err)
	}
}

// On trial nothing changes.
func TestReloadOnTrial(t *testing.T) {
	r := newReloadable(t, tenths)
	r.replace("ben: {share: 0.5}", "eve: {share: 0.5}")
	if out, err := r.Reload(background, true); err != nil || out.Applied || len(out.Changes) != 2 {
		t.Errorf("%+v, %v", out, err)
	}
	r.refuses("eve", people, "there is no analyst")
	r.must("ben", people)
}

// A session of the sparse vector goes on where tables and views are the same and its analyst may
// ask, and ends otherwise.
func TestReloadSparse(t *testing.T) {
	r := newReloadable(t, "{epsilon: 10, per_query: {default: 0.1}}")
	session := func() *discreet.Sparse {
		s, err := r.OpenSparse(background, api.SparseQuestion{Analyst: "ben", Epsilon: dp.One, Above: 3, Sensitivity: 1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	ask := func(s *discreet.Sparse) error {
		_, err := s.Ask(background, people, "100000")
		return err
	}
	s := session()
	r.reload("ana: {share: 1}", "ana: {share: 0.9}")
	if err := ask(s); err != nil {
		t.Error(err)
	}
	r.reload("          smoker:    {type: boolean}\n", "")
	if err := ask(s); !errors.Is(err, api.ErrSessionPolicy) {
		t.Errorf("the session has a column that is gone: %v", err)
	}
	s = session()
	r.reload(", ben: {share: 0.5}", "")
	if err := ask(s); !errors.As(err, new(*api.Refusal)) {
		t.Errorf("the analyst is gone: %v", err)
	}
}

// Questions and reloads at once: each question is answered or refused under one of the policies,
// what was spent is what the answers cost, and the data of earlier policies is closed in the end.
func TestReloadWhileAsked(t *testing.T) {
	r := newReloadable(t, "{epsilon: 100, per_query: {default: 0.001}}")
	r.must("ana", people)
	var asking sync.WaitGroup
	var mu sync.Mutex
	paid, _ := r.spent("ana")
	for i := range 4 {
		asking.Go(func() {
			for n := range 25 {
				a, err := r.ask("ana", fmt.Sprintf("SELECT COUNT(*), SUM(age) FROM patients WHERE age > %d", (i*25+n)%60))
				if err != nil {
					t.Error(err)
					continue
				}
				mu.Lock()
				paid = paid.Add(a.Cost.Epsilon)
				mu.Unlock()
			}
		})
	}
	bounds := []string{"bounds: [0, 110]", "bounds: [0, 120]", "bounds: [0, 130]"}
	for n := range 9 {
		r.reload(bounds[n%3], bounds[(n+1)%3])
		runtime.GC()
	}
	asking.Wait()
	if all, _ := r.spent("ana"); all != paid {
		t.Errorf("spent %v, and answers cost %v", all, paid)
	}
}

// Policies are compared key by key: one that this test does not know is to be thought about.
func TestReloadOfEverything(t *testing.T) {
	r := newReloadable(t, tenths)
	changes := r.reload("per_query: {default: 0.1}", "per_query: {default: 0.2, max: 0.5, min: 0.01}")
	if changes["per_query default"].Is != "0.2" || changes["per_query max"].Was != "1" || changes["per_query min"].Is != "0.01" {
		t.Errorf("%+v", changes)
	}
	changes = r.reload("    tables:", "    groups: {night: {share: 0.2, analysts: [ana, ben]}}\n    max_fanout: 7\n    tables:")
	if changes["group night"].Is != "share 0.2" || changes["max_fanout"].Is != "7" {
		t.Errorf("%+v", changes)
	}
	changes = r.reload("max_rows: 6", "max_joined: 9\n        max_rows: auto")
	if changes["max_rows of visits"].Is != "auto" || changes["max_joined of visits"].Is != "9" {
		t.Errorf("%+v", changes)
	}
	changes = r.reload("ben: {share: 0.5}", "ben: {epsilon: 0.2, expires: 2999-01-01}")
	if changes["quota of ben"].Is != "epsilon 0.2" || changes["last day of ben"].Is != "2998-12-31" {
		t.Errorf("%+v", changes)
	}
	if changes = r.reload("datasets:", "# a remark\ndatasets:"); len(changes) != 0 {
		t.Errorf("%+v", changes)
	}
	text, err := os.ReadFile(r.path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(r.path, text)
	if err != nil || policy.CheckReload(r.Policy(), p) != nil {
		t.Error(err)
	}
}

// A stream goes on where it was, with the answers that were paid for; and a policy under which it
// could not be asked is refused.
func TestReloadStream(t *testing.T) {
	dir := t.TempDir()
	db := streamDB(t, dir)
	defer db.Close()
	r := &reloadable{DB: db, t: t, path: filepath.Join(dir, "policy.yaml")}
	q := api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F' AND age >= 37"}
	a, err := r.AskStream(background, q)
	if err != nil {
		t.Fatal(err)
	}
	r.reload("bounds: [0, 10000]", "bounds: [0, 20000]") // of a column that it does not have
	if b, err := r.AskStream(background, q); err != nil || !b.Free || b.Value != a.Value {
		t.Errorf("%+v, %v; was %+v", b, err, a)
	}
	if now, _ := r.spent("ana"); now != a.Cost.Epsilon {
		t.Errorf("spent %v", now)
	}
	r.replace("          smoker:    {type: boolean}\n", "")
	if _, err := r.Reload(background, false); err == nil || !strings.Contains(err.Error(), "smoker") {
		t.Error(err)
	}
}
