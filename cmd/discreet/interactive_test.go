package main

import (
	"os"
	"strings"
	"testing"
)

// typed runs a command with a text as its standard input.
func typed(t *testing.T, text string, args ...string) result {
	t.Helper()
	withInput(t, text)
	return command(args...)
}

// Statements on standard input run in order, up to the first that fails.
func TestScript(t *testing.T) {
	policy := deploy(t, tenQuestions)
	query := []string{"query", "-p", policy, "--as", "ana"}
	const two = "SELECT COUNT(*) FROM patients; -- all\nSELECT COUNT(*) FROM visits;\n"
	for _, args := range [][]string{query, append(query[:len(query):len(query)], "-")} {
		r := typed(t, two, args...).wants(t, 0)
		if n := strings.Count(r.out, "count  ±95%"); n != 2 {
			t.Errorf("%d answers\n%s", n, r.out)
		}
	}
	typed(t, "SET dp.epsilon = 0.2; SELECT COUNT(*) FROM patients WHERE age > 3; RESET dp.epsilon; SELECT COUNT(*) "+
		"FROM patients WHERE age > 4", query...).
		wants(t, 0, "price: epsilon 0.2; left: epsilon 0.6", "price: epsilon 0.1; left: epsilon 0.5")
	typed(t, "EXPLAIN SELECT COUNT(*) FROM patients WHERE age > 5;", query...).wants(t, 0, "one person moves it by", "left: epsilon 0.5")
	typed(t, "SHOW dp.epsilon; SHOW dp.budget; SHOW ALL;", append(query, "--epsilon", "0.3")...).wants(t, 0, "dp.epsilon  0.3",
		"hospital/ben", "dp.max_groups")
	typed(t, "SET dp.error = 500; SET dp.epsilon = 0.2; EXPLAIN SELECT COUNT(*) FROM patients WHERE age > 6; SET dp.error = 500; EXPLAIN "+
		"SELECT COUNT(*) FROM patients WHERE age > 6", query...).wants(t, 0, "price: epsilon 0.2;", "the error asked for")

	before := spent(t, policy)
	// A failure ends it, with its own exit code, and what stands behind is not asked.
	for text, code := range map[string]int{
		"SELECT COUNT(*) FROM patients;\nSELECT 1 FROM nowhere;\nSELECT COUNT(*) FROM patients WHERE age > 90": 2,
		"SET dp.epsilon = 0.5; SET dp.delta = little; SELECT COUNT(*) FROM patients WHERE age > 90":            2,
		"EXPLAIN ANALYZE SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM patients WHERE age > 90":          2,
		"SELECT COUNT(*) FROM patients WHERE zip = '1;\nSELECT COUNT(*) FROM patients WHERE age > 90":          2,
		"\\d\n;SELECT COUNT(*) FROM patients WHERE age > 90":                                                   2,
		"  \n-- nothing\n": 2,
		"SELECT COUNT(*) FROM patients;" + strings.Repeat("-", 1<<20): 2,
	} {
		r := typed(t, text, query...)
		if r.code != code || !strings.Contains(r.err, "refused: ") {
			t.Errorf("%.80q: exit code %d\n%s%s", text, r.code, r.out, r.err)
		}
	}
	if r := typed(t, "SELECT COUNT(*) FROM patients;\n  SELECT COUNT(x)\n  FROM patients", query...); r.code != 2 ||
		!strings.Contains(r.err, "\n    SELECT COUNT(x)\n                 ^\n") {
		t.Errorf("it points at %s", r.err)
	}
	typed(t, two, append(query, "--request", "r")...).wants(t, 2, "--request names one question, but there are 2")
	if after := spent(t, policy); after.Head != before.Head {
		t.Error("something was asked behind a failure")
	}
	typed(t, "SET dp.epsilon = 0.5; SELECT COUNT(*) FROM patients WHERE age > 7; SELECT COUNT(*) FROM patients WHERE age > 8",
		query...).code3(t)
	// An argument is one question, as ever.
	asks(policy, "SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits").wants(t, 2)
	asks(policy, "SET dp.epsilon = 1").wants(t, 2)
	asks(policy, "EXPLAIN "+people).wants(t, 2)
}

func (r result) code3(t *testing.T) {
	t.Helper()
	if r.code != 3 || !strings.Contains(r.out, "price: epsilon 0.5") || !strings.Contains(r.err, "budget exhausted") {
		t.Errorf("exit code %d\n%s%s", r.code, r.out, r.err)
	}
}

// A dialogue without a terminal goes on after what fails.
func TestDialogue(t *testing.T) {
	policy := deploy(t, tenQuestions)
	query := []string{"query", "-p", policy, "--as", "ana", "-i"}
	r := typed(t, `\d patents
\d PATIENTS
nonsense;
SELECT COUNT(*)
\budget
FROM patients;
SELECT 'a
\q;
'; \q
SET dp.epsilon = 9; SELECT COUNT(*) FROM patients WHERE age > 3;
SELECT 1 FROM nowhere; SELECT COUNT(*) FROM patients WHERE age > 3;
RESET ALL;
\json on
SELECT sex, COUNT(*) FROM patients GROUP BY sex;
SHOW dp.epsilon;
EXPLAIN SELECT COUNT(*) FROM visits;
nonsense;
\json off
\json maybe
\c
\c clinic
\c hospital
\l
\set
\h
\q now
\explain SELECT COUNT(*) FROM nowhere;
EXPLAIN SELECT COUNT(*) FROM elsewhere;
\explain SELECT COUNT(*) FROM visits;
\q
SELECT COUNT(*) FROM patients WHERE age > 99;
`, query...).wants(t, 0,
		`there is no table "patents"; the tables are patients, visits`,
		"age        integer  no    0 .. 110    1     yes          yes       all 111 between the bounds",
		"sex        text     yes   -           -     no           yes       F, M, X",
		"hospital (1 left)> ", "           ...> ", "hospital/ana", "price: epsilon 0.1; left: epsilon 0.9",
		"at most 0.5", `there is no table "nowhere"`, `"receipt": {"sequence":`, `"settings": {"dp.epsilon":null}`, `"measures":[`,
		`"error": {"kind":"refused"`,
		`write \json on or \json off`, `\c needs something after it`, `there is no dataset "clinic"; the datasets are hospital`,
		"*  hospital  patients.pid  epsilon 1", "(the default)", "SET dp.epsilon = 0.5;", `\q takes nothing after it`,
		"\n  SELECT COUNT(*) FROM nowhere\n                       ^\n",
		"\n  EXPLAIN SELECT COUNT(*) FROM elsewhere\n                               ^\n", "noise scale")
	if n := spent(t, policy).Answers; n != 2 {
		t.Errorf("%d answers\n%s%s", n, r.out, r.err)
	}
	// The end of the input ends it too, and what was begun is not asked.
	typed(t, people, query...).wants(t, 0, "...> ").lacks(t, "price")
	typed(t, "quit;\nnonsense;", query...).wants(t, 0).lacks(t, "refused")
	typed(t, "", append(query, people)...).wants(t, 2, "you already gave one")
	typed(t, "", append(query, "--request", "x")...).wants(t, 2, "--request names one question")
	typed(t, "", append(query, "--dataset", "clinic")...).wants(t, 2, `there is no dataset "clinic"`)
	typed(t, people+";", "query", "-p", policy, "--as", "eve", "-i").wants(t, 0, "does not list this analyst", `there is no analyst "eve"`)
	typed(t, strings.Repeat("x", 2<<20), query...).code1(t)
}

func (r result) code1(t *testing.T) {
	t.Helper()
	if r.code != 1 || !strings.Contains(r.err, "too long") {
		t.Errorf("exit code %d\n%.1000s", r.code, r.err)
	}
}

func TestDialogueChoosesADataset(t *testing.T) {
	policy := deploy(t, tenQuestions)
	change(t, policy, func(s string) string {
		_, body, _ := strings.Cut(s, "datasets:\n")
		return s + strings.Replace(strings.Replace(body, "  hospital:", "  clinic-with-a-very-long-name:", 1),
			"source: data", "source: other", 1)
	})
	must(t, os.CopyFS(beside(policy, "other"), os.DirFS(beside(policy, "data"))))
	typed(t, "\\d\n"+people+";\n\\c hospital\n"+people+";\n\\c clinic-with-a-very-long-name\n\\d\n", "query", "-p",
		policy, "--as", "ana", "-i").wants(t, 0,
		"discreet> ", "The policy has several datasets; choose one with \\c", "no dataset is chosen",
		"refused: the policy has several datasets",
		"hospital (0.9 left)> ", "clinic-with-a-ver... (1 left)> ", "at most one row, by pid")
}
