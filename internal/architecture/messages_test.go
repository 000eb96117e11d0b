package architecture

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unwantedMessages are ways to write that docs/writing.md is against, in texts that a person sees.
var unwantedMessages = []struct {
	words   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?:[^e]|[^r]e|[^e]re) (?:is|are|was) no (?:valid )?(?:address|analyst|boolean|certificate|column|dataset|date|duration|file|folder|holdout|` +
		`integer|key|ledger|model|name|number|parameter|path|policy|question|record|setting|statement|stream|table|text|time|token|type|user|value|` +
		`version)\b`), "is not a"},
	{regexp.MustCompile(`\b(?:has|have) not (?:(?:a|an|the)\b|\d|%)`), "does not have"},
	{regexp.MustCompile(`(?:^|[.;:] )(?:Who|Whoever) (?:is|was|wants|has|asks) `), "a subject that is a noun"},
	{regexp.MustCompile(`\bwhose each\b|\bwhat it is that\b|\bas ever\b`), "two sentences, or fewer words"},
	{regexp.MustCompile(`\bbeside\b`), "next to, or with"},
	{regexp.MustCompile(`\bof which (?:\d|%|each)`), "two sentences"},
	{regexp.MustCompile(`(?i)\b(?:hatch|front door|back door|this door)\b`), "what it is"},
}

func unwantedInMessage(text string) (out []string) {
	for _, u := range unwantedMessages {
		if found := u.words.FindString(text); found != "" {
			out = append(out, strings.TrimSpace(found)+": write "+u.instead)
		}
	}
	return out
}

// internalTexts are packages whose texts nobody sees but those who read the source: what the second
// opinion derives is refused with one fixed text.
var internalTexts = []string{"internal/planner/verify/", "internal/pgcatalog/interpret/", "internal/ledger/replay/"}

// storedTexts are in files that earlier versions wrote, or are compared with those.
var storedTexts = []string{"There is a ledger beside this file.", "the rows of one person, of which %d count at most,"}

// TestMessages: texts that people see are written as docs/writing.md wants.
func TestMessages(t *testing.T) {
	all, err := Messages("../..")
	if err != nil || len(all) < 5000 {
		t.Fatalf("only %d texts were found: %v", len(all), err)
	}
	for _, m := range all {
		if slices.ContainsFunc(internalTexts, func(p string) bool { return strings.HasPrefix(m.File, p) }) ||
			slices.ContainsFunc(storedTexts, func(p string) bool { return strings.HasPrefix(m.Text, p) }) {
			continue
		}
		for _, u := range unwantedInMessage(m.Text) {
			t.Errorf("%s:%d: %q: %s", m.File, m.Line, m.Text, u)
		}
	}
}

// TestMessagesAreFound: what stands in each kind of source is read, and what is not wanted is seen.
func TestMessagesAreFound(t *testing.T) {
	for name, text := range map[string]string{
		"a.go":              "package p\n\nvar x = \"one two \" + y + \" three\"",
		"b.go":              "package p\n\ntype T struct{ A string `help:\"Say what it is.\"` }",
		"c.tsx":             "<p class=\"a\">Nothing was <b>found</b> here.</p>\nconst x = 'try it again'",
		"python/src/d.py":   "raise ValueError(\"send one value for each\")\n# not a message here",
		"r/R/e.R":           "stop(\"the server cannot be reached\")",
		"internal/x_f.go":   "package p\n\nvar q = \"SELECT a FROM b WHERE c\"",
		"g_test.go":         "package p\n\nvar x = \"only tests say this\"",
		"internal/x/sql.go": "package p\n\nimport \"not a message\"",
	} {
		want := map[string]int{"a.go": 1, "b.go": 1, "c.tsx": 1, "python/src/d.py": 1, "r/R/e.R": 1}[name]
		var got []Message
		if read := readerOf(name); read != nil {
			var err error
			if got, err = read(name, []byte(text)); err != nil {
				t.Error(err)
			}
		}
		if len(got) != want {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, planted := range []string{"7 is no number", "it has not %d bits", "Who is revoked is out", "the file beside it",
		"x; of which 3 are"} {
		if len(unwantedInMessage(planted)) != 1 {
			t.Errorf("not seen: %s", planted)
		}
	}
	for _, fine := range []string{"there is no such table", "it does not have one", "nobody knows who is there", "besides, it is late"} {
		if found := unwantedInMessage(fine); len(found) != 0 {
			t.Errorf("%s: %v", fine, found)
		}
	}
}
