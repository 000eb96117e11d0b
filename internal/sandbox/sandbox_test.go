package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/postquery"
	"github.com/discreet-dp/discreet/internal/fakedata"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/lab/lockstep"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/policy"
)

// openSandbox returns the sandbox of a policy whose data is not there.
func openSandbox(t *testing.T, text string) (*Sandbox, *policy.Policy) {
	t.Helper()
	p, err := policy.Parse(filepath.Join(t.TempDir(), "policy.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s := New(p)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, p
}

func askJSON(t *testing.T, s *Sandbox, q api.Question) string {
	t.Helper()
	a, err := s.Ask(context.Background(), q)
	if err != nil {
		t.Fatalf("%s: %v", q.SQL, err)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const hospitalText = "datasets:\n"

// Limits that choose themselves are chosen here too, and what would be paid is for both questions.
func TestLimitsAreChosen(t *testing.T) {
	text := strings.Replace(hospitalText+hospital.Dataset("d", "nowhere", "{epsilon: 2}"), "max_rows: 6", "max_rows: auto", 1)
	s, _ := openSandbox(t, text)
	a, err := s.Ask(t.Context(), api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM visits WHERE cost > 100"})
	if err != nil {
		t.Fatal(err)
	}
	if e, _ := a.Cost.Epsilon.Rat().Float64(); e < 0.0999 || e > 0.1 || !strings.Contains(strings.Join(a.Notes, " "), "chosen") {
		t.Errorf("%v, %q", a.Cost, a.Notes)
	}
}

// What an audit asks of a policy can be asked here, where there is no file of data at all, and is
// answered by people: counts are far from zero.
func TestEverythingCanBeTried(t *testing.T) {
	for name, text := range map[string]string{
		"hospital": hospitalText + hospital.Dataset("d", "nowhere", "{epsilon: 2}"),
		"shop":     hospital.ShopPolicy,
	} {
		t.Run(name, func(t *testing.T) {
			s, p := openSandbox(t, text)
			ds := p.Datasets[p.Names()[0]]
			asked, empty := 0, 0
			for _, sql := range lockstep.Corpus(ds) {
				a, err := s.Ask(context.Background(), api.Question{Dataset: ds.Name, Analyst: "ana", SQL: sql})
				if err != nil {
					t.Errorf("%s: %v", sql, err)
					continue
				}
				if asked++; len(a.Rows) == 0 {
					empty++
				}
			}
			if asked < 10 || empty > asked/5 {
				t.Errorf("%d asked, %d of them without a row", asked, empty)
			}
		})
	}
}

// The same question has the same answer, to the byte, in any order, in another sandbox and as often
// as one likes; another one has other noise.
func TestTheSameForEverybody(t *testing.T) {
	text := hospitalText + hospital.Dataset("d", "nowhere", "{epsilon: 0.2}")
	one, _ := openSandbox(t, text)
	two, _ := openSandbox(t, text)
	count := api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"}
	groups := api.Question{Dataset: "d", Analyst: "ben", SQL: "SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex"}
	first := askJSON(t, one, count)
	for range 30 { // far beyond the budget
		if got := askJSON(t, one, count); got != first {
			t.Fatalf("%s\n%s", first, got)
		}
	}
	want := askJSON(t, one, groups)
	if got := askJSON(t, two, groups); got != want {
		t.Errorf("%s\n%s", want, got)
	}
	if got := askJSON(t, two, count); got != first {
		t.Errorf("%s\n%s", first, got)
	}
	other := count
	other.SQL += " WHERE age >= 0 OR age IS NULL" // everybody
	if askJSON(t, one, other) == first {
		t.Error("another question has the same noise")
	}
}

// What cannot be asked is refused as it always is, with its position; parameters count.
func TestRefusals(t *testing.T) {
	s, _ := openSandbox(t, hospitalText+hospital.Dataset("d", "nowhere", "{epsilon: 2}"))
	var refusal *api.Refusal
	_, err := s.Ask(context.Background(), api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT * FROM patients"})
	if !errors.As(err, &refusal) || refusal.Position != 7 || refusal.Instead == "" {
		t.Error(err)
	}
	if _, err := s.Ask(context.Background(), api.Question{Dataset: "other", Analyst: "ana", SQL: "SELECT 1"}); !errors.As(err, &refusal) {
		t.Error(err)
	}
	q := api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients WHERE age >= $1"}
	if _, err := s.Ask(context.Background(), q); !errors.As(err, &refusal) {
		t.Error(err)
	}
	q.Parameters = []api.Parameter{{Kind: "integer", Text: "200"}}
	high := askJSON(t, s, q)
	q.Parameters[0].Text = "0"
	if high == askJSON(t, s, q) {
		t.Error("a parameter changes nothing")
	}
}

// Whatever a policy names as the place of its data, nothing of it is read.
func TestNothingIsRead(t *testing.T) {
	folder := t.TempDir()
	fine := func() *policy.Dataset {
		return &policy.Dataset{Tables: map[string]*policy.Table{"t": {Source: filepath.Join(folder, "0.csv")}}}
	}
	if err := refuseOutside(fine(), folder); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*policy.Dataset){
		"source":    func(d *policy.Dataset) { d.Source = "data.duckdb" },
		"version":   func(d *policy.Dataset) { d.VersionQuery = "SELECT 1" },
		"elsewhere": func(d *policy.Dataset) { d.Tables["t"].Source = "/data/patients.csv" },
		"deeper":    func(d *policy.Dataset) { d.Tables["t"].Source = filepath.Join(folder, "..", "patients.csv") },
		"none":      func(d *policy.Dataset) { d.Tables["t"].Source = "" },
		"relation":  func(d *policy.Dataset) { d.Tables["t"].Relation = "public.patients" },
		"prepared":  func(d *policy.Dataset) { d.Tables["t"].Prepared = "prepared.duckdb" },
	} {
		ds := fine()
		spoil(ds)
		if refuseOutside(ds, folder) == nil {
			t.Errorf("%s would be read", name)
		}
	}
}

// No file is left once people are made, not even for a process that is killed, and what somebody
// puts into the place of one is not read. Nothing is made for a sandbox that nobody asked.
func TestNoFiles(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	files := func() (all []string) {
		filepath.WalkDir(temp, func(path string, d os.DirEntry, err error) error {
			if strings.Contains(path, "discreet-sandbox-") || strings.HasSuffix(path, ".csv") {
				all = append(all, path)
			}
			return err
		})
		return all
	}
	s, p := openSandbox(t, hospitalText+hospital.Dataset("d", "nowhere", "{epsilon: 2}"))
	q := api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients"}
	if len(s.towns) != 0 {
		t.Error("something was made for nobody")
	}
	first := askJSON(t, s, q)
	if left := files(); len(left) != 0 {
		t.Error(left)
	}
	made := s.towns["d"].dataset
	if err := os.MkdirAll(filepath.Dir(made.Tables["patients"].Source), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := fakedata.MakeTown(p.Datasets["d"], filepath.Dir(made.Tables["patients"].Source)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(made.Tables["patients"].Source, []byte("age,sex,zip,diagnosis,smoker,cost,pid\n1,F,1001A,flu,true,1,1\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := askJSON(t, s, q); got != first {
		t.Errorf("%s\n%s", first, got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Ask(context.Background(), api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT 1"}); err == nil {
		t.Error("a closed sandbox answers")
	}
}

// An answer that takes long to make is not made: there is no price that would stop somebody.
func TestLargeAnswers(t *testing.T) {
	s, _ := openSandbox(t, `
datasets:
  d:
    engine: duckdb
    source: nowhere
    unit: p.id
    budget: {epsilon: 1, delta: 1e-6}
    analysts: {ana: {share: 1}}
    tables:
      p:
        unique: id
        columns:
          a: {type: integer, bounds: [0, 1000000]}
          b: {type: integer, bounds: [0, 9]}
          c: {type: integer, bounds: [0, 29]}
          k: {type: text, keys: private, nullable: false}
`)
	s.maxNumbers = 1000
	for sql, large := range map[string]bool{
		"SELECT b, c, SUM(a), SUM(a+1), SUM(a+2) FROM p GROUP BY b, c":                                                 false,
		"SELECT b, c, SUM(a), SUM(a+1), SUM(a+2), SUM(a+3) FROM p GROUP BY b, c":                                       true,
		"SELECT b, c, MEDIAN(a), MEDIAN(a+1), MEDIAN(a+2), MEDIAN(a+3) FROM p GROUP BY b, c":                           true,
		"SELECT k, c, COUNT(*) FROM p GROUP BY k, c":                                                                   false,
		"SELECT k, b, c, COUNT(*), SUM(a) FROM p GROUP BY k, b, c":                                                     true,
		"SELECT sum(n) FROM (SELECT b, c, SUM(a), SUM(a+1), SUM(a+2), SUM(a+3) AS n FROM p GROUP BY b, c) AS t":        true,
		"SELECT b, c, SUM(a) FROM p GROUP BY b, c UNION ALL SELECT b, c, SUM(a+1) FROM p WHERE a > 3 GROUP BY b, c":    false,
		"SELECT t.n FROM (SELECT b, c, SUM(a) AS n, SUM(a+1), SUM(a+2), SUM(a+3) FROM p GROUP BY b, c) AS t LIMIT 500": true,
	} {
		_, err := s.Ask(context.Background(), api.Question{Dataset: "d", Analyst: "ana", SQL: sql})
		if large != (err != nil && strings.Contains(err.Error(), "at most 1000 noisy numbers")) || !large && err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// Nothing here waits for what questions about people have: their answers leave on a tick, and who
// waited for them would see when they are there.
func TestWaitsForNobody(t *testing.T) {
	s, _ := openSandbox(t, hospitalText+hospital.Dataset("d", "nowhere", "{epsilon: 2}"))
	q := api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT max(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) AS t"}
	askJSON(t, s, q)
	var rows [][]any
	for range 3000 {
		rows = append(rows, []any{json.Number("1")})
	}
	long := []postquery.Table{{Name: "t", Columns: []postquery.Column{{Name: "i", Kind: postquery.Integer}}, Rows: rows}}
	ctx, stop := context.WithCancel(t.Context())
	var others sync.WaitGroup
	for range postquery.MaxRunning {
		others.Go(func() {
			if out, err := postquery.Run(ctx, "SELECT sum(a.i * b.i * c.i) FROM t a, t b, t c", long); err == nil {
				t.Error("it was not long enough", out)
			}
		})
	}
	for free := false; !free; { // until they have all turns
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := postquery.Describe(short, "SELECT 1", nil)
		cancel()
		free = err != nil
	}
	late := time.AfterFunc(5*time.Second, stop) // sooner than they would end by themselves
	askJSON(t, s, q)
	if !late.Stop() {
		t.Error("it waited for the others")
	}
	stop()
	others.Wait()
}

// What takes too much work to plan is refused here as everywhere, and nobody works for who is gone.
func TestWork(t *testing.T) {
	s, _ := openSandbox(t, hospitalText+hospital.Dataset("d", "nowhere", "{epsilon: 2}"))
	key := "age"
	for range 30 {
		key = "CASE WHEN " + key + " > 1 AND smoker THEN age ELSE 1 END"
	}
	padded := "left(rpad(CAST(age * 7 + length(zip) AS text), 1000, '" + strings.Repeat("ab", 400) + "'), 990)"
	for _, by := range []string{key, padded + ", " + strings.Join(slices.Repeat([]string{padded + " || 'x'"}, 3), ", ")} {
		q := api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients GROUP BY " + by}
		start := golden.CPUTime(t)
		_, err := s.Ask(context.Background(), q)
		if took := golden.CPUTime(t) - start; took > 4*time.Second {
			t.Errorf("%.60s took %v: %v", by, took, err)
		}
	}
	gone, stop := context.WithCancel(context.Background())
	stop()
	if _, err := s.Ask(gone, api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients GROUP BY " + key}); err == nil {
		t.Error("who is gone was answered")
	}
}

// Another policy has other tables, and made-up rows for them.
func TestFollow(t *testing.T) {
	text := hospitalText + hospital.Dataset("d", "nowhere", "{epsilon: 2}")
	s, before := openSandbox(t, text)
	q := api.Question{Dataset: "d", Analyst: "ana", SQL: "SELECT COUNT(*) FROM patients WHERE smoker"}
	first := askJSON(t, s, q)
	for _, smokers := range []bool{false, true} {
		p := before
		if !smokers {
			var err error
			if p, err = policy.Parse(before.Path, []byte(strings.Replace(text, "smoker: ", "sober: ", 1))); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Follow(p); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Ask(context.Background(), q); (err == nil) != smokers {
			t.Errorf("with smokers %v: %v", smokers, err)
		}
	}
	if askJSON(t, s, q) != first {
		t.Error("the policy from before has other people")
	}
}
