package posix

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Regular expressions of some databases go back and try again, so that there are patterns and texts
// of which one takes longer than anybody waits: one person's text would decide whether a question
// ends. There a pattern is an automaton, which any database can follow from character to character:
// as long as the text is, whatever is in it.

// MaxEdges is how many edges the states of an automaton have together. They are written out in a
// statement, and what is compiled of it has an end. maxSteps is how many places of a program are
// looked at to find them: some milliseconds, which a question costs before anybody has paid for it.
const (
	MaxEdges = 600
	maxSteps = 1_000_000
)

// Automaton decides whether a text has a part of a pattern.
type Automaton struct {
	States []State // the first is where it begins
}

// State is what is known of a text so far: where the next character leads, and whether the text has
// the part if it ends here.
type State struct {
	Edges []Edge
	Ends  bool
}

// Edge is where characters up to one, including it, lead that no edge before it is for.
type Edge struct {
	Upto rune
	To   int
}

// NewAutomaton makes an automaton of a pattern that [Translate] or [Similar] wrote. One that would
// have more than [MaxEdges] is refused.
func NewAutomaton(pattern string) (*Automaton, error) {
	b, err := newBuilder(pattern)
	if err != nil {
		return nil, err
	}
	if err := b.build(); err != nil {
		return nil, err
	}
	return &b.out, nil
}

func newBuilder(pattern string) (*builder, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	return &builder{prog: prog, cuts: rangeEnds(prog), places: map[string]int{}, seen: make([]int, len(prog.Inst))}, nil
}

func (b *builder) build() error {
	b.number(matchState{[]uint32{uint32(b.prog.Start)}, -1})
	edges := 0
	for i := 0; i < len(b.all); i++ {
		s := b.state(b.all[i])
		if edges += len(s.Edges); edges > MaxEdges || b.steps > maxSteps {
			return refuse("write a simpler pattern, or several joined by OR",
				"the pattern runs here as an automaton, and that would have more than %d steps or take too long to build", MaxEdges)
		}
		b.out.States = append(b.out.States, s)
	}
	return nil
}

// matchState is where in a program a text may have led, before the next character is seen, and
// the character before.
type matchState struct {
	at     []uint32
	before rune // -1 at the beginning
}

// partFound is the reading of a text that has the part, whatever follows.
var partFound = matchState{nil, -2}

type builder struct {
	prog   *syntax.Prog
	cuts   []rune         // the last characters of ranges that the program tells apart
	places map[string]int // the numbers of readings, by their spelling
	key    []byte         // a spelling that is looked for
	all    []matchState
	out    Automaton

	steps int   // that were made
	seen  []int // for each place of the program, when it was last come by; now is when that is
	now   int
}

func (b *builder) number(r matchState) int {
	before := r.before
	if before >= 0 { // all that is looked at is whether it belongs to a word
		before = 0
		if isWord(r.before) {
			before = 'a'
		}
		r.before = before
	}
	b.key = binary.LittleEndian.AppendUint32(b.key[:0], uint32(before))
	for _, pc := range r.at {
		b.key = binary.LittleEndian.AppendUint32(b.key, pc)
	}
	if n, ok := b.places[string(b.key)]; ok {
		return n
	}
	b.places[string(b.key)] = len(b.all)
	b.all = append(b.all, r)
	return len(b.all) - 1
}

// state follows a reading by every range of characters.
func (b *builder) state(r matchState) State {
	if r.before == partFound.before {
		return State{Edges: []Edge{{unicode.MaxRune, b.number(partFound)}}, Ends: true}
	}
	_, ends := b.closure(r, syntax.EmptyOpContext(r.before, -1))
	s := State{Ends: ends}
	// What is read next is the same for all characters that are alike to what reads none.
	type next struct {
		from  []uint32
		match bool
	}
	alike := map[syntax.EmptyOp]next{}
	for _, c := range b.cuts {
		empty := syntax.EmptyOpContext(r.before, c)
		n, ok := alike[empty]
		if !ok {
			n.from, n.match = b.closure(r, empty)
			alike[empty] = n
		}
		to := b.number(b.step(n.from, n.match, c))
		if n := len(s.Edges); n > 0 && s.Edges[n-1].To == to {
			s.Edges[n-1].Upto = c
			continue
		}
		if s.Edges = append(s.Edges, Edge{c, to}); len(s.Edges) > MaxEdges || b.steps > maxSteps {
			break // it is refused
		}
	}
	return s
}

// step reads a character, in places where one is read.
func (b *builder) step(from []uint32, match bool, c rune) matchState {
	if match {
		return partFound
	}
	// The part may begin at the next character.
	b.now++
	next := []uint32{uint32(b.prog.Start)}
	b.seen[b.prog.Start] = b.now
	for _, pc := range from {
		i := &b.prog.Inst[pc]
		if i.MatchRune(c) && b.seen[i.Out] != b.now {
			b.seen[i.Out] = b.now
			next = append(next, i.Out)
		}
	}
	b.steps += len(from) + 1
	slices.Sort(next)
	return matchState{next, c}
}

// closure follows what reads no character, between the character before and the next. It returns
// where characters are read, and whether the part has ended.
func (b *builder) closure(r matchState, empty syntax.EmptyOp) (at []uint32, match bool) {
	b.now++
	var follow func(pc uint32)
	follow = func(pc uint32) {
		if b.seen[pc] == b.now {
			return
		}
		b.seen[pc] = b.now
		b.steps++
		switch i := &b.prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(i.Out)
			follow(i.Arg)
		case syntax.InstCapture, syntax.InstNop:
			follow(i.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(i.Arg)&^empty == 0 {
				follow(i.Out)
			}
		case syntax.InstMatch:
			match = true
		case syntax.InstFail:
		default:
			at = append(at, pc)
		}
	}
	for _, pc := range r.at {
		follow(pc)
	}
	return at, match
}

// rangeEnds are the last characters of the ranges that a program, and the end of a word, tells
// apart.
func rangeEnds(prog *syntax.Prog) []rune {
	out := []rune{unicode.MaxRune}
	span := func(lo, hi rune) {
		if lo > 0 {
			out = append(out, lo-1)
		}
		out = append(out, hi)
	}
	for _, i := range prog.Inst {
		switch i.Op {
		case syntax.InstEmptyWidth:
			for _, s := range [][2]rune{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}, {'\n', '\n'}} {
				span(s[0], s[1])
			}
		case syntax.InstRune1, syntax.InstRune:
			for k := 0; k < len(i.Rune); k += 2 {
				span(i.Rune[k], i.Rune[min(k+1, len(i.Rune)-1)])
			}
			if syntax.Flags(i.Arg)&syntax.FoldCase != 0 {
				for c := unicode.SimpleFold(i.Rune[0]); c != i.Rune[0]; c = unicode.SimpleFold(c) {
					span(c, c)
				}
			}
		case syntax.InstRuneAnyNotNL:
			span('\n', '\n')
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func isWord(c rune) bool { return syntax.IsWordChar(c) }

// span is all characters from one to another.
type span struct{ low, high rune }

// set is a set of characters: spans in rising order that do not touch.
type set []span

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
	for _, r := range casedCharacters() {
		if s.holds(r) {
			lower, upper := unicode.ToLower(r), unicode.ToUpper(r)
			out = append(out, span{lower, lower}, span{upper, upper})
		}
	}
	return newSet(out...)
}

var casedCharacters = sync.OnceValue(func() (out []rune) {
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

var anyCharacter = set{{0, utf8.MaxRune}}

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
