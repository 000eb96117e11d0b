package interpret

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

func (b operatorBinder) matching(op string, l, r *expr) (*expr, error) {
	for _, x := range []**expr{&l, &r} {
		if !(*x).untyped() && oid.KindOf((*x).typ) != oid.KindText {
			return nil, b.noOperator(op, l, r)
		}
		var err error
		if *x, err = b.types.cast(*x, oid.Text); err != nil {
			return nil, err
		}
	}
	not := strings.HasPrefix(op, "!")
	kind := strings.TrimPrefix(op, "!")
	return strict(oid.Bool, l, r, func(r *run, x, y datum.Value) (datum.Value, error) {
		text := string(x.(datum.Text))
		re, err := r.countedPattern(kind, string(y.(datum.Text)), text)
		if err != nil {
			return nil, err
		}
		return datum.Bool(re.MatchString(text) != not), nil
	}), nil
}

const (
	maxPattern      = 1000   // bytes
	maxInstructions = 10_000 // of a compiled pattern
)

// pattern is a compiled regular expression, and how many instructions it has.
type pattern struct {
	*regexp.Regexp
	instructions int
}

// cost is how many steps it takes to look for the pattern once: at worst, RE2 tries every
// instruction at every byte.
func (p *pattern) cost(text string) int { return 1 + len(text)*p.instructions/20 }

// costAll is cost for all places of a text: each may be looked for to the end.
func (p *pattern) costAll(text string) int { return (1 + len(text)) * p.cost(text) }

// countedPattern is pattern, with the steps counted that it takes to look for it once in a text.
func (r *run) countedPattern(kind, source, text string) (*pattern, error) {
	re, err := r.pattern(kind, source)
	if err != nil {
		return nil, err
	}
	return re, r.step(re.cost(text))
}

// pattern compiles a pattern of LIKE (~~) or of POSIX (~), with * for any letter case.
func (r *run) pattern(kind, text string) (*pattern, error) {
	id := kind + " " + text
	if re := r.regexps[id]; re != nil {
		return re, nil
	}
	if len(text) > maxPattern {
		return nil, Fail("54000", "a pattern is longer than %d bytes", maxPattern)
	}
	flags := "(?s"
	if strings.HasSuffix(kind, "*") {
		flags += "i"
	}
	var source string
	var err error
	if strings.HasPrefix(kind, "~~") {
		source, err = likeSource(text)
	} else {
		source, err = posixSource(text)
	}
	if err != nil {
		return nil, err
	}
	source = flags + ")" + source
	tree, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return nil, Fail("2201B", "invalid regular expression")
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, Fail("2201B", "invalid regular expression")
	}
	n := len(program.Inst)
	if n > maxInstructions {
		return nil, Fail("54000", "a pattern is too large")
	}
	if err := r.spend(100+10*n, 1000+300*n); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(source)
	if err != nil {
		return nil, Fail("2201B", "invalid regular expression")
	}
	if r.regexps == nil {
		r.regexps = map[string]*pattern{}
	}
	p := &pattern{re, n}
	r.regexps[id] = p
	return p, nil
}

// likeSource writes a pattern of LIKE as RE2 has it.
func likeSource(text string) (string, error) {
	var b strings.Builder
	b.WriteString("^(?:")
	escaped := false
	for _, c := range text {
		switch {
		case escaped:
			b.WriteString(regexp.QuoteMeta(string(c)))
			escaped = false
		case c == '\\':
			escaped = true
		case c == '%':
			b.WriteString(".*")
		case c == '_':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	if escaped {
		return "", Fail("22025", "LIKE pattern must not end with escape character")
	}
	b.WriteString(")$")
	return b.String(), nil
}

func badPattern(why string) error { return Fail("2201B", "invalid regular expression: %s", why) }

// posixSource writes an expression of PostgreSQL as RE2 has it. What RE2 has no word for is
// refused.
func posixSource(text string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			if i++; i >= len(text) {
				return "", badPattern("invalid escape \\ sequence")
			}
			if err := escape(&b, text[i]); err != nil {
				return "", err
			}
		case c == '[':
			n, err := bracket(&b, text[i+1:])
			if err != nil {
				return "", err
			}
			i += n
		case c == '(' && strings.HasPrefix(text[i:], "(?") && !strings.HasPrefix(text[i:], "(?:"):
			return "", badPattern("look-around is not supported")
		case c == '$':
			b.WriteString(`\z`)
		case c == '^':
			b.WriteString(`\A`)
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), nil
}

// escape writes what follows a backslash.
func escape(b *strings.Builder, c byte) error {
	letter := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	if letter && strings.IndexByte("dDwWsSntrfv", c) < 0 {
		return badPattern("the escape \\" + string(rune(c)) + " is not supported")
	}
	if c < 0x80 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
	return nil
}

// bracket writes a bracket expression, and says how long it is. It ends at the first ] that is not
// its first character. RE2 needs its [ and \ escaped.
func bracket(b *strings.Builder, text string) (int, error) {
	j := 0
	b.WriteByte('[')
	if strings.HasPrefix(text, "^") {
		b.WriteByte('^')
		j++
	}
	for first := true; j < len(text) && (text[j] != ']' || first); first = false {
		switch {
		case strings.HasPrefix(text[j:], "[:"):
			end := strings.Index(text[j:], ":]")
			if end < 0 {
				return 0, badPattern("brackets [] not balanced")
			}
			b.WriteString(text[j : j+end+2])
			j += end + 2
			continue
		case text[j] == '[' || text[j] == ']':
			b.WriteByte('\\')
		case text[j] == '\\':
			b.WriteByte('\\')
			if j++; j >= len(text) {
				return 0, badPattern("invalid escape \\ sequence")
			}
		}
		b.WriteByte(text[j])
		j++
	}
	if j >= len(text) {
		return 0, badPattern("brackets [] not balanced")
	}
	b.WriteByte(']')
	return j + 1, nil
}

var patternFunctions = []Function{
	{"substring(text,text) text", matchText},
	{"regexp_replace(text,text,text,text=) text", replacePattern},
	{"regexp_like(text,text,text=) bool", func(c *Call) (datum.Value, error) {
		m, err := c.matches(2, 1)
		return datum.Bool(len(m) > 0), err
	}},
	{"regexp_count(text,text) int4", func(c *Call) (datum.Value, error) {
		m, err := c.matches(2, -1)
		return datum.Int(len(m)), err
	}},
	{"regexp_substr(text,text) text", func(c *Call) (datum.Value, error) {
		m, err := c.matches(2, 1)
		if len(m) == 0 || err != nil {
			return nil, err
		}
		return c.NewText(c.Text(0)[m[0][0]:m[0][1]])
	}},
	{"regexp_match(text,text,text=) text[]", func(c *Call) (datum.Value, error) {
		m, err := c.matches(2, 1)
		if len(m) == 0 || err != nil {
			return nil, err
		}
		return c.groups(m[0])
	}},
	{"regexp_matches(text,text,text=) setof text[]", func(c *Call) (datum.Value, error) {
		m, err := c.matches(2, 1)
		out := datum.List{}
		for _, one := range m {
			groups, err := c.groups(one)
			if err != nil {
				return nil, err
			}
			out = append(out, groups)
		}
		return out, err
	}},
	{"regexp_split_to_array(text,text,text=) text[]", splitPattern},
	{"regexp_split_to_table(text,text,text=) setof text", splitPattern},
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

// flagged is the pattern that the second argument is, with the flags of another: i for any letter
// case, and g for all places.
func (c *Call) flagged(flags int) (re *pattern, everywhere bool, err error) {
	kind := "~"
	if len(c.Args) > flags {
		for _, f := range c.Text(flags) {
			switch f {
			case 'i':
				kind = "~*"
			case 'c':
				kind = "~"
			case 'g':
				everywhere = true
			case 's', 't':
			case 'b', 'e', 'm', 'n', 'p', 'q', 'w', 'x':
				return nil, false, unsupported("this option of a regular expression")
			default:
				return nil, false, Fail("22023", "invalid regular expression option: %q", string(f))
			}
		}
	}
	re, err = c.run.pattern(kind, c.Text(1))
	return re, everywhere, err
}

// matches are the places where the second argument matches the first: so many at most, or all where
// the flags say so.
func (c *Call) matches(flags, limit int) ([][]int, error) {
	re, everywhere, err := c.flagged(flags)
	if err != nil {
		return nil, err
	}
	s, cost := c.Text(0), 0
	switch {
	case everywhere && !strings.HasSuffix(c.Name, "matches"):
		return nil, Fail("22023", "%s() does not support the \"global\" option", c.Name)
	case everywhere || limit < 0:
		limit, cost = -1, re.costAll(s)
	default:
		cost = re.cost(s)
	}
	if err := c.run.step(cost); err != nil {
		return nil, err
	}
	found := re.FindAllStringSubmatchIndex(s, limit)
	return found, c.run.take(64 * len(found))
}

// groups are the texts of the groups of a match, or of all of it where there are none.
func (c *Call) groups(m []int) (datum.Value, error) {
	if len(m) > 2 {
		m = m[2:]
	}
	out := datum.List{}
	for i := 0; i < len(m); i += 2 {
		if m[i] < 0 {
			out = append(out, nil)
			continue
		}
		out = append(out, datum.Text(c.Text(0)[m[i]:m[i+1]]))
	}
	return c.run.list(out)
}

// splitPattern are the texts between the matches. An empty one at an end or next to another splits
// nothing.
func splitPattern(c *Call) (datum.Value, error) {
	m, err := c.matches(2, -1)
	if err != nil {
		return nil, err
	}
	s, last := c.Text(0), 0
	out := datum.List{}
	for _, one := range m {
		if one[1] == one[0] && (one[0] == 0 || one[0] == len(s) || one[0] == last) {
			continue
		}
		out = append(out, datum.Text(s[last:one[0]]))
		last = one[1]
	}
	return c.run.list(append(out, datum.Text(s[last:])))
}

func replacePattern(c *Call) (datum.Value, error) {
	s, by := c.Text(0), c.Text(2)
	re, everywhere, err := c.flagged(3)
	if err != nil {
		return nil, err
	}
	limit, cost := 1, re.cost(s)
	if everywhere {
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
	pattern, esc := c.Text(0), []rune(c.Text(1))
	if len(pattern) > maxPattern || len(esc) > 1 {
		return nil, Fail("22025", "invalid escape string")
	}
	var b strings.Builder
	after := false
	for _, r := range pattern {
		switch {
		case len(esc) > 0 && r == esc[0] && !after:
			b.WriteByte('\\')
			after = true
			continue
		case r == '\\' && !after:
			b.WriteString(`\\`)
		default:
			b.WriteRune(r)
		}
		after = false
	}
	return datum.Text(b.String()), nil
}
