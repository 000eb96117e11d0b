package posix

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

type reader struct {
	rest  []rune
	fold  bool
	depth int
}

// next takes a character; 0 and false at the end.
func (r *reader) next() (rune, bool) {
	if len(r.rest) == 0 {
		return 0, false
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c, true
}

// begins reports whether what is left begins with a text, and takes takes it.
func (r *reader) begins(text string) bool {
	return strings.HasPrefix(string(r.rest[:min(len(r.rest), len(text))]), text)
}

func (r *reader) takes(text string) bool {
	if !r.begins(text) {
		return false
	}
	r.rest = r.rest[utf8.RuneCountInString(text):]
	return true
}

func (r *reader) whole() (*part, error) {
	if r.begins("***") {
		return nil, refuse("leave it out", "*** at the beginning of a pattern chooses another syntax, but there is only one here")
	}
	if err := r.options(); err != nil {
		return nil, err
	}
	p, err := r.choice()
	if err != nil {
		return nil, err
	}
	if len(r.rest) > 0 {
		return nil, refuse(`write \) for a bracket in the text`, "the pattern closes a bracket that was not opened")
	}
	return p, nil
}

// options reads (?i) at the beginning, as in (?i)abc.
func (r *reader) options() error {
	if !r.begins("(?") || len(r.rest) < 3 || !('a' <= r.rest[2] && r.rest[2] <= 'z') {
		return nil
	}
	r.takes("(?")
	for {
		c, ok := r.next()
		switch {
		case ok && c == ')':
			return nil
		case ok && c == 'i':
			r.fold = true
		case ok && c == 'c':
			r.fold = false
		case ok && (c == 's' || c == 'e' || c == 't'): // as it is anyway
		default:
			return refuse("write (?i) to ignore case, or leave it out", "here the options of a pattern can only be i, c and s")
		}
	}
}

func (r *reader) choice() (*part, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, refuse("write a simpler pattern", "brackets of the pattern are nested more than %d levels deep", maxDepth)
	}
	defer func() { r.depth-- }()
	out := &part{kind: choice}
	for {
		branch, err := r.branch()
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, branch)
		if !r.takes("|") {
			return out, nil
		}
	}
}

func (r *reader) branch() (*part, error) {
	out := &part{kind: sequence}
	for len(r.rest) > 0 && r.rest[0] != '|' && r.rest[0] != ')' {
		p, err := r.atom()
		if err == nil {
			p, err = r.quantified(p)
		}
		if err != nil {
			return nil, err
		}
		out.parts = append(out.parts, p)
	}
	return out, nil
}

// quantified reads * + ? {m,n} behind a part.
func (r *reader) quantified(p *part) (*part, error) {
	out := &part{kind: repeated, parts: []*part{p}, most: -1}
	switch {
	case r.takes("*"):
	case r.takes("+"):
		out.least = 1
	case r.takes("?"):
		out.most = 1
	case len(r.rest) > 1 && r.rest[0] == '{' && isDigit(r.rest[1]):
		if err := r.bounds(out); err != nil {
			return nil, err
		}
	default:
		return p, nil
	}
	if p.kind != characters && p.kind != choice {
		return nil, refuse("repeat a character, a class or an expression in brackets",
			"a beginning or an end cannot be repeated")
	}
	r.takes("?") // not greedy: which part matches is not asked
	if len(r.rest) > 0 && (slices.Contains([]rune("*+?"), r.rest[0]) || len(r.rest) > 1 && r.rest[0] == '{' && isDigit(r.rest[1])) {
		return nil, refuse("put brackets around the part that is repeated twice", "two repetitions follow each other")
	}
	return out, nil
}

func isDigit(c rune) bool { return '0' <= c && c <= '9' }

func (r *reader) bounds(p *part) error {
	r.takes("{")
	wrong := refuse("write {2}, {2,} or {2,5}", "a repetition takes two numbers from 0 to at most %d, the smaller one first", maxRepeat)
	number := func() (int, bool) {
		n := 0
		for n < len(r.rest) && isDigit(r.rest[n]) {
			n++
		}
		v, err := strconv.Atoi(string(r.rest[:n]))
		r.rest = r.rest[n:]
		return v, err == nil && v <= maxRepeat
	}
	var ok bool
	if p.least, ok = number(); !ok {
		return wrong
	}
	p.most = p.least
	if r.takes(",") {
		p.most = -1
		if len(r.rest) > 0 && isDigit(r.rest[0]) {
			if p.most, ok = number(); !ok || p.most < p.least {
				return wrong
			}
		}
	}
	if !r.takes("}") {
		return wrong
	}
	return nil
}

// atom reads a character, a class, a group or a place.
func (r *reader) atom() (*part, error) {
	c, _ := r.next()
	switch c {
	case '.':
		return &part{set: anyCharacter}, nil
	case '^':
		return &part{kind: begin}, nil
	case '$':
		return &part{kind: end}, nil
	case '[':
		return r.class()
	case '(':
		return r.group()
	case '\\':
		return r.escaped()
	case '*', '+', '?':
		return nil, refuse(`write \`+string(c)+" for the character itself", "%c repeats what comes before it, but nothing comes "+
			"before it", c)
	case '{':
		if len(r.rest) > 0 && isDigit(r.rest[0]) {
			return nil, refuse(`write \{ for the character itself`, "{ repeats what comes before it, but nothing comes before it")
		}
	}
	return r.one(c), nil
}

func (r *reader) one(c rune) *part { return r.of(newSet(span{c, c})) }

// of is one character of a set, in either case where case is ignored.
func (r *reader) of(s set) *part {
	if r.fold {
		s = s.folded()
	}
	return &part{set: s}
}

func (r *reader) group() (*part, error) {
	if r.takes("?") && !r.takes(":") {
		return nil, refuse("write two conditions with AND, or NOT",
			"a pattern that looks around (?=, ?!, ?<) would take longer than its text")
	}
	p, err := r.choice()
	if err != nil {
		return nil, err
	}
	if !r.takes(")") {
		return nil, refuse(`write \( for a bracket in the text`, "a bracket of the pattern is not closed")
	}
	return p, nil
}

// positionEscapes are escapes that match no character.
var positionEscapes = map[rune]kind{'A': begin, 'Z': end, 'y': boundary, 'Y': noBoundary, 'm': wordBegins, 'M': wordEnds}

// sets are escapes that match one of several, and controls those that match one.
var (
	sets     = map[rune]set{'d': digits, 'w': words, 's': spaces}
	controls = map[rune]rune{'a': 7, 'b': 8, 'B': '\\', 'e': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11, '0': 0}
)

// escaped reads what stands behind a backslash, outside of brackets.
func (r *reader) escaped() (*part, error) {
	if len(r.rest) == 0 {
		return nil, refuse("write it twice", "the pattern ends with a backslash")
	}
	c := r.rest[0]
	if k, ok := positionEscapes[c]; ok {
		r.next()
		return &part{kind: k}, nil
	}
	if s, ok := sets[c]; ok {
		r.next()
		return &part{set: s}, nil
	}
	if s, ok := sets[c|0x20]; ok && 'A' <= c && c <= 'Z' { // \D, \W, \S
		r.next()
		return &part{set: s.without()}, nil
	}
	if '1' <= c && c <= '9' {
		return nil, refuse("write the text twice", `a back-reference such as \1 would take longer than its text`)
	}
	single, err := r.character()
	if err != nil {
		return nil, err
	}
	return r.one(single), nil
}

// character reads an escape that stands for one character.
func (r *reader) character() (rune, error) {
	c, ok := r.next()
	if !ok {
		return 0, refuse("write it twice", "the pattern ends with a backslash")
	}
	if v, ok := controls[c]; ok {
		return v, nil
	}
	switch {
	case c == 'u':
		return r.hexadecimal(4)
	case c == 'U':
		return r.hexadecimal(8)
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c):
		return 0, refuse(`write the character itself, or \uwxyz`, `\%c has no meaning here`, c)
	}
	return c, nil
}

func (r *reader) hexadecimal(digits int) (rune, error) {
	if len(r.rest) >= digits {
		v, err := strconv.ParseUint(string(r.rest[:digits]), 16, 32)
		if err == nil && v <= utf8.MaxRune && utf8.ValidRune(rune(v)) {
			r.rest = r.rest[digits:]
			return rune(v), nil
		}
	}
	return 0, refuse(`write for example \u00e9`, `\u needs 4 hexadecimal digits and \U 8, for one character`)
}

func (r *reader) class() (*part, error) {
	unclosed := refuse(`write \[ for the character itself`, "[ of the pattern is not closed")
	not := r.takes("^")
	var spans []span
	for first := true; ; first = false {
		if len(r.rest) == 0 {
			return nil, unclosed
		}
		if !first && r.takes("]") {
			break
		}
		low, several, err := r.member()
		if err != nil {
			return nil, err
		}
		if several != nil {
			spans = append(spans, several...)
			continue
		}
		high := low
		if len(r.rest) > 1 && r.rest[0] == '-' && r.rest[1] != ']' {
			r.takes("-")
			if high, several, err = r.member(); err != nil {
				return nil, err
			}
			if several != nil || high < low {
				return nil, refuse("write the smaller character first, as in [a-z]", "a range in [ ] needs two ends, in order")
			}
		}
		spans = append(spans, span{low, high})
	}
	s := newSet(spans...)
	if r.fold {
		s = s.folded()
	}
	if not {
		s = s.without()
	}
	return &part{set: s}, nil
}

// member reads a character of [ ], or several that have a name.
func (r *reader) member() (one rune, several set, err error) {
	if r.takes("[:") {
		for name, s := range classes {
			if r.takes(name + ":]") {
				return 0, s, nil
			}
		}
		return 0, nil, refuse("write for example [[:alpha:]] or [[:digit:]]", "no class of characters has this name")
	}
	if r.begins("[.") || r.begins("[=") {
		return 0, nil, refuse("write the characters themselves",
			"[. and [= depend on languages, but here characters are compared as they are")
	}
	if !r.takes(`\`) {
		c, _ := r.next()
		return c, nil, nil
	}
	if len(r.rest) > 0 {
		if s, ok := sets[r.rest[0]]; ok {
			r.next()
			return 0, s, nil
		}
	}
	one, err = r.character()
	return one, nil, err
}
