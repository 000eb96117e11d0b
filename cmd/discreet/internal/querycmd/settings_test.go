package querycmd

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

func TestSettings(t *testing.T) {
	s := settings{}
	run := func(text string) error {
		c, err := readSettingCommand(text)
		if err != nil || c == nil {
			return err
		}
		if c.verb == "set" {
			return s.set(c.name, c.text)
		}
		return (&analystConsole{settings: s}).runTuning(t.Context(), c, text)
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
		"SET dp.errors = maybe":          "dp.errors: write off, columns (x_error) or interval",
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
	if err := s.apply(&q); err != nil || q.Settings.Epsilon != dp.One/2 {
		t.Errorf("the question has epsilon %v: %v", q.Settings.Epsilon, err)
	}
	if c, err := readSettingCommand("SELECT dp.epsilon FROM x"); c != nil || err != nil {
		t.Error("a question is taken for a setting")
	}
}
