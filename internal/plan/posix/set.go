package posix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// span is all characters from one to another.
type span struct{ low, high rune }

// set is a set of characters: spans in rising order that do not touch.
type set []span

// newSet sorts and joins spans.
func newSet(spans ...span) set {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	var out set
	for _, s := range spans {
		if n := len(out); n > 0 && s.low <= out[n-1].high+1 {
			out[n-1].high = max(out[n-1].high, s.high)
			continue
		}
		out = append(out, s)
	}
	return out
}

func (s set) holds(r rune) bool {
	return slices.ContainsFunc(s, func(x span) bool { return x.low <= r && r <= x.high })
}

// without reports the characters that are not in the set.
func (s set) without() set {
	var out []span
	next := rune(0)
	for _, x := range s {
		if next < x.low {
			out = append(out, span{next, x.low - 1})
		}
		next = x.high + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, span{next, utf8.MaxRune})
	}
	return newSet(out...)
}

// isInside reports whether all of the set is in another.
func (s set) isInside(t set) bool {
	return !slices.ContainsFunc(s, func(x span) bool {
		return !slices.ContainsFunc(t, func(y span) bool { return y.low <= x.low && x.high <= y.high })
	})
}

// folded adds the upper and the lower case of each character.
func (s set) folded() set {
	out := slices.Clone(s)
	for _, r := range cased() {
		if s.holds(r) {
			lower, upper := unicode.ToLower(r), unicode.ToUpper(r)
			out = append(out, span{lower, lower}, span{upper, upper})
		}
	}
	return newSet(out...)
}

// cased are the characters that have another case.
var cased = sync.OnceValue(func() (out []rune) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if unicode.ToLower(r) != r || unicode.ToUpper(r) != r {
			out = append(out, r)
		}
	}
	return out
})

// String writes the set as a class of characters. What is in no text is a class too, of nothing
// that can be there.
func (s set) String() string {
	if len(s) == 0 {
		return `[^\x{0}-\x{10ffff}]`
	}
	var b strings.Builder
	b.WriteByte('[')
	for _, x := range s {
		fmt.Fprintf(&b, `\x{%x}`, x.low)
		if x.low != x.high {
			fmt.Fprintf(&b, `-\x{%x}`, x.high)
		}
	}
	b.WriteByte(']')
	return b.String()
}

// anything is every character.
var anything = set{{0, utf8.MaxRune}}

var (
	digits = newSet(span{'0', '9'})
	words  = newSet(span{'0', '9'}, span{'A', 'Z'}, span{'a', 'z'}, span{'_', '_'})
	spaces = newSet(span{'\t', '\r'}, span{' ', ' '})
)

// classes are those of [[:name:]].
var classes = map[string]set{
	"alpha": newSet(span{'A', 'Z'}, span{'a', 'z'}), "upper": {{'A', 'Z'}}, "lower": {{'a', 'z'}}, "digit": digits,
	"xdigit": newSet(span{'0', '9'}, span{'A', 'F'}, span{'a', 'f'}), "alnum": newSet(span{'0', '9'}, span{'A', 'Z'}, span{'a', 'z'}),
	"punct": newSet(span{'!', '/'}, span{':', '@'}, span{'[', '`'}, span{'{', '~'}), "blank": newSet(span{'\t', '\t'}, span{' ', ' '}),
	"space": spaces, "cntrl": newSet(span{0, 0x1f}, span{0x7f, 0x7f}), "graph": {{'!', '~'}}, "print": {{' ', '~'}}, "word": words,
}
