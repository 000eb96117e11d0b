package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/hospital"
)

// files writes a hospital's CSV files and returns their folder.
func files(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := hospital.New(300, 1).Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A newcomer's walk: draft, check, ask; fill in, check, ask more.
func TestWalk(t *testing.T) {
	for _, kind := range []string{"csv", "parquet", "duckdb"} {
		t.Run(kind, func(t *testing.T) {
			dir := files(t)
			policy := filepath.Join(dir, "hospital.yaml")
			args := []string{"init", "-o", policy, "--unit", "patients.pid"}
			csv := func(name string) string { return "read_csv('" + filepath.Join(dir, name) + ".csv')" }
			switch kind {
			case "csv":
				args = append(args, filepath.Join(dir, "patients.csv"), filepath.Join(dir, "visits.csv"))
			case "parquet":
				for _, name := range []string{"patients", "visits"} {
					file := filepath.Join(dir, name+".parquet")
					duck(t, "", "COPY (FROM "+csv(name)+") TO '"+file+"'")
					args = append(args, file)
				}
			case "duckdb":
				file := filepath.Join(dir, "hospital.duckdb")
				duck(t, file, "CREATE TABLE patients AS FROM "+csv("patients"), "CREATE TABLE visits AS FROM "+csv("visits"))
				args = append(args, file)
			}
			command(args...).wants(t, 0, "wrote "+policy, "discreet check "+policy)
			command("check", policy).wants(t, 0, "needs bounds")
			query := func(text string) result { return command("query", "-p", policy, "--as", "analyst", text) }
			query(people).wants(t, 0, "price: epsilon 0.05 ")
			query("SELECT COUNT(*) FROM visits WHERE cost > 100").wants(t, 0)
			query("SELECT smoker, COUNT(*) FROM patients GROUP BY smoker").wants(t, 0, "true ", "NULL")
			query("SELECT AVG(age) FROM patients").wants(t, 2, "ask the owner to add bounds")
			query("SELECT sex, COUNT(*) FROM patients GROUP BY sex").wants(t, 2)

			change(t, policy, func(s string) string {
				s = strings.Replace(s, "# bounds: [lowest, highest] ", "bounds: [0, 110] ", 1)
				return strings.Replace(s, "# keys: [A, B, C] ", "keys: [F, M, X] ", 1)
			})
			command("check", policy).wants(t, 0, "0 .. 110", "3 public")
			query("SELECT sex, COUNT(*), SUM(age), AVG(age) FROM patients GROUP BY sex").wants(t, 0, "sex  count  ±95%")
		})
	}
}

func TestInit(t *testing.T) {
	dir := files(t)
	patients := filepath.Join(dir, "patients.csv")
	draft := command("init", patients).wants(t, 0, "datasets:\n  patients:", "unit: row")
	if strings.Contains(draft.out, "HIV") || strings.Contains(draft.out, "1003A") {
		t.Error("a draft shows data")
	}
	command("init", "--json", patients).wants(t, 0, `"policy": "# A policy for Discreet`)
	command("init", "--trust-data-bounds", patients).wants(t, 0, "READ OFF THE DATA", "bounds_from: data")
	command("init", "--dataset", "clinic", "--analyst", "eva", "--epsilon", "3", "--delta", "0", patients).wants(t, 0, "  clinic:",
		"eva: {share: 1}", "epsilon: 3")

	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"no.csv"}, 1, "no.csv: no such file"},
		{[]string{dir}, 1, "is a folder; name the files in it"},
		{[]string{write(t, filepath.Join(dir, "x.xls"), "x")}, 1, "must end in .csv"},
		{[]string{write(t, filepath.Join(dir, "empty.csv"), "")}, 1, "is empty; the first line"},
		{[]string{write(t, filepath.Join(dir, "bad.parquet"), "PAR1 but not really")}, 1, "cannot read the schema of"},
		{[]string{write(t, filepath.Join(dir, "bad.duckdb"), "no database")}, 1, "is not a DuckDB file"},
		{nil, 2, `expected "<files>`},
		{[]string{"--unit", "patients.no", patients}, 2, "is no column of these tables"},
		{[]string{"--epsilon", "abc", patients}, 2, "not an amount of privacy"},
		{[]string{"--dataset", "a b", patients}, 2, "a b"},
		{[]string{patients, patients}, 2, "would both be the table"},
	} {
		command(append([]string{"init"}, c.args...)...).wants(t, c.code, c.says)
	}
	// What is there is not overwritten.
	policy := write(t, filepath.Join(dir, "mine.yaml"), "mine")
	command("init", "-o", policy, patients).wants(t, 2, "exists already")
	if text, _ := os.ReadFile(policy); string(text) != "mine" {
		t.Error("the owner's file is gone")
	}
	command("init", "-o", filepath.Join(dir, "no", "such", "p.yaml"), patients).wants(t, 1, "no such file or directory")

	spaced := filepath.Join(dir, "my patients.csv")
	if err := os.Rename(patients, spaced); err != nil {
		t.Fatal(err)
	}
	policy = filepath.Join(dir, "my policy.yaml")
	command("init", "-o", policy, spaced).wants(t, 0, "discreet check '"+policy+"'")
	command("query", "-p", policy, "--as", "analyst", `SELECT COUNT(*) FROM "my patients"`).wants(t, 0)
}

// A file of another country: what init finds is what check and the questions read, a person's
// column may have another name, and a column that is not read is an error.
func TestInitFindsHowFilesAreSpelt(t *testing.T) {
	dir := t.TempDir()
	patients := write(t, filepath.Join(dir, "patients.csv"), "pid;born;weight\n1;13.12.1970;71,5\n2;NA;80,25\n3;1.2.1980\n4;24.6.2001;60\n")
	labs := write(t, filepath.Join(dir, "labs.csv"), "patient_id,taken\n1,03/04/2021\n1,01/02/2021\n")
	policy := filepath.Join(dir, "p.yaml")
	args := []string{"init", patients, labs, "--unit", "patients.pid", "-o", policy}
	command(args...).wants(t, 0, "note: the table labs is left out of the draft", "--person labs=COLUMN",
		"line 4 has 2 values, and the header has 3",
		"labs.taken: AMBIGUOUS: date DD/MM/YYYY, or date MM/DD/YYYY")
	command("check", policy).wants(t, 0, "note: patients: line 4 has 2 values")
	change(t, policy, func(s string) string {
		if !strings.Contains(s, "#     path: patient_id -> patients.pid") || !strings.Contains(s, "LEFT OUT: the table 'labs'") {
			t.Errorf("no path to write in\n%s", s)
		}
		return strings.Replace(s, "format: DD.MM.YYYY", "format: MM.DD.YYYY", 1)
	})
	command("check", policy).wants(t, 1, "UNREAD: patients.born: all of the values are not date in the format MM.DD.YYYY",
		`they look like type: date, format: "DD.MM.YYYY"`)
	command("check", "--json", policy).wants(t, 1, `"unread":true`, `"ok": false`)
	if err := os.Remove(policy); err != nil {
		t.Fatal(err)
	}
	command(append(args, "--person", "labs=patient_id")...).wants(t, 0, "wrote "+policy)
	command("query", "-p", policy, "--as", "analyst", "SELECT COUNT(*) FROM labs").wants(t, 0, "price: ", "more at this price")
	for _, bad := range [][2]string{{"labs", "write TABLE=COLUMN"}, {"labs=no", "has no column 'no'"},
		{"no=pid", "there is no table 'no'"}} {
		command("init", patients, labs, "--unit", "patients.pid", "--person", bad[0]).wants(t, 2, bad[1])
	}
	command("init", patients, "--person", "patients=pid").wants(t, 2, "the unit is row")
}
