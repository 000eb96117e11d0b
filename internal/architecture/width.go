package architecture

import (
	"go/ast"
	"go/token"
	"strings"
	"unicode/utf8"
)

// widths notes the lines that are too wide. A comment is too wide where it could be wrapped: a
// directive, a word without spaces, and text that is indented, as commands and tables are, stay as
// they are, and so does what an example has to print. Nor are lines inside of a raw string counted,
// which are not source but what the program says.
func (s source) widths() {
	raw, comments := s.raw(), s.comments()
	for i, text := range strings.Split(string(s.text), "\n") {
		line := i + 1
		width := utf8.RuneCountInString(text) + (tab-1)*strings.Count(text, "\t")
		switch {
		case comments[line] == "":
			if width > CodeWidth && !raw[line] {
				s.into.WideCode = append(s.into.WideCode, Place{File: s.name, Line: line, What: "code", Size: width, Test: s.test})
			}
		case width > CommentWidth && wraps(comments[line]):
			s.into.WideComments = append(s.into.WideComments, Place{File: s.name, Line: line, What: "comment", Size: width, Test: s.test})
		}
	}
}

// raw returns the lines that begin within a string.
func (s source) raw() map[int]bool {
	out := map[int]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && l.Value[0] == '`' {
			for line := s.line(l.Pos()) + 1; line <= s.line(l.End()); line++ {
				out[line] = true
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
