package architecture

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// What a page may be, so that people read it.
const (
	pageWidth   = 100
	pageWords   = 2_500
	allWords    = 54_126 // it may only become less
	readmeLines = 130
)

// unwanted are ways to write that docs/writing.md is against, each with what to write.
var unwanted = []struct {
	words   *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?:^|[.:;] )Who (?:wants|asks|needs|has|is) [^.?]*[.]`), "to get X, do Y"},
	{regexp.MustCompile(`\b[Bb]eside\b`), "next to, with, or as well as"},
	{regexp.MustCompile(`\bby (?:its|their) own(?:[.,;:)]|$)`), "by itself"},
	{regexp.MustCompile(`\bwhose each\b`), "two sentences"},
	{regexp.MustCompile(`\bwhat it is that\b`), "what"},
	{regexp.MustCompile(`\bat home\b`), "where it belongs"},
	{regexp.MustCompile(`(?:^|\. )There is no \S+ that\b`), "no X does Y"},
	{regexp.MustCompile(`\bso that [^.]* so that\b`), "two sentences"},
}

// page is one that people read.
type page struct {
	name, text string
	generated  bool
}

func newPage(name, text string) page {
	return page{name, text, strings.HasPrefix(text, "<!-- generated: do not edit; ")}
}

// prose returns the lines of a page without what is in blocks of code. Blank lines stand for those,
// so that numbers of lines stay.
func (p page) prose() []string {
	lines := strings.Split(p.text, "\n")
	fence, inList := "", false
	for i, l := range lines {
		trimmed := strings.TrimLeft(l, " ")
		switch marker := regexp.MustCompile("^(```+|~~~+)").FindString(trimmed); {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
			lines[i] = ""
		case marker != "":
			fence, lines[i] = marker, ""
		case strings.HasPrefix(l, "    ") && !inList:
			lines[i] = ""
		case strings.HasPrefix(l, "        "):
			lines[i] = ""
		}
		switch {
		case listItem.MatchString(l):
			inList = true
		case l != "" && !strings.HasPrefix(l, " "):
			inList = false
		}
	}
	return lines
}

var (
	listItem   = regexp.MustCompile(`^ *(?:[-*]|\d+\.) `)
	inlineCode = regexp.MustCompile("(?s)``.+?``|`[^`]*`")
	oneLink    = regexp.MustCompile(`^\W*!?\[[^\]]*\]\([^)]*\)\W*$`)
	aLink      = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)`)
	headline   = regexp.MustCompile(`^#{1,6} +(.*?)(?: +#+)?$`)
	ownAnchor  = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// wide returns the numbers of the lines that are too long to be read.
func (p page) wide() (out []int) {
	for i, l := range p.prose() {
		table := strings.HasPrefix(strings.TrimSpace(l), "|")
		if utf8.RuneCountInString(l) > pageWidth && !table && !oneLink.MatchString(l) && len(strings.Fields(l)) > 1 {
			out = append(out, i+1)
		}
	}
	return out
}

// headless are the lines where rows begin that no headline of a table stands above.
func (p page) headless() (out []int) {
	lines := p.prose()
	row := func(i int) bool { return i >= 0 && i < len(lines) && strings.HasPrefix(lines[i], "|") }
	for i := range lines {
		if row(i) && !row(i-1) && !(row(i+1) && tableRule.MatchString(lines[i+1])) {
			out = append(out, i+1)
		}
	}
	return out
}

// tableRule is the line below the headline of a table.
var tableRule = regexp.MustCompile(`^\|[-: |]+\|$`)

// made is what a test writes into a page.
var made = regexp.MustCompile(`(?s)<!-- made by .*?<!-- end -->`)

func (p page) words() int { return len(strings.Fields(made.ReplaceAllString(p.text, ""))) }

// unwantedWords says where a page is not written as it should be.
func (p page) unwantedWords() (out []string) {
	text := inlineCode.ReplaceAllString(strings.Join(p.prose(), "\n"), "`")
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(paragraph, "#") {
			_, paragraph, _ = strings.Cut(paragraph, "\n")
		}
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		for _, u := range unwanted {
			if found := u.words.FindString(paragraph); found != "" {
				out = append(out, fmt.Sprintf("%q: write %s", strings.TrimLeft(found, ".:; "), u.instead))
			}
		}
	}
	return out
}

// anchors are the places of a page that links can name, as GitHub and the site name them.
func (p page) anchors() map[string]bool {
	out, times := map[string]bool{}, map[string]int{}
	for _, l := range p.prose() {
		for _, m := range ownAnchor.FindAllStringSubmatch(l, -1) {
			out[m[1]] = true
		}
		m := headline.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		slug := slugOf(m[1])
		if n := times[slug]; n > 0 {
			out[fmt.Sprintf("%s-%d", slug, n)] = true
		}
		out[slug] = true
		times[slug]++
	}
	return out
}

func slugOf(heading string) string {
	heading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
}

// deadLinks says which relative links of a page lead nowhere. There says of other files whether
// they are in the tree, and pages are those that have anchors.
func (p page) deadLinks(pages map[string]page, there func(string) bool) (out []string) {
	text := inlineCode.ReplaceAllString(strings.Join(p.prose(), "\n"), "")
	for _, m := range aLink.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
			continue
		}
		file, anchor, _ := strings.Cut(m[1], "#")
		at := p.name
		if file != "" {
			at = path.Join(path.Dir(p.name), file)
		}
		to, isPage := pages[at]
		switch {
		case !isPage && !there(at):
			out = append(out, m[1]+": there is no such file")
		case anchor != "" && isPage && !to.anchors()[anchor]:
			out = append(out, m[1]+": there is no such heading")
		}
	}
	return out
}

// navigated returns the pages that the site's navigation has.
func navigated(config string) map[string]bool {
	out := map[string]bool{}
	_, nav, _ := strings.Cut(config, "\nnav:\n")
	for l := range strings.Lines(nav) {
		l, _, _ = strings.Cut(l, " #")
		if m := regexp.MustCompile(`^ *- (?:.*: )?([\w-]+\.md)\s*$`).FindStringSubmatch(l); m != nil {
			out["docs/"+m[1]] = true
		}
	}
	return out
}

func readPages(t *testing.T) map[string]page {
	t.Helper()
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d pages: %v", len(names), err)
	}
	pages := map[string]page{}
	for _, n := range append(names, "../../README.md", "../../CONTRIBUTING.md", "../../SECURITY.md", "../../CHANGELOG.md",
		"../../examples/README.md", "../../python/README.md") {
		name := filepath.ToSlash(strings.TrimPrefix(filepath.ToSlash(n), "../../"))
		pages[name] = newPage(name, readText(t, name))
	}
	return pages
}

// TestDocs holds README.md and the pages of docs to what docs/writing.md says.
func TestDocs(t *testing.T) {
	pages := readPages(t)
	there := func(name string) bool { _, err := os.Stat(filepath.Join("../..", name)); return err == nil }
	nav := navigated("\n" + readText(t, "mkdocs.yml"))
	total := 0
	for name, p := range pages {
		for _, dead := range p.deadLinks(pages, there) {
			t.Errorf("%s: %s", name, dead)
		}
		if rows := p.headless(); len(rows) > 0 {
			t.Errorf("%s has rows that are in no table, from lines %v", name, rows)
		}
		if name != "README.md" && path.Dir(name) != "docs" {
			if wide := p.wide(); len(wide) > 0 {
				t.Errorf("%s has lines of more than %d columns: %v", name, pageWidth, wide)
			}
			continue
		}
		if path.Dir(name) == "docs" && !nav[name] {
			t.Errorf("%s is not in the navigation of mkdocs.yml", name)
		}
		if p.generated {
			continue
		}
		words, wide := p.words(), p.wide()
		total += words
		if words > pageWords || len(wide) > 0 {
			t.Errorf("%s has %d words, of at most %d, and lines of more than %d columns: %v", name, words, pageWords, pageWidth, wide)
		}
		if name == "docs/writing.md" { // which shows what is not wanted
			continue
		}
		for _, u := range p.unwantedWords() {
			t.Errorf("%s says %s", name, u)
		}
	}
	if total > allWords {
		t.Errorf("the pages have %d words together, of at most %d", total, allWords)
	}
	if n := strings.Count(pages["README.md"].text, "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, of at most %d", n, readmeLines)
	}
	for name := range nav {
		if _, ok := pages[name]; !ok {
			t.Errorf("mkdocs.yml has %s, which there is not", name)
		}
	}
}

// TestDocsPlanted: each mistake is found where it is planted, and what is no mistake is not.
func TestDocsPlanted(t *testing.T) {
	long := strings.Repeat("word ", 30)
	for _, c := range []struct {
		text       string
		wide, says int
	}{
		{long, 1, 0},
		{"| " + long + " |", 0, 0},
		{"```\n" + long + "\n```\n" + long, 1, 0},
		{"~~~~\n```\n" + long + "\n~~~~", 0, 0},
		{"    " + long, 0, 0},
		{"- item\n\n    " + long, 1, 0},
		{"- item\n\n        " + long, 0, 0},
		{"[" + long + "](https://example.org)", 0, 0},
		{"![" + long + "](x.png).", 0, 0},
		{"https://example.org/" + strings.Repeat("x", 100), 0, 0},
		{"Words. Who wants more asks the owner.", 0, 1},
		{"Who\nis revoked\nstays out.", 0, 1},
		{"Who is asked? Nobody.", 0, 0},
		{"## Who is charged\n\nEverybody.", 0, 0},
		{"The file lies beside it. Besides, it is small.", 0, 1},
		{"`beside` and `a\nbeside`", 0, 0},
		{"    Who wants more asks.\n", 0, 0},
		{"It works by its own.", 0, 1},
		{"Peers were asked by their own scripts.", 0, 0},
		{"There is no key that fits. There is no door.", 0, 1},
		{"It waits so that it ends so that nobody sees.", 0, 1},
		{"It waits so that it ends. It ends so that nobody sees.", 0, 0},
	} {
		p := newPage("docs/p.md", c.text)
		if wide, says := p.wide(), p.unwantedWords(); len(wide) != c.wide || len(says) != c.says {
			t.Errorf("%q: wide lines %v, and %q", c.text, wide, says)
		}
	}

	table := "| a | b |\n|---|:-:|\n| c | d |\n"
	tables := newPage("docs/p.md", table+"\n```\n| no\n```\n"+table+"\n| e | f |\n| g | h |\n")
	if rows := tables.headless(); !slices.Equal(rows, []int{12}) {
		t.Errorf("rows that are in no table: %v", rows)
	}

	pages := map[string]page{}
	for name, text := range map[string]string{
		"docs/a.md": "# A\n\n## Two `words`, here\n\n## Twice\n\n## Twice\n\n```\n## not one\n```\n<a id=\"own\"></a>",
		"README.md": "# Readme\n\n[x](docs/a.md#twice-1) `[y](nowhere.md)`\n\n    [z](nowhere.md)\n",
		"docs/b.md": "[x](a.md#two-words-here) [x](../README.md#readme) [x](#b) [x](a.md#own) [x](../go.mod) " +
			"[x](https://none/a.md#z)\n\n# B\n",
		"docs/c.md": "[x](a.md#not-one) [two\nlines](d.md) [x](a.md#twice-2) [x](#none) ![x](img/none.png)",
	} {
		pages[name] = newPage(name, text)
	}
	there := func(name string) bool { return name == "go.mod" }
	for name, want := range map[string]int{"README.md": 0, "docs/a.md": 0, "docs/b.md": 0, "docs/c.md": 5} {
		if dead := pages[name].deadLinks(pages, there); len(dead) != want {
			t.Errorf("%s: dead links %q", name, dead)
		}
	}
	nav := navigated("x: docs/no.md\nnav:\n  - A: a.md\n  - \"B: c\": b.md\n  # - C: c.md\n  - d.md\n")
	if len(nav) != 3 || !nav["docs/a.md"] || !nav["docs/b.md"] || !nav["docs/d.md"] {
		t.Errorf("the navigation is %v", nav)
	}
	if newPage("x", "<!-- generated: do not edit; make -->\n").generated == newPage("x", "# Page\n").generated {
		t.Error("a generated page is not told from others")
	}
	if p := newPage("x", strings.Repeat("w ", pageWords+1)); p.words() != pageWords+1 {
		t.Errorf("%d words", p.words())
	}
}
