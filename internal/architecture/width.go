package architecture

import (
	"go/ast"
	"go/token"
	"strings"
	"unicode/utf8"
)

// widths notes the lines that are too wide. A comment is too wide where it could be wrapped: a
// directive, a word without spaces, and text that is indented, as commands and tables are, stay as
// they are, and so does what an example has to print. A raw string is not counted, nor is a tag:
// neither can be broken.
func (s source) widths() {
	raw, comments := s.raw(), s.comments()
	for i, text := range strings.Split(string(s.text), "\n") {
		line := i + 1
		width := columns(text)
		switch {
		case comments[line] == "":
			if width -= raw[line]; width > CodeWidth {
				s.into.WideCode = append(s.into.WideCode, Place{File: s.name, Line: line, What: "code", Size: width, Test: s.test})
			}
		case width > CommentWidth && wraps(comments[line]):
			s.into.WideComments = append(s.into.WideComments, Place{File: s.name, Line: line, What: "comment", Size: width, Test: s.test})
		}
	}
}

func columns(text string) int {
	return utf8.RuneCountInString(text) + (tab-1)*strings.Count(text, "\t")
}

// raw returns how much of each line is within a raw string.
func (s source) raw() map[int]int {
	out := map[int]int{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value[0] == '`' {
			for i, text := range strings.Split(l.Value, "\n") {
				out[s.line(l.Pos())+i] += columns(text)
			}
		}
		return true
	})
	return out
}

// comments returns the lines that have a comment and nothing else. A line that is not to be wrapped
// is a space.
func (s source) comments() map[int]string {
	out := map[int]string{}
	for _, group := range s.file.Comments {
		printed := false
		for _, c := range group.List {
			at := s.files.Position(c.Pos())
			before := s.text[at.Offset-at.Column+1 : at.Offset]
			if strings.TrimSpace(string(before)) != "" {
				continue
			}
			printed = printed || strings.HasPrefix(c.Text, "// Output:") || strings.HasPrefix(c.Text, "// Unordered output:")
			for i, text := range strings.Split(c.Text, "\n") {
				if printed || strings.HasPrefix(c.Text, "/*") {
					text = " "
				}
				out[at.Line+i] = text
			}
		}
	}
	return out
}

func wraps(comment string) bool {
	text, plain := strings.CutPrefix(comment, "// ")
	return plain && strings.TrimLeft(text, " \t") == text && strings.Contains(text, " ")
}
