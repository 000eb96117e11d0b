package main

import (
	"database/sql"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
)

var clinicOnce struct {
	sync.Once
	folder string
}

// clinic writes a clinic with a stream, and some questions.
func clinic(t testing.TB) (policy, questions string) {
	t.Helper()
	clinicOnce.Do(func() {
		clinicOnce.folder = filepath.Join(preparedFolder(), "clinic")
		command("demo", "stream", clinicOnce.folder, "--people", "5000", "--questions", "60").wants(t, 0, "5000 patients",
			"discreet stream ask --policy")
		parquet(t, filepath.Join(clinicOnce.folder, "clinic.yaml")) // which open fast
	})
	policy = copied(t, clinicOnce.folder, "clinic.yaml")
	// A wider error makes answers cheap.
	replace(t, policy, "alpha: 0.01", "alpha: 0.1")
	return policy, beside(policy, "questions.txt")
}

// A rehearsal says what a workload would cost and how far off it would be, and leaves nothing
// behind.
func TestStreamRehearse(t *testing.T) {
	policy, questions := clinic(t)
	picture := beside(policy, "cost.svg")
	command("stream", "rehearse", "-p", policy, "-w", questions, "--plot", picture, "--ascii").
		wants(t, 0, "60 questions to the stream patients of clinic: 1440 cells", "no reuse", "exact cache", "median", "weights",
			"error: the furthest answer is off by ", "the promise is 500", "Nothing was charged", "wrote "+picture)
	if text, err := os.ReadFile(picture); err != nil || !strings.Contains(string(text), "<svg") ||
		!strings.Contains(string(text), "exact cache") {
		t.Errorf("the picture is %.100s, %v", text, err)
	}
	// Without a word it is a rehearsal.
	r := command("stream", "-p", policy, "--workload", questions, "--json").wants(t, 0).decode(t)
	report := r["report"].(map[string]any)
	sum := 0.0
	for _, way := range []string{"paid", "plain", "cached", "predicted", "unchecked", "refused"} {
		sum += report[way].(float64)
	}
	if r["questions"] != 60.0 || sum != 60 || r["bound"] != 500.0 || r["max_error"].(float64) > 500 || r["beyond"] != 0.0 {
		t.Errorf("%v", r)
	}
	series := map[string]map[string]any{}
	for _, s := range r["series"].([]any) {
		series[s.(map[string]any)["name"].(string)] = s.(map[string]any)
	}
	if len(series) != 4 {
		t.Fatalf("the series are %v", series)
	}
	for name, s := range series {
		points := s["points"].([]any)
		last := 0.0
		for _, p := range points {
			if y := p.([]any)[1].(float64); y < last {
				t.Errorf("%s: the cost falls", name)
			} else {
				last = y
			}
		}
		if at := points[len(points)-1].([]any); at[0] != 60.0 || at[1] != s["cost"] {
			t.Errorf("%s ends at %v and costs %v", name, at, s["cost"])
		}
	}
	// What the policy's own way cost stands beside its own name.
	cost := report["spent"].(map[string]any)["epsilon"].(float64)
	if own := series["weights"]["cost"].(float64); r["predictor"] != "weights" || report["refused"] != 0.0 || math.Abs(own-cost) > 1e-8 {
		t.Errorf("the stream spent %v, and by %v that is %v", cost, r["predictor"], own)
	}
	if series["no reuse"]["cost"].(float64) < series["exact cache"]["cost"].(float64) {
		t.Errorf("remembering costs more than forgetting: %v", series)
	}
	limited := command("stream", "-p", policy, "-w", questions, "--limit", "7", "--json").wants(t, 0).decode(t)
	if limited["questions"] != 7.0 {
		t.Errorf("%v", limited)
	}
	withInput(t, "# comments, and empty lines\n\n sex = 'F' \nSELECT COUNT(*) FROM patients WHERE sex = 'F'\n")
	if r := command("stream", "-p", policy, "-w", "-", "--json").wants(t, 0).decode(t); r["questions"] != 2.0 ||
		r["report"].(map[string]any)["cached"] != 1.0 {
		t.Errorf("the same in two spellings: %v", r)
	}
	if got := spent(t, policy); got.Charges != 0 || got.Answers != 0 {
		t.Errorf("a rehearsal left %+v", got)
	}
	// Under a delta it is rho that is counted.
	replace(t, policy, "{epsilon: 4,", "{epsilon: 4, delta: 1e-6,")
	command("stream", "-p", policy, "-w", questions, "--limit", "7", "--ascii").wants(t, 0, "cost:  rho ", "\nrho\n").
		lacks(t, "\nepsilon\n")
	if r["claim"] != "epsilon" {
		t.Errorf("the claim is %v", r["claim"])
	}
}

// A line that cannot be asked is named, and nothing is run.
func TestStreamWorkloadBad(t *testing.T) {
	t.Parallel()
	policy, _ := clinic(t)
	for text, want := range map[string][]string{
		"sex = 'F'\n\n# all\nage > 35\n":     {"bad.txt, line 4: ", "in whole ranges"},
		"sex = 'F'\nwho = 'me'\n":            {"line 2: ", `there is no column "who"`},
		"sex = 'F'\nage >= 30)\n":            {"line 2: ", "syntax error"},
		"SELECT SUM(age) FROM patients\n":    {"line 1: "},
		"sex = 'F'\n\xff\n":                  {"line 2: ", "UTF-8"},
		"# nothing\n":                        {"the file has no questions"},
		"":                                   {"the file has no questions"},
		strings.Repeat("x", 64<<10+1):        {"is longer than 65536 bytes"},
		"pid = 3\n":                          {"line 1: "},
		"sex = 'F'; DROP TABLE patients":     {"line 1: "},
		"zip = '1003A' AND sex = 'F'\n":      {"line 1: "},
		"age >= 30 AND EXISTS (SELECT 1)\n":  {"line 1: "},
		"SELECT COUNT(*) FROM visits\n":      {"line 1: "},
		"SELECT age, COUNT(*) FROM patients": {"line 1: "},
	} {
		file := write(t, beside(policy, "bad.txt"), text)
		command("stream", "-p", policy, "-w", file).wants(t, 2, want...)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-w", beside(policy, "none.txt")}, "this file does not exist"},
		{[]string{"-w", filepath.Dir(policy)}, "is a folder"},
		{[]string{"-w", policy, "--limit", "-1"}, "--limit"},
		{[]string{"-w", policy, "--plot", "x.pdf"}, ".svg or .png"},
		{[]string{"-w", policy, "--plot", beside(policy, "none", "x.svg")}, "this folder does not exist"},
		{[]string{"-w", beside(policy, "questions.txt"), "--stream", "other"}, "name one of --dataset clinic --stream patients"},
		{[]string{"-w", beside(policy, "questions.txt"), "--dataset", "other"}, "name one of clinic"},
		{nil, "--workload"},
	} {
		command(append([]string{"stream", "-p", policy}, c.args...)...).wants(t, 2, c.want)
	}
	without := deploy(t, tenQuestions)
	command("stream", "-p", without, "-w", beside(policy, "questions.txt")).wants(t, 2, "the policy has no streams")
	command("stream", "ask", "-p", without, "--as", "ana", "sex = 'F'").wants(t, 2, "the policy has no streams")
	command("stream", "-p", policy, "-w", beside(policy, "bad.txt"), "--json").fails(t, 2, "refused")
	if got := spent(t, policy); got.Charges != 0 {
		t.Errorf("something was charged: %+v", got)
	}
}

// The same question is paid for once, however it is written, also by another process and another
// analyst.
func TestStreamAsk(t *testing.T) {
	policy, questions := clinic(t)
	ask := func(more ...string) result {
		return command(append([]string{"stream", "ask", "-p", policy, "--as", "ana"}, more...)...)
	}
	ask("--explain", "sex = 'F' AND age >= 30").wants(t, 0, "at most epsilon", "off by at most 500")
	if got := spent(t, policy); got.Charges != 0 {
		t.Errorf("explaining costs: %+v", got)
	}
	first := ask("--json", "sex = 'F' AND age >= 30").wants(t, 0).decode(t)
	if first["free"] != false || first["error"] != 500.0 || first["cost"].(map[string]any)["epsilon"] == 0.0 ||
		first["receipt"].(map[string]any)["sequence"] == 0.0 {
		t.Errorf("%v", first)
	}
	truth := 0
	for _, p := range hospital.New(5000, 1).Patients {
		if p.Sex == "F" && p.Age >= 30 {
			truth++
		}
	}
	if off := first["value"].(float64) - float64(truth); off > 500 || off < -500 {
		t.Errorf("the truth is %d, and the answer %v", truth, first["value"])
	}
	for _, again := range []string{"sex = 'F' AND age >= 30", "age >= 30 AND sex IN ('F')",
		"SELECT COUNT(*) FROM patients WHERE NOT (age < 30) AND sex = 'F'"} {
		r := ask("--json", again).wants(t, 0).decode(t)
		if r["value"] != first["value"] || r["way"] != "cached" || r["free"] != true {
			t.Errorf("%s: %v", again, r)
		}
	}
	command("stream", "ask", "-p", policy, "--as", "ben", "sex = 'F' AND age >= 30").wants(t, 0,
		strconv.Itoa(int(first["value"].(float64)))+" ±500 people", "free, it was asked before")
	ask("--explain", "age >= 30 AND sex = 'F'").wants(t, 0, "free: it was asked before")
	// A line that is refused is named, and the others are asked all the same.
	const some = "sex = 'F' AND age >= 30\n# next\nage >= 35\nsex = 'M'\nnonsense(\n"
	withInput(t, some)
	r := ask("--json", "-")
	r.wants(t, 2, "standard input, line 3: ", "and 1 other question is refused too")
	if d := r.decode(t); len(d["answers"].([]any)) != 2 || d["error"].(map[string]any)["kind"] != "refused" ||
		len(d["refused"].([]any)) != 2 || d["refused"].([]any)[1].(map[string]any)["line"] != 5.0 {
		t.Errorf("%v", d)
	}
	withInput(t, some)
	if r := ask("-"); r.code != 2 || strings.Count(r.out, "refused") != 2 || !strings.Contains(r.err, "line 3") {
		t.Errorf("%+v", r)
	}
	withInput(t, "age >= 35\nage >= 36\n")
	ask("-").wants(t, 2, "line 1")
	text := contents(t, questions)
	withInput(t, text)
	r = ask("-").wants(t, 0, "condition", "left: epsilon")
	if n := strings.Count(r.out, "\n"); n < 60 {
		t.Errorf("%d lines", n)
	}
	withInput(t, text)
	if again := ask("-").wants(t, 0); strings.Contains(again.out, "plain ") || strings.Contains(again.out, "paid ") {
		t.Errorf("the second time something was paid for:\n%s", again.out)
	}
	report := command("stream", "report", "-p", policy, "--json").wants(t, 0).decode(t)["streams"].([]any)[0].(map[string]any)
	if report["stream"] != "patients" || report["spent"].(map[string]any)["epsilon"].(float64) <= 0 {
		t.Errorf("%v", report)
	}
	command("stream", "report", "-p", policy).wants(t, 0, "clinic/patients")
	command("ledger", "verify", "-p", policy).wants(t, 0, "is whole")
	command("ledger", "replay", "-p", policy).wants(t, 0)

	for _, c := range [][]string{{"age > 35", "in whole ranges"}, {"", "give a condition"}, {"pid = 3", ""}} {
		ask(c[0]).wants(t, 2, c[1])
	}
	command("stream", "ask", "-p", policy, "--as", "zoe", "sex = 'F'").wants(t, 2, `there is no analyst "zoe"`)
	command("stream", "ask", "-p", policy, "sex = 'F'").wants(t, 2, "--as")
}

// When the budget is gone, hard questions are refused and nothing is spent; what was asked before
// stays free.
func TestStreamWithoutBudget(t *testing.T) {
	t.Parallel()
	policy, _ := clinic(t)
	change(t, policy, func(s string) string {
		return strings.Replace(strings.Replace(s, "budget: 3.5\n", "budget: 0.001\n", 1), "alpha: 0.1",
			"alpha: 0.1\n        predictor: weights", 1)
	})
	command("stream", "list", "-p", policy).wants(t, 2, "one answer within 500 costs", "give a larger budget")
	replace(t, policy, "budget: 0.001\n", "budget: 0.05\n")
	first := command("stream", "ask", "-p", policy, "--as", "ana", "sex = 'F'").wants(t, 0, "epsilon 0.0")
	gone, before := 0, spent(t, policy).Charges
	for _, q := range hospital.Workload(9, 3) {
		r := command("stream", "ask", "-p", policy, "--as", "ana", q)
		switch {
		case r.code == 2:
			r.wants(t, 2, "cannot answer this with what is left of its budget")
			gone++
		case strings.Contains(r.out, "the budget is used up"):
			r.wants(t, 0, "nobody knows how far off it is").lacks(t, "±")
			gone++
		default:
			r.wants(t, 0, "±500 people", "price: ")
		}
	}
	if after := spent(t, policy).Charges; gone < 5 || after > before+4 {
		t.Errorf("for %d the budget was gone, and %d were charged", gone, after-before)
	}
	value, _, _ := strings.Cut(first.out, "\n")
	command("stream", "ask", "-p", policy, "--as", "ana", "sex = 'F'").wants(t, 0, value, "free, it was asked before")
	accounts := command("budget", "-p", policy, "--json").wants(t, 0).decode(t)["accounts"].([]any)
	if e := accounts[0].(map[string]any)["spent"].(map[string]any)["epsilon"].(float64); e > 0.05 {
		t.Errorf("the stream took %v", e)
	}
}

// The table that a stream predicts is written whole, in both formats, with the same numbers.
func TestStreamSynthetic(t *testing.T) {
	t.Parallel()
	policy, _ := clinic(t)
	command("stream", "ask", "-p", policy, "--as", "ana", "sex = 'F'").wants(t, 0)
	out := command("stream", "synthetic", "-p", policy, "--as", "ana").wants(t, 0)
	rows, err := csv.NewReader(strings.NewReader(out.out)).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "sex,diagnosis,smoker,age,count" {
		t.Fatalf("%v, %v", rows[0], err)
	}
	total := 0
	for _, r := range rows[1:] {
		n, err := strconv.Atoi(r[4])
		if err != nil || n < 1 {
			t.Fatalf("%v", r)
		}
		total += n
	}
	for _, name := range []string{"people.csv", "people.parquet", "it's people.parquet"} {
		file := beside(policy, name)
		command("stream", "synthetic", "-p", policy, "--as", "ana", "-o", file).wants(t, 0, "wrote ", strconv.Itoa(total)+" people in all")
		db, err := sql.Open("duckdb", "")
		must(t, err)
		var people, combinations int
		var kind string
		from := "'" + strings.ReplaceAll(file, "'", "''") + "'"
		if err := db.QueryRow("SELECT sum(count)::INT, count(*)::INT, any_value(typeof(count)) FROM "+from).Scan(&people, &combinations,
			&kind); err != nil || people != total || combinations != len(rows)-1 || kind != "BIGINT" {
			t.Errorf("%s has %d people in %d combinations, %s, %v; want %d in %d", name, people, combinations,
				kind, err, total, len(rows)-1)
		}
		db.Close()
	}
	if d := command("stream", "synthetic", "-p", policy, "--as", "ana", "--json").wants(t, 0).decode(t); d["total"] != float64(total) ||
		len(d["rows"].([]any)) != len(rows)-1 {
		t.Errorf("%v", d["total"])
	}
	for file, want := range map[string]string{beside(policy, "x.txt"): ".csv or .parquet",
		beside(policy, "none", "x.csv"): "this folder does not exist", beside(policy, "x"): ".csv or .parquet"} {
		command("stream", "synthetic", "-p", policy, "--as", "ana", "-o", file).wants(t, 2, want)
	}
	command("stream", "synthetic", "-p", policy, "--as", "zoe").wants(t, 2)
	entries, err := os.ReadDir(filepath.Dir(policy))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".discreet") {
			t.Errorf("%s was left behind", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
	if got := spent(t, policy); got.Charges != 1 {
		t.Errorf("the table costs: %+v", got)
	}
}

func TestStreamList(t *testing.T) {
	t.Parallel()
	policy, _ := clinic(t)
	command("stream", "list", "-p", policy).wants(t, 0, "patients of clinic, over the table patients", "age: 0..9, 10..19, ",
		"1440 cells", "epsilon")
	all := command("stream", "list", "-p", policy, "--json").wants(t, 0).decode(t)["streams"].([]any)
	if one := all[0].(map[string]any); len(all) != 1 || one["cells"] != 1440.0 || one["error"] != 500.0 ||
		len(one["attributes"].([]any)) != 4 {
		t.Errorf("%v", all)
	}
	// Of several, one is to be named.
	change(t, policy, func(s string) string {
		return s + "      ages:\n        table: patients\n        columns: {age: {width: 10}}\n        size: 5000\n        alpha: 0.1\n"
	})
	command("stream", "list", "-p", policy).wants(t, 0, "ages of clinic")
	command("stream", "ask", "-p", policy, "--as", "ana", "age >= 30").wants(t, 2,
		"there are several streams; name one of --dataset clinic --stream patients, --dataset clinic --stream ages")
	command("stream", "ask", "-p", policy, "--as", "ana", "--stream", "ages", "age >= 30").wants(t, 0, "people")
	command("stream", "ask", "-p", policy, "--as", "ana", "--stream", "ages", "sex = 'F'").wants(t, 2)
}

func TestStreamDemo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command("demo", "stream", dir+"/a", "--people", "10").wants(t, 2, "--people 10: make up 1000 to 5000000")
	command("demo", "stream", dir+"/a", "--questions", "0").wants(t, 2, "--questions 0")
	d := command("demo", "stream", dir+"/a", "--people", "1000", "--questions", "3", "--json").wants(t, 0).decode(t)
	if d["people"] != 1000.0 {
		t.Errorf("%v", d)
	}
	command("demo", "stream", dir+"/a").wants(t, 2, "is not empty; name a new folder")
	command("check", d["policy"].(string)).wants(t, 0)
}
