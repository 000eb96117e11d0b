package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/policy"
)

func TestComplete(t *testing.T) {
	p, err := policy.Parse("policy.yaml", []byte("datasets:\n"+hospital.Dataset("hospital", "data", "{epsilon: 1}")))
	if err != nil {
		t.Fatal(err)
	}
	p.Datasets["hospital"].Tables["visits"].Columns["Long Name"] = &policy.Column{Name: "Long Name"}
	c := Completer{p, p.Datasets["hospital"]}
	for _, x := range []struct {
		text string // | is where the last word must begin
		has  string
		not  string
	}{
		{"|sel", "select", "SELECT from"},
		{"|SEL", "SELECT", "select"},
		{"SELECT COUNT(*) |F", "FROM FALSE", "from age"},
		{"SELECT COUNT(*) FROM |", "patients visits", "SELECT age"},
		{"SELECT COUNT(*)\nFROM |VIS", "visits", "patients"},
		{"SELECT COUNT(*) FROM x JOIN |p", "patients", "visits"},
		{"SELECT |", "age ward SELECT", "patients"},
		{"SELECT COUNT(*) FROM patients WHERE |", "age AND", "ward"},
		{"SELECT COUNT(*) FROM patients WHERE patients.|", "age sex", "ward AND"},
		{"SELECT COUNT(*) FROM visits v WHERE v.|w", "ward", "day"},
		{"SELECT COUNT(*) FROM visits AS v WHERE V.|", "ward day", "age"},
		{"SELECT COUNT(*) FROM visits WHERE |lo", `"Long Name"`, "day"},
		{`SELECT COUNT(*) FROM visits WHERE |"lo`, `"Long Name"`, "day"},
		{"SELECT 'FROM |", "", "patients age"},
		{"SELECT 1 -- FROM |", "", "patients age"},
		{"SELECT 1 /* FROM |", "", "patients age"},
		{"SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits WHERE |", "ward", "age"},
		{"SET |", "dp.epsilon dp.delta", "ALL dp.budget"},
		{"SHOW |", "dp.epsilon dp.budget ALL", "SELECT"},
		{"SHOW |dp.b", "dp.budget", "dp.epsilon"},
		{"SET |dp.", "dp.epsilon", "dp.budget"},
		{"RESET |a", "ALL", "age"},
		{`|\`, `\d \l \budget \q`, "SELECT"},
		{`|\b`, `\budget`, `\d`},
		{`\d |v`, "visits", "patients"},
		{`\c |`, "hospital", "patients"},
		{`\json |o`, "on off", ""},
		{`\explain SELECT COUNT(*) FROM |p`, "patients", "visits"},
		{`\q |`, "", "patients"},
	} {
		text := strings.Replace(x.text, "|", "", 1)
		start, words := c.Complete(text, 0)
		if start != strings.Index(x.text, "|") {
			t.Errorf("%q begins at %d", x.text, start)
		}
		has := strings.Fields(x.has)
		if strings.HasPrefix(x.has, `"`) {
			has = []string{x.has}
		}
		for _, w := range has {
			if !slices.Contains(words, w) {
				t.Errorf("%q does not offer %s: %q", x.text, w, words)
			}
		}
		for _, w := range strings.Fields(x.not) {
			if slices.Contains(words, w) {
				t.Errorf("%q offers %s", x.text, w)
			}
		}
	}
	// What is offered can be asked.
	for _, name := range []string{"order", "Long Name", `a"b`, "1st"} {
		if got := NameOrQuoted(name); !strings.HasPrefix(got, `"`) {
			t.Errorf("%s is written %s", name, got)
		}
	}
	if _, words := (Completer{p, nil}).Complete("SELECT COUNT(*) FROM ", 0); len(words) != 0 {
		t.Errorf("without a dataset there are %q", words)
	}
}
