package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// village is a made-up town that is small.
func village(t testing.TB) (policy, rows string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "town")
	r := command("demo", "train", "--dir", dir, "--rows", "2500", "--json").wants(t, 0).decode(t)
	if r["people"] != 2000.0 || r["new_people"] != 500.0 {
		t.Fatalf("got %v", r)
	}
	return filepath.Join(dir, "town.yaml"), filepath.Join(dir, "new.csv")
}

func trains(policy string, more ...string) result {
	return command(append([]string{"train", "-p", policy, "--as", "ana", "--features", "SELECT * FROM town", "--target", "earns"},
		more...)...)
}

func TestTrain(t *testing.T) {
	policy, rows := village(t)
	trains(policy, "--epsilon", "1", "--explain").wants(t, 0, "price: epsilon 1; left before: epsilon 4", "left after: epsilon 3",
		"objective", "37 weights", "pure differential privacy")
	if q := trains(policy, "--epsilon", "1", "--explain", "--json").wants(t, 0).decode(t); q["affordable"] != true ||
		q["known"] != false || q["method"] != "objective" {
		t.Errorf("got %v", q)
	}
	model := filepath.Join(filepath.Dir(policy), "model.json")
	first := trains(policy, "--epsilon", "1", "--evaluate", "0.5", "-o", model).
		wants(t, 0, "(intercept)", "technician", "share of errors on the training rows: 0.", "guarantee: Whether one person's row",
			"receipt: record ", "left: epsilon 2.5", "wrote ")
	if !strings.HasPrefix(first.err, "price: epsilon 1.5; left before: epsilon 4\nmethod: objective") {
		t.Errorf("the price before is %q", first.err)
	}
	// The same again is the same model, free, whatever file it goes to.
	again := trains(policy, "--epsilon", "1", "--evaluate", "0.5").wants(t, 0, "free, already paid for", "left: epsilon 2.5")
	if _, table, _ := strings.Cut(first.out, "Above zero"); !strings.Contains(again.out, strings.Split(table, "receipt:")[0]) {
		t.Errorf("another model:\n%s\n%s", first.out, again.out)
	}
	trains(policy, "--epsilon", "1", "--evaluate", "0.5", "--explain").wants(t, 0, "free, already paid for by record ")
	v := trains(policy, "--epsilon", "1", "--evaluate", "0.5", "--json").wants(t, 0).decode(t)
	if m, _ := v["model"].(map[string]any); m["format"] != "discreet model" || m["receipt"] == nil ||
		v["receipt"].(map[string]any)["free"] != true {
		t.Errorf("got %v", v)
	}

	p := command("predict", "-m", model, rows).wants(t, 0, "earns,predicted_earns\n")
	if n := strings.Count(p.out, "\n"); n != 501 || !strings.Contains(p.err, " of 500 are wrong: 0.") {
		t.Errorf("%d lines, %q", n, p.err)
	}
	command("predict", "-m", model, "--show").wants(t, 0, "(intercept)", "guarantee: ")
	command("predict", "-m", model, "--pmml").wants(t, 0, "<PMML ", "RegressionModel", "technician")
	command("predict", "-m", model, "--pmml", rows).wants(t, 2)
	command("predict", "-m", model, "--show", "--json").wants(t, 0, `"format": "discreet model"`)
	if j := command("predict", "-m", model, "--json", rows).wants(t, 0).decode(t); j["rows"] != 500.0 ||
		len(j["predictions"].([]any)) != 500 || j["error"].(float64) > 0.4 {
		t.Errorf("%v rows, error %v", j["rows"], j["error"])
	}
	withInput(t, "years,region,school,savings,job,home,hours,age,note\n,,,,,,,,nothing is "+
		"known\n3,north,trade,0,cook,alone,40,30,\"a, b\"\n")
	command("predict", "-m", model, "--scores", "-").wants(t, 0, "note,predicted_earns,score_little,score_much\n", "\"a, b\",little,0.")
	// What is no plain file is written to and not replaced.
	command("predict", "-m", model, "-o", os.DevNull, rows).wants(t, 0)
	if at, err := os.Stat(os.DevNull); err != nil || at.Mode().IsRegular() {
		t.Fatalf("%s was replaced: %v", os.DevNull, err)
	}
	out := filepath.Join(filepath.Dir(policy), "out.csv")
	command("predict", "-m", model, "-o", out, rows).wants(t, 0)
	if text, err := os.ReadFile(out); err != nil || string(text) != p.out {
		t.Errorf("the file differs from what is printed: %v", err)
	}
}

func TestTrainRegression(t *testing.T) {
	t.Parallel()
	policy, rows := village(t)
	model := filepath.Join(filepath.Dir(policy), "model.json")
	command("train", "-p", policy, "--as", "ana", "--features", "SELECT age, job FROM town", "--target", "hours", "--epsilon", "2",
		"-o", model).wants(t, 0, "(intercept)")
	command("predict", "-m", model, rows).wants(t, 0, "predicted_hours\n")
	command("predict", "-m", model, "--pmml").wants(t, 0, "<RegressionModel")
	clips := filepath.Join(filepath.Dir(policy), "clips.json")
	command("train", "-p", policy, "--as", "ana", "--features", "SELECT age, job FROM town", "--target", "hours", "--epsilon", "1",
		"--radius", "1", "-o", clips).wants(t, 0)
	command("predict", "-m", clips, "--pmml").wants(t, 2)
	if r := command("predict", "-m", model, rows); !strings.Contains(r.err, "root mean square error over 500 rows: ") {
		t.Errorf("got %q", r.err)
	}
}

func TestTrainRefuses(t *testing.T) {
	policy, rows := village(t)
	for _, bad := range []struct {
		want string
		args []string
	}{
		{"add --epsilon, the most the model may cost", nil},
		{"--epsilon: ", []string{"--epsilon", "much"}},
		{"--epsilon", []string{"--epsilon", "-1"}},
		{"epsilon above 0", []string{"--epsilon", "0"}},
		{"more than one question may cost", []string{"--epsilon", "3"}},
		{"--evaluate is 0", []string{"--epsilon", "1", "--evaluate", "0"}},
		{"no loss", []string{"--epsilon", "1", "--loss", "logistics"}},
		{"squares are for numbers", []string{"--epsilon", "1", "--loss", "squares"}},
		{"no method", []string{"--epsilon", "1", "--method", "magic"}},
		{"a pure epsilon buys none", []string{"--epsilon", "1", "--method", "minima"}},
		{"too small for this price", []string{"--epsilon", "1", "--method", "objective", "--regulariser", "0.0001"}},
		{"positive number", []string{"--epsilon", "1", "--regulariser", "-1"}},
		{"positive number", []string{"--epsilon", "1", "--radius", "NaN"}},
		{"leave one of the two out", []string{"--epsilon", "1", "--regulariser", "1", "--tune", "1,2"}},
		{"one regulariser to choose from", []string{"--epsilon", "1", "--tune", "1"}},
		{"weight for \"rich\"", []string{"--epsilon", "1", "--weights", "rich=2"}},
		{"--regulariser 0", []string{"--epsilon", "1", "--regulariser", "0"}},
		{"--radius 0", []string{"--epsilon", "1", "--radius", "0"}},
		{"--half-width 0", []string{"--epsilon", "1", "--loss", "huber", "--half-width", "0"}},
		{"--rows 0", []string{"--epsilon", "1", "--rows", "0"}},
		{"too few rows", []string{"--epsilon", "0.01", "--rows", "200"}},
		{"--request is empty", []string{"--epsilon", "1", "--request", ""}},
		{"--splits is for --sweep", []string{"--epsilon", "1", "--splits", "3"}},
		{"this folder does not exist", []string{"--epsilon", "1", "-o", "/nowhere/model.json"}},
	} {
		r := trains(policy, bad.args...)
		if r.code != 2 || !strings.Contains(r.err, bad.want) {
			t.Errorf("%q: exit code %d, %q; want %q", bad.args, r.code, r.err, bad.want)
		}
	}
	for _, bad := range [][3]string{
		{"SELECT age FROM town", "wealth", "wealth"}, {"SELECT COUNT(*) FROM town", "earns", "refused"}, {"SELECT age, FROM town",
			"earns", "refused"}, {"", "earns", "--features is missing"}, {"SELECT id, earns FROM town", "earns", "id"},
	} {
		r := command("train", "-p", policy, "--as", "ana", "--epsilon", "1", "--features", bad[0], "--target", bad[1])
		if r.code != 2 || !strings.Contains(r.err, bad[2]) {
			t.Errorf("%q: exit code %d, %q", bad, r.code, r.err)
		}
	}
	command("train", "-p", policy, "--as", "eve", "--epsilon", "1", "--features", "SELECT * FROM town", "--target", "earns").wants(t, 2)
	trains(policy, "--epsilon", "0", "--json").fails(t, 2, "refused")
	// Nothing of all that was charged.
	trains(policy, "--epsilon", "1", "--explain").wants(t, 0, "left before: epsilon 4")
	trains(policy, "--epsilon", "2").wants(t, 0)
	trains(policy, "--epsilon", "1.9", "--request", "again").wants(t, 0)
	trains(policy, "--epsilon", "1").wants(t, 3)

	model := filepath.Join(filepath.Dir(policy), "model.json")
	trains(policy, "--epsilon", "2", "-o", model).wants(t, 0, "free")
	broken := write(t, filepath.Join(filepath.Dir(policy), "broken.json"), `{"format": "discreet model", "version": 99}`)
	header, _, _ := strings.Cut(contents(t, rows), "\n")
	for input, want := range map[string]string{
		"":                  "no header",
		"age,job\n1,cook\n": "no column",
		header + "\n1,old,0,0,0,cook,trade,alone,north,little\n": "line 2 of standard input",
		header + "\n1,2\n": "wrong number of fields",
		header + ",age\n":  "two columns",
	} {
		withInput(t, input)
		if r := command("predict", "-m", model, "-"); r.code != 2 || !strings.Contains(r.err, want) {
			t.Errorf("%q: exit code %d, %q", input, r.code, r.err)
		}
	}
	command("predict", "-m", broken, rows).wants(t, 2)
	command("predict", "-m", policy, rows).wants(t, 2)
	command("predict", "-m", "none.json", rows).wants(t, 2)
	command("predict", "-m", model).wants(t, 2)
	command("predict", "-m", model, "--show", rows).wants(t, 2)
}

func TestTrainSweep(t *testing.T) {
	t.Parallel()
	plot := filepath.Join(t.TempDir(), "sweep.svg")
	args := []string{"train", "--sweep", "--rows", "2000", "--epsilons", "2,0.5", "--splits", "2"}
	command(append(args, "--plot", plot)...).wants(t, 0, "made-up town: 2,000 rows, 1,600 of them to train on; 37 weights",
		"epsilon 0.5", "objective, rho", "without privacy: 0.", "wrote ")
	if !strings.Contains(contents(t, plot), "What privacy costs a classifier") {
		t.Error("the picture has no title")
	}
	v := command(append(args, "--json")...).wants(t, 0).decode(t)
	if cells := v["cells"].([]any); len(cells) != 12 || cells[0].(map[string]any)["epsilon"] != 0.5 || v["weights"] != 37.0 {
		t.Errorf("got %v", v)
	}
	command("train", "--sweep", "--rows", "1000", "--epsilons", "1", "--splits", "1", "--method", "output", "--neighbours",
		"substitute").wants(t, 0, "substitute neighbours")
	for _, bad := range [][]string{
		{"--rows", "5"}, {"--epsilons", "0"}, {"--epsilons", "x"}, {"--splits", "-1"}, {"--draws", "-2"}, {"--neighbours", "nobody"},
		{"--method", "magic"}, {"--loss", "huber"}, {"--adult", "none.csv"},
		{"--plot", "x.pdf"}, {"--policy", "p.yaml"}, {"--target", "x"}, {"--adult", "x", "--rows", "100"},
		{"--rows", "1000", "--epsilons", "1", "--regulariser", "0.0001", "--method", "objective"},
	} {
		if r := command(append([]string{"train", "--sweep"}, bad...)...); r.code != 2 || r.err == "" {
			t.Errorf("%q: exit code %d, %q", bad, r.code, r.err)
		}
	}
}

func TestTrainDemo(t *testing.T) {
	t.Parallel()
	args := []string{"demo", "train", "--rows", "2000", "--draws", "2", "--epsilons", "1,10"}
	first := command(args...).wants(t, 0, "promised excess", "minima, delta", "Of 24 models, 0 exceed the promise")
	if again := command(args...); again.out != first.out {
		t.Error("the same seed gave another demonstration")
	}
	if v := command(append(args, "--json")...).wants(t, 0).decode(t); len(v["promises"].([]any)) != 12 {
		t.Errorf("got %v", v)
	}
	command("demo", "train", "--rows", "5").wants(t, 2)
	command("demo", "train", "--draws", "0").wants(t, 2)
	command("demo", "train", "--dir", t.TempDir(), "--rows", "100").wants(t, 0, "discreet train --policy ")
	policy, _ := village(t)
	command("demo", "train", "--dir", filepath.Dir(policy)).wants(t, 2, "")
}
