package posix

import (
	"strconv"
	"unicode/utf8"
)

// places are escapes that match no character.
var places = map[rune]kind{'A': begin, 'Z': end, 'y': boundary, 'Y': noBoundary, 'm': wordBegins, 'M': wordEnds}

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
	if k, ok := places[c]; ok {
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
		return 0, refuse(`write the character itself, or \uwxyz`, `\%c means nothing that is known here`, c)
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
	return 0, refuse(`write for example \u00e9`, `\u has 4 hexadecimal digits and \U 8, which are a character`)
}

// class reads what stands in [ ].
func (r *reader) class() (*part, error) {
	unclosed := refuse(`write \[ for the sign itself`, "[ of the pattern is not closed")
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
				return nil, refuse("write the smaller character first, as in [a-z]", "a range of [ ] has no two ends in order")
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
		return 0, nil, refuse("write for example [[:alpha:]] or [[:digit:]]", "there is no class of characters of this name")
	}
	if r.begins("[.") || r.begins("[=") {
		return 0, nil, refuse("write the characters themselves",
			"[. and [= are about languages, and characters are compared as they are here")
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
