// Package golden holds what a program says against files of what it said before. A file has cases,
// each a question and its answer, and -rewrite writes the answers anew.
package golden

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the results into testdata instead of comparing them")

// Run asks the questions of a file, in their order. Cases are separated by lines of ====, and have
// a line of ---- between question and answer. Lines before the first ==== are a comment.
func Run(t testing.TB, file string, answer func(question string) string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cases := strings.Split(string(text), "====\n")
	for i, c := range cases[1:] {
		question, want, _ := strings.Cut(c, "----\n")
		got := answer(strings.TrimSuffix(question, "\n"))
		if *rewrite {
			cases[i+1] = question + "----\n" + got
		} else if got != want {
			t.Errorf("%s, case %d:\n%s\n%s\nrun the test with -rewrite if this is meant, and read the diff of the file", file, i+1,
				question, difference(got, want))
		}
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(cases, "====\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// difference is what stands between the first and the last lines that two texts have in common.
func difference(got, want string) string {
	is, should := strings.Split(got, "\n"), strings.Split(want, "\n")
	begin := 0
	for begin < min(len(is), len(should)) && is[begin] == should[begin] {
		begin++
	}
	is, should = is[begin:], should[begin:]
	for len(is) > 0 && len(should) > 0 && is[len(is)-1] == should[len(should)-1] {
		is, should = is[:len(is)-1], should[:len(should)-1]
	}
	return fmt.Sprintf("from line %d on, got:\n%s\nwant:\n%s", begin+1, strings.Join(is, "\n"), strings.Join(should, "\n"))
}

// Text compares a text with that of a file, line by line, or writes it where -rewrite says so.
func Text(t testing.TB, file, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	is, should := strings.Split(got, "\n"), strings.Split(string(text), "\n")
	for i, line := range is[:min(len(is), len(should))] {
		if line != should[i] {
			t.Errorf("%s, line %d:\n%s\nshould be\n%s", file, i+1, line, should[i])
		}
	}
	if len(is) != len(should) {
		t.Errorf("%s: there are %d lines, and should be %d", file, len(is), len(should))
	}
}

// Rewriting says whether files are written instead of compared.
func Rewriting() bool { return *rewrite }

var (
	numberPattern = regexp.MustCompile(`-?\d+(\.\d+)?([eE][-+]?\d+)?`)
	hashPattern   = regexp.MustCompile(`[0-9a-f]{32,}`)
	timePattern   = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+(Z|[-+][0-9:]+)`)
	daysPattern   = regexp.MustCompile(`"days": ?[-0-9.e]+`)
	rowsPattern   = regexp.MustCompile(`"rows": ?\[\[.*?\]\]`)
	quotedPattern = regexp.MustCompile(`"[^"]*"`)
)

// Mask replaces what differs from run to run in a text of JSON: hashes, names that are random,
// times, and numbers in rows. The other members that have noise are named; all numbers in them are
// replaced.
func Mask(text string, noisy ...string) string {
	text = hashPattern.ReplaceAllString(text, "HASH")
	text = timePattern.ReplaceAllString(text, "TIME")
	text = daysPattern.ReplaceAllString(text, `"days":#`)
	text = rowsPattern.ReplaceAllStringFunc(text, maskNumbers)
	for _, name := range noisy {
		member := regexp.MustCompile(`"` + name + `": ?("[^"]*"|\[\[.*?\]\]|\[.*?\]|\{.*?\}|[-0-9.e]+)`)
		text = member.ReplaceAllStringFunc(text, func(s string) string {
			at := strings.Index(s, ":") + 1
			if value := strings.TrimSpace(s[at:]); value[0] == '"' {
				return s[:at] + numberPattern.ReplaceAllString(s[at:], "#")
			}
			return s[:at] + maskNumbers(s[at:])
		})
	}
	return text
}

// maskNumbers replaces the numbers of a text that are not inside of quotes.
func maskNumbers(text string) string {
	var out strings.Builder
	at := 0
	for _, q := range quotedPattern.FindAllStringIndex(text, -1) {
		out.WriteString(numberPattern.ReplaceAllString(text[at:q[0]], "#") + text[q[0]:q[1]])
		at = q[1]
	}
	return out.String() + numberPattern.ReplaceAllString(text[at:], "#")
}

// Lines are texts that are too long to be kept, each by its name and a hash.
type Lines struct {
	lines, texts []string
}

// Add adds a text.
func (l *Lines) Add(name, text string) {
	l.lines = append(l.lines, fmt.Sprintf("%s: %.6x", name, sha256.Sum256([]byte(text))))
	l.texts = append(l.texts, text)
}

// Hold compares all of them with a file, or writes it where -rewrite says so. Texts that are others
// are shown whole.
func (l *Lines) Hold(t testing.TB, file string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(l.lines, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(string(text), "\n")
	for i, line := range l.lines {
		if i >= len(known) || known[i] != line {
			t.Errorf("%s, and now it is\n%s", line, l.texts[i])
		}
	}
	if len(known) != len(l.lines)+1 {
		t.Errorf("there are %d texts, and were %d", len(l.lines), len(known)-1)
	}
}
