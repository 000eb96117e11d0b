package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contentsBelow are the contents of all files of a folder, by their paths.
func contentsBelow(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out[path] = contents(t, path)
		}
		return err
	}))
	return out
}

// A rehearsal tells exact figures, says so first and last, and leaves everything as it was. It does
// not so much as read the ledger.
func TestRehearse(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	asks(policy, people).wants(t, 0)
	workload := write(t, beside(policy, "questions.sql"), people+"; -- and\n\nSELECT ward, AVG(cost) FROM visits GROUP BY ward;\n"+
		"SELECT MEDIAN(age) FROM patients")
	before := contentsBelow(t, filepath.Dir(policy))
	r := command("rehearse", "--policy", policy, "--workload", workload, "--draws", "5").wants(t, 0, "1. "+people, "100  100     0",
		"2. SELECT ward", "emergency", "no exact figures: quantiles", "5 draws")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	for _, line := range []string{lines[0], lines[len(lines)-1], r.err} {
		if !strings.HasPrefix(line, "WARNING: exact, private data") {
			t.Errorf("no warning: %q", line)
		}
	}
	for path, text := range contentsBelow(t, filepath.Dir(policy)) {
		if was, ok := before[path]; !ok || was != text {
			t.Errorf("%s is new or was changed", path)
		}
	}
	spent(t, policy)

	ledger := strings.TrimSuffix(policy, ".yaml") + ".ledger"
	write(t, ledger, "this is no ledger")
	out := fed(people, "rehearse", "--policy", policy, "--workload", "-", "--epsilon", "0.5", "--draws", "1", "--json").wants(t, 0)
	var read struct {
		Warning   string
		Questions []struct {
			Cells []struct{ Exact, Cut float64 }
		}
	}
	must(t, json.Unmarshal([]byte(out.out), &read))
	if read.Warning == "" || len(read.Questions) != 1 || read.Questions[0].Cells[0].Exact != 100 {
		t.Errorf("%s", out.out)
	}
	if contents(t, ledger) != "this is no ledger" {
		t.Error("the ledger was written")
	}
}

// What cannot be rehearsed is refused with a reason, and nothing exact is printed.
func TestRehearseRefuses(t *testing.T) {
	t.Parallel()
	policy := deploy(t, tenQuestions)
	for _, c := range []struct {
		name, workload string
		more           []string
		says           string
	}{
		{"no file", "", []string{"--workload", beside(policy, "missing.sql")}, "missing.sql: no such file"},
		{"nothing", " -- nothing\n;", nil, "--workload has no question"},
		{"a quote", "SELECT COUNT(*) FROM patients WHERE sex = 'F", nil, "ends inside of a quote"},
		{"rows", people + "; SELECT * FROM patients", nil, "question 2: * would show rows of the data"},
		{"no SQL", "HELLO", nil, "question 1"},
		{"SET", "SET dp.max_rows = auto; " + people, nil, "question 1 is SET, and a rehearsal knows no settings"},
		{"epsilon", people, []string{"--epsilon", "much"}, "--epsilon"},
		{"no epsilon", people, []string{"--epsilon", "0"}, "--epsilon"},
		{"too much", people, []string{"--epsilon", "0.9"}, "more than one question may cost"},
		{"draws", people, []string{"--draws", "0"}, "--draws 0"},
		{"dataset", people, []string{"--dataset", "clinic"}, "the policy has hospital"},
	} {
		args := append([]string{"rehearse", "--policy", policy, "--workload", "-"}, c.more...)
		if r := fed(c.workload, args...).wants(t, 2, c.says); r.out != "" {
			t.Errorf("%s: printed %q", c.name, r.out)
		}
	}
	fed(people, "rehearse", "--policy", beside(policy, "no.yaml"), "--workload", "-").wants(t, 1, "no.yaml")
	must(t, os.Remove(beside(policy, "data", "visits.csv")))
	fed(people, "rehearse", "--policy", policy, "--workload", "-").wants(t, 1, "visits.csv does not exist")
	if _, err := os.Stat(strings.TrimSuffix(policy, ".yaml") + ".ledger"); err == nil {
		t.Error("there is a ledger that there was not")
	}
}
