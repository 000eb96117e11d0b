package main

import (
	"os"
	"strings"
	"testing"
)

// Every kind of bad question: refused, free, and with a hint.
func TestRefused(t *testing.T) {
	policy := deploy(t, tenQuestions)
	asks(policy, people).wants(t, 0)
	before := spent(t, policy)
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--epsilon", "0", people}, "above 0"},
		{[]string{"--epsilon", "-1", people}, "negative"},
		{[]string{"--epsilon=-1", people}, "negative"},
		{[]string{"--epsilon", "NaN", people}, `"NaN" is not an amount of privacy`},
		{[]string{"--epsilon", "1e20", people}, "the largest is 1048576"},
		{[]string{"--epsilon", "inf", people}, `"inf" is not an amount`},
		{[]string{"--epsilon", "abc", people}, `"abc" is not an amount`},
		{[]string{"--epsilon", "", people}, "a value is missing"},
		{[]string{"--epsilon=", people}, "a value is missing"},
		{[]string{"--epsilon", "0x10", people}, `"0x10" is not an amount`},
		{[]string{"--epsilon", "1/2", people}, `"1/2" is not an amount`},
		{[]string{"--epsilon", "0.51", people}, "ask with at most 0.5"},
		{[]string{"--epsilon", "1e-13", people}, "the smallest is 2^-40"},
		{[]string{"--dataset", "clinic", people}, `there is no dataset "clinic"; name one of hospital`},
		{[]string{"--as", "eve", people}, `there is no analyst "eve"`},
		{[]string{""}, "the question is empty"},
		{[]string{"SELECT"}, "refused: "},
		{[]string{"SELECT COUNT(*) FROM patients WHERE"}, "refused: "},
		{[]string{"SELECT COUNT(*) FROM patients; DROP TABLE patients"}, "refused: "},
		{[]string{"SELECT COUNT(*) FROM patient"}, "tables are patients, visits"},
		{[]string{"SELECT COUNT(weight) FROM patients"}, "columns of patients are age, cost"},
		{[]string{"SELECT age FROM patients"}, "not in GROUP BY"},
		{[]string{"SELECT STRING_AGG(sex, ',') FROM patients"}, "tells of one person's row"},
		{[]string{strings.Repeat("(", 100_000)}, "refused: "},
		{[]string{"SELECT \"\x1b[2J\"(age) FROM patients"}, "the function ?[2J cannot be used"},
		{nil, `expected "<sql>"; see discreet query --help`},
		{[]string{people, "and more"}, "see discreet query --help"},
		{[]string{"--budget", "1", people}, "unknown flag --budget; see discreet query --help"},
		{[]string{"--json=maybe", people}, "see discreet query --help"},
	} {
		r := asks(policy, c.args...).wants(t, 2, c.says, "refused: ").lacks(t, "\x1b")
		if r.out != "" {
			t.Errorf("%q printed %q", r.args, r.out)
		}
		if len(c.args) > 0 && !strings.HasPrefix(c.args[0], "--json") {
			asks(policy, append([]string{"--json"}, c.args...)...).fails(t, 2, "refused")
		}
	}
	command("query", people).wants(t, 2, "missing flags: --as=ANALYST, --policy=FILE")
	command("nonsense").wants(t, 2, "see discreet --help")
	command("ledger").wants(t, 2, `expected one of "show", "verify", `)
	command("--nonsense").wants(t, 2, "unknown flag --nonsense")
	if after := spent(t, policy); after.Head != before.Head {
		t.Errorf("refusals changed the ledger from %+v to %+v", before, after)
	}
}

func TestWhichDataset(t *testing.T) {
	policy := deploy(t, tenQuestions)
	change(t, policy, func(s string) string {
		_, body, _ := strings.Cut(s, "datasets:\n")
		second := strings.Replace(strings.Replace(body, "  hospital:", "  clinic:", 1), "source: data", "source: other", 1)
		return s + second
	})
	if err := os.CopyFS(beside(policy, "other"), os.DirFS(beside(policy, "data"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"query", "explain"} {
		command(name, "-p", policy, "--as", "ana", people).wants(t, 2, "the policy has several datasets; name one of clinic, hospital")
		command(name, "-p", policy, "--as", "ana", "--dataset", "clinic", people).wants(t, 0)
	}
	command("budget", "-p", policy).wants(t, 0, "clinic", "hospital")
	command("budget", "-p", policy, "--dataset", "hospital").wants(t, 0)
	command("check", policy).wants(t, 0, "dataset clinic", "dataset hospital")
}

// Commands that read a policy say what is wrong with it, and touch nothing.
func TestBadPolicy(t *testing.T) {
	good := deploy(t, tenQuestions)
	text, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(old, new string) string {
		if !strings.Contains(string(text), old) {
			t.Fatalf("the policy has no %q", old)
		}
		return strings.Replace(string(text), old, new, 1)
	}
	for _, c := range []struct {
		name, text string
		says       []string
	}{
		{"empty", "", []string{"policy.yaml"}},
		{"not yaml", "datasets: [", []string{"policy.yaml"}},
		{"binary", "\x00\x01\x02", []string{"policy.yaml"}},
		{"unknown key", edit("    engine: duckdb", "    engin: duckdb"), []string{"engin", "policy.yaml:3"}},
		{"bounds the wrong way", edit("bounds: [0, 110]", "bounds: [110, 0]"), []string{"bounds", "policy.yaml:12"}},
		{"several", edit("bounds: [0, 110]", "bounds: [110, 0]") + "        nonsense: 1\n    more: 2\n",
			[]string{"bounds", "nonsense", "more"}},
		{"epsilon", edit("{epsilon: 1,", "{epsilon: -1,"), []string{"epsilon"}},
		{"share", edit("share: 0.5", "share: 2"), []string{"share 2 is above 1"}},
		{"unit", edit("unit: patients.pid", "unit: patients"), []string{"unit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			policy := write(t, t.TempDir()+"/policy.yaml", c.text)
			for _, args := range [][]string{{"query", "-p", policy, "--as", "ana", people}, {"explain", "-p", policy, "--as", "ana",
				people}, {"budget", "-p", policy}, {"check", policy}, {"ledger", "verify", "-p", policy}} {
				command(args...).wants(t, 1, c.says...)
			}
			command("check", "--json", policy).fails(t, 1, "failed")
			if entries, _ := os.ReadDir(beside(policy)); len(entries) != 1 {
				t.Errorf("a bad policy left %v", entries)
			}
		})
	}
	for _, args := range [][]string{{"query", "-p", "no.yaml", "--as", "ana", people}, {"budget", "-p", "no.yaml"}, {"check", "no.yaml"},
		{"ledger", "verify", "-p", "no.yaml"}} {
		command(args...).wants(t, 1, "read the policy: open no.yaml: no such file or directory")
	}
	command("check", t.TempDir()).wants(t, 1, "is a directory")
}
