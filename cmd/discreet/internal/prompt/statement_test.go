package prompt

import (
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		text string
		done []string
		rest string
		open bool
	}{
		{"", nil, "", false},
		{" \n-- nothing; at all\n/* ; */ ;;", nil, "", false},
		{"SELECT 1", nil, "SELECT 1", false},
		{"SELECT 1;", []string{"SELECT 1"}, "", false},
		{"a; b;\nc", []string{"a", " b"}, "\nc", false},
		{"a 'x;y' ; b", []string{"a 'x;y' "}, " b", false},
		{"a 'it''s;' ; b", []string{"a 'it''s;' "}, " b", false},
		{`a '\' ; b`, []string{`a '\' `}, " b", false},
		{`a E'\';' ; b`, []string{`a E'\';' `}, " b", false},
		{`a ce'\' ; b`, []string{`a ce'\' `}, " b", false},
		{`a "x;""y" ; b`, []string{`a "x;""y" `}, " b", false},
		{"a $$;$$ ; b", []string{"a $$;$$ "}, " b", false},
		{"a $t$;$$;$t$ ; b", []string{"a $t$;$$;$t$ "}, " b", false},
		{"a $1; b$x$; c", []string{"a $1", " b$x$"}, " c", false},
		{"a /* ; /* ; */ ; */ ; b", []string{"a /* ; /* ; */ ; */ "}, " b", false},
		{"a -- ;\n; b", []string{"a -- ;\n"}, " b", false},
		{"a 'x; b", nil, "a 'x; b", true},
		{`a; "x; b`, []string{"a"}, ` "x; b`, true},
		{"a /* ; b", nil, "a /* ; b", true},
		{"/* ; b", nil, "/* ; b", true},
		{"a $x$ ; b $y$", nil, "a $x$ ; b $y$", true},
		{"\xff; é;", []string{"\xff", " é"}, "", false},
		{"$", nil, "$", false},
		{"E'", nil, "E'", true},
		{`E'\`, nil, `E'\`, true},
	} {
		done, rest, open := SplitStatements(c.text)
		if !slices.Equal(done, c.done) || rest != c.rest || open != c.open {
			t.Errorf("%q is %q, %q, %t", c.text, done, rest, open)
		}
	}
}

// Tokens are pieces of the text, in order, whatever the text is.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"SELECT 'a;' -- b\n; c", "$a$ $b$", `E'\'' "x`, "/* /* */", "1.5e-3..x$1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := SplitTokens(text)
		end := 0
		for _, x := range all {
			if x.Start < end || x.End <= x.Start || x.End > len(text) || x.text != text[x.Start:x.End] {
				t.Fatalf("%q has the token %+v", text, x)
			}
			end = x.End
		}
		done, rest, _ := SplitStatements(text)
		if n := len(strings.Join(done, "")) + len(rest); n > len(text) {
			t.Fatalf("%q became longer: %q, %q", text, done, rest)
		}
		if one, ok := OneLine(text); ok {
			if strings.ContainsAny(one, "\r\n") {
				t.Fatalf("%q is the lines %q", text, one)
			}
			again, _ := SplitTokens(one)
			if !slices.EqualFunc(all, again, func(a, b Token) bool { return a.kind == b.kind && a.text == b.text }) {
				t.Fatalf("%q means something else in one line: %q", text, one)
			}
		}
		start, _ := Completer{}.Complete(strings.TrimPrefix(text, `\`), 0)
		if start < 0 || start > len(text) {
			t.Fatalf("%q is completed at %d", text, start)
		}
		if _, err := ReadSettingCommand(text); err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
	})
}

func TestSettings(t *testing.T) {
	s := Settings{}
	run := func(text string) error {
		c, err := ReadSettingCommand(text)
		if err != nil || c == nil {
			return err
		}
		return s.Change(c)
	}
	for _, c := range []struct {
		text string
		want string // what dp.epsilon is then
	}{
		{"SET dp.epsilon = 0.5", "0.5"},
		{"set DP.Epsilon to 0.25", "0.25"},
		{"SET dp.epsilon='0.125'", "0.125"},
		{"SET dp.epsilon = 1e-3 -- little", "1e-3"},
		{"SET dp.epsilon TO DEFAULT", ""},
		{"SET dp.epsilon = 1", "1"},
		{"RESET dp.epsilon", ""},
		{"SET dp.epsilon = 1", "1"},
		{"/* all */ RESET ALL", ""},
	} {
		if err := run(c.text); err != nil || s["dp.epsilon"] != c.want {
			t.Errorf("%s: %v, and then it is %q", c.text, err, s["dp.epsilon"])
		}
	}
	s["dp.epsilon"] = "0.5"
	for text, says := range map[string]string{
		"SET":                            "the name of a setting is missing; write for example SET dp.epsilon = 0.5",
		"SET dp.epsilon":                 "the value is missing",
		"SET dp.epsilon 0.5":             "the value is missing",
		"SET dp.epsilon =":               "the value is missing",
		"SET dp.epsilon = 'x":            "a quote is not closed",
		"SET dp.epsilon = 0":             "above 0",
		"SET dp.epsilon = ''":            "a value is missing",
		"SET dp.epsilon = -1":            "negative",
		"SET dp.epsilon = 0.1, 0.2":      "is not an amount",
		"SET dp.epsilon = 1 OR 1":        "is not an amount",
		"SET dp . epsilon = 1":           `there is no setting "dp"`,
		"SET epsilon = 1":                `there is no setting "epsilon"; the settings are dp.epsilon, dp.delta`,
		"SET LOCAL dp.epsilon = 1":       `there is no setting "local"`,
		"SET all = 1":                    `there is no setting "all"`,
		"SET dp.budget = 1":              `there is no setting "dp.budget"`,
		"RESET dp.budget":                `there is no setting "dp.budget"`,
		"SHOW tables":                    `there is no setting "tables"`,
		"SHOW dp.epsilon, dp.delta":      "SHOW takes one name",
		"SET dp.delta = 2":               "dp.delta: ",
		"SET dp.error = -1":              "dp.error: ",
		"SET dp.confidence = 1":          "dp.confidence: ",
		"SET dp.mechanism TO pixie_dust": "dp.mechanism: ",
		"SET dp.max_groups = 0":          "dp.max_groups: ",
		"SET dp.stream = maybe":          "dp.stream: write auto, on or off",
		"SET dp.errors = maybe":          "dp.errors: write off, columns (x_error), interval",
		"SET dp.counts = maybe":          "dp.counts: write noisy, which",
		"SET transaction read only":      `there is no setting "transaction"`,
		"RESET":                          "RESET ALL",
		"SET dp.epsilon = $$0.5$$":       "is not an amount",
		"SET \"dp\".epsilon = 1":         "the name of a setting is missing",
		"SET dp.epsilon TO TO":           "is not an amount",
		"SHOW dp.epsilon = 3":            "SHOW takes one name",
		"SET dp.epsilon = 1048577000000": "the largest is",
	} {
		if err := run(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v; want %q", text, err, says)
		}
	}
	var q api.Question
	if err := s.Apply(&q); err != nil || q.Settings.Epsilon != dp.One/2 {
		t.Errorf("the question has epsilon %v: %v", q.Settings.Epsilon, err)
	}
	if c, err := ReadSettingCommand("SELECT dp.epsilon FROM x"); c != nil || err != nil {
		t.Error("a question is taken for a setting")
	}
}
