package interpret

import (
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
)

// textFunctions are the functions on whole texts.
var textFunctions = []Function{
	{"lower(text) text", mapText(strings.ToLower)},
	{"upper(text) text", mapText(strings.ToUpper)},
	{"quote_ident(text) text", mapText(ident.Quote)},
	{"quote_literal(text) text", mapText(quoteLiteral)},
	{"length|char_length|character_length(text) int4", func(c *Call) (datum.Value, error) {
		return datum.Int(utf8.RuneCountInString(c.Text(0))), nil
	}},
	{"btrim(text,text=) text", trimText(strings.Trim)},
	{"ltrim(text,text=) text", trimText(strings.TrimLeft)},
	{"rtrim(text,text=) text", trimText(strings.TrimRight)},
	{"replace(text,text,text) text", replaceText},
	{"repeat(text,int4) text", repeatText},
	{"parse_ident(text) text[]", splitIdent},
	{"lax concat(...any) text", func(c *Call) (datum.Value, error) { return c.join("", 0) }},
	{"lax concat_ws(text,...any) text", func(c *Call) (datum.Value, error) {
		if c.Args[0] == nil {
			return nil, nil
		}
		return c.join(c.Text(0), 1)
	}},
	{"lax format(text,...any) text", formatText},
}

// mapText makes a function of one on texts.
func mapText(f func(string) string) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) { return c.NewText(f(c.Text(0))) }
}

// trimText makes a function that takes characters off the ends of a text.
func trimText(trim func(s, cut string) string) func(*Call) (datum.Value, error) {
	return func(c *Call) (datum.Value, error) {
		s, cut := c.Text(0), " "
		if len(c.Args) > 1 {
			cut = c.Text(1)
		}
		if len(cut) > 100 {
			return nil, Fail("54000", "more than 100 characters to trim")
		}
		return datum.Text(trim(s, cut)), c.run.step(1 + len(s)*len(cut)/64)
	}
}

func replaceText(c *Call) (datum.Value, error) {
	s, old, by := c.Text(0), c.Text(1), c.Text(2)
	if old == "" {
		return c.Args[0], nil
	}
	if n := strings.Count(s, old); len(s)+n*(len(by)-len(old)) > maxString {
		return nil, tooLong()
	}
	return c.NewText(strings.ReplaceAll(s, old, by))
}

func repeatText(c *Call) (datum.Value, error) {
	s, n := c.Text(0), max(0, c.Int(1))
	if s == "" || n == 0 {
		return datum.Text(""), nil
	}
	if n > maxString/int64(len(s)) {
		return nil, tooLong()
	}
	return c.NewText(strings.Repeat(s, int(n)))
}

func splitIdent(c *Call) (datum.Value, error) {
	parts, ok := ident.Split(c.Text(0))
	if !ok {
		return nil, Fail("22023", "string is not a valid identifier")
	}
	return datum.Texts(parts...), nil
}

// join puts the arguments from one on together, without those that are NULL.
func (c *Call) join(sep string, first int) (datum.Value, error) {
	return c.joinValues(c.Args[first:], c.Types[first:], sep, nil)
}

// joinValues writes values with a text between them. NULLs are left out, or are written as null
// says.
func (c *Call) joinValues(values []datum.Value, types []uint32, sep string, null datum.Value) (datum.Value, error) {
	var b strings.Builder
	begun := false
	for i, v := range values {
		s, err := c.run.format(v, types[min(i, len(types)-1)])
		if err != nil {
			return nil, err
		}
		if v == nil {
			text, ok := null.(datum.Text)
			if !ok {
				continue
			}
			s = string(text)
		}
		if begun {
			b.WriteString(sep)
		}
		begun = true
		if b.WriteString(s); b.Len() > maxString {
			return nil, tooLong()
		}
	}
	return c.NewText(b.String())
}
