package interpret

import (
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// patternFunctions are the functions with regular expressions.
var patternFunctions = []Function{
	{"substring(text,text) text", matchText},
	{"regexp_replace(text,text,text,text=) text", replacePattern},
	{"like_escape(text,text) text", escapeLike},
}

// matchText is the first group of the first match, or all of the match where there are no groups.
func matchText(c *Call) (datum.Value, error) {
	s := c.Text(0)
	re, err := c.run.countedPattern("~", c.Text(1), s)
	if err != nil {
		return nil, err
	}
	m := re.FindStringSubmatchIndex(s)
	if len(m) > 2 {
		m = m[2:]
	}
	if m == nil || m[0] < 0 {
		return nil, nil
	}
	return c.NewText(s[m[0]:m[1]])
}

func replacePattern(c *Call) (datum.Value, error) {
	s, by, flags, kind := c.Text(0), c.Text(2), "", "~"
	if len(c.Args) > 3 {
		flags = c.Text(3)
	}
	if strings.Contains(flags, "i") {
		kind = "~*"
	}
	re, err := c.run.pattern(kind, c.Text(1))
	if err != nil {
		return nil, err
	}
	limit, cost := 1, re.cost(s)
	if strings.Contains(flags, "g") {
		limit, cost = -1, re.costAll(s)
	}
	if err := c.run.step(cost); err != nil {
		return nil, err
	}
	var b strings.Builder
	last := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, limit) {
		b.WriteString(s[last:m[0]])
		expand(&b, by, s, m)
		if last = m[1]; b.Len() > maxString {
			return nil, tooLong()
		}
	}
	b.WriteString(s[last:])
	return c.NewText(b.String())
}

// expand writes what stands for a match: \& is all of it, and \1 a group.
func expand(b *strings.Builder, by, s string, m []int) {
	for i := 0; i < len(by); i++ {
		if by[i] != '\\' || i+1 == len(by) {
			b.WriteByte(by[i])
			continue
		}
		i++
		switch c := by[i]; {
		case c == '&':
			b.WriteString(s[m[0]:m[1]])
		case c >= '1' && c <= '9':
			if g := 2 * int(c-'0'); g+1 < len(m) && m[g] >= 0 {
				b.WriteString(s[m[g]:m[g+1]])
			}
		default:
			b.WriteByte(c)
		}
	}
}

// escapeLike makes a pattern of LIKE whose escape is the backslash.
func escapeLike(c *Call) (datum.Value, error) {
	pattern, esc := c.Text(0), c.Text(1)
	if len(pattern) > maxPattern || utf8.RuneCountInString(esc) > 1 {
		return nil, Fail("22019", "invalid escape string")
	}
	if esc == `\` {
		return datum.Text(pattern), nil
	}
	pattern = strings.ReplaceAll(pattern, `\`, `\\`)
	if esc == "" {
		return datum.Text(pattern), nil
	}
	return datum.Text(strings.NewReplacer(esc+esc, esc, esc, `\`).Replace(pattern)), nil
}
