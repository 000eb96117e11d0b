package querycmd

import "strings"

// splitStatements cuts a text at its semicolons. What has no semicolon yet is the rest, and
// open says that it ends inside of a quote or a comment. Statements of nothing
// but space and comments are left out.
func splitStatements(text string) (done []string, rest string, open bool) {
	all, open := splitTokens(text)
	start, blank := 0, true
	for _, t := range all {
		if !t.is(";") {
			blank = false
			continue
		}
		if !blank {
			done = append(done, text[start:t.start])
		}
		start, blank = t.end, true
	}
	if !blank || open {
		rest = text[start:]
	}
	return done, rest, open
}

// oneLine writes a statement as one line, for the history. It says no where that
// would change what the statement means: a text can hold a line's end.
func oneLine(text string) (string, bool) {
	all, open := splitTokens(text)
	if open {
		return "", false
	}
	var b strings.Builder
	end := 0
	for _, t := range all {
		if strings.ContainsAny(t.text, "\r\n") {
			return "", false
		}
		// Where there was space or a comment, there is one space now.
		if t.start > end && b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.text)
		end = t.end
	}
	return b.String(), true
}
