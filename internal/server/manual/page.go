package manual

import (
	"bytes"
	"html/template"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// repository has what pages link to outside of docs/.
const repository = "https://github.com/discreet-dp/discreet/blob/main/"

// page is one page of docs/.
type page struct {
	title    string
	contents []heading // of the second level
	body     template.HTML
	sections []section
}

type heading struct{ Anchor, Text string }

// section is what stands below one heading.
type section struct {
	Page, Anchor   string
	Title, Heading string
	Begin          string // of its text
	words          map[string]int
	titled         map[string]bool // words of the heading, and of the page's title
}

// markdown reads pages as GitHub does. They are ours, so that what is HTML in them stays.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Linkify),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()), goldmark.WithRendererOptions(html.WithUnsafe()))

func newPage(name string, source []byte) (*page, error) {
	context := parser.NewContext(parser.WithIDs(&anchors{given: map[string]bool{}}))
	tree := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))
	p := &page{title: name}
	var current *section
	err := ast.Walk(tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			said := plain(n, source)
			id, _ := n.AttributeString("id")
			anchor := string(id.([]byte))
			if n.Level == 1 {
				p.title, anchor = said, ""
			} else if n.Level == 2 {
				p.contents = append(p.contents, heading{anchor, said})
			}
			p.sections = append(p.sections, newSection(name, anchor, p.title, said))
			current = &p.sections[len(p.sections)-1]
			return ast.WalkSkipChildren, nil
		case *ast.Link:
			n.Destination = []byte(destination(string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte("/docs/" + string(n.Destination))
		}
		if current != nil && n.Type() == ast.TypeBlock {
			current.add(ownLines(n, source))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := markdown.Renderer().Render(&out, source, tree); err != nil {
		return nil, err
	}
	p.body = template.HTML(out.String()) //nolint:gosec // a page of the project
	return p, nil
}

// destination is where a link of docs/ leads in the manual.
func destination(link string) string {
	file, anchor, _ := strings.Cut(link, "#")
	if anchor != "" {
		anchor = "#" + anchor
	}
	switch {
	case strings.Contains(link, "://"), file == "":
		return link
	case strings.HasPrefix(file, "../"):
		return repository + strings.TrimPrefix(file, "../") + anchor
	case strings.HasSuffix(file, ".md"):
		return "/docs/" + strings.TrimSuffix(file, ".md") + anchor
	}
	return repository + "docs/" + file + anchor
}

// plain returns the text of a node and what is in it.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // nothing in it fails
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// ownLines returns the text of a block that has lines of its own: a paragraph, a cell, code.
func ownLines(n ast.Node, source []byte) string {
	if n.Kind() == ast.KindParagraph || n.Kind() == ast.KindTextBlock || n.Kind().String() == "TableCell" {
		return plain(n, source)
	}
	if n.Kind() == ast.KindCodeBlock || n.Kind() == ast.KindFencedCodeBlock {
		return string(n.Lines().Value(source))
	}
	return ""
}

// anchors gives headings the names that GitHub gives them.
type anchors struct{ given map[string]bool }

func (a *anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(string(value)))
	another := name
	for n := 1; a.given[another]; n++ {
		another = name + "-" + strconv.Itoa(n)
	}
	a.given[another] = true
	return []byte(another)
}

func (a *anchors) Put(value []byte) { a.given[string(value)] = true }
