package trino

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// Trino's regular expressions go back and try again, so that there are patterns and texts of which
// one takes longer than anybody waits: one person's text would decide whether a question ends. So a
// pattern is made an automaton here, of a state for each character that was read, and Trino follows
// it from character to character: as long as the text is, whatever is in it.

// maxEdges is how many edges the states of an automaton have together. They are written out in the
// statement, and what is compiled of it has an end.
const maxEdges = 600

// automaton decides whether a text has a part of a pattern. State 0 is the first.
type automaton struct {
	states []state
}

// state is what is known of a text so far: where the next character leads, by ranges of characters,
// and whether the text has the part if it ends here.
type state struct {
	edges []edge
	ends  bool
}

// edge is where characters up to one, including it, lead that no edge before it is for.
type edge struct {
	upto rune
	to   int
}

// errPattern is what is wrong with a pattern that has too many states.
var errPattern = fmt.Errorf("the pattern has more than %d steps", maxEdges)

// compile makes an automaton of a pattern in the signs of package posix.
func compile(pattern string) (*automaton, error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		return nil, err
	}
	b := &builder{prog: prog, cuts: cuts(prog), places: map[string]int{}}
	b.place(reading{[]uint32{uint32(prog.Start)}, -1})
	edges := 0
	for i := 0; i < len(b.all); i++ {
		s := b.state(b.all[i])
		if edges += len(s.edges); edges > maxEdges {
			return nil, errPattern
		}
		b.out.states = append(b.out.states, s)
	}
	return &b.out, nil
}

// reading is where in a program a text may have led, before the next character is seen, and
// the character before.
type reading struct {
	at     []uint32
	before rune // -1 at the beginning
}

// found is the reading of a text that has the part, whatever follows.
var found = reading{nil, -2}

type builder struct {
	prog   *syntax.Prog
	cuts   []rune // the last characters of ranges that the program tells apart
	places map[string]int
	all    []reading
	out    automaton
}

// place returns the number of a reading.
func (b *builder) place(r reading) int {
	before := r.before
	if before >= 0 { // all that is looked at is whether it belongs to a word
		before = 0
		if isWord(r.before) {
			before = 'a'
		}
		r.before = before
	}
	key := fmt.Sprint(r.at, before)
	if n, ok := b.places[key]; ok {
		return n
	}
	b.places[key] = len(b.all)
	b.all = append(b.all, r)
	return len(b.all) - 1
}

// state follows a reading by every range of characters.
func (b *builder) state(r reading) state {
	if r.before == found.before {
		return state{edges: []edge{{unicode.MaxRune, b.place(found)}}, ends: true}
	}
	_, ends := b.closure(r, -1)
	s := state{ends: ends}
	for _, c := range b.cuts {
		to := b.place(b.step(r, c))
		if n := len(s.edges); n > 0 && s.edges[n-1].to == to {
			s.edges[n-1].upto = c
			continue
		}
		s.edges = append(s.edges, edge{c, to})
	}
	return s
}

// step reads a character.
func (b *builder) step(r reading, c rune) reading {
	from, match := b.closure(r, c)
	if match {
		return found
	}
	// The part may begin at the next character.
	next := []uint32{uint32(b.prog.Start)}
	for _, pc := range from {
		if i := &b.prog.Inst[pc]; i.MatchRune(c) && !slices.Contains(next, i.Out) {
			next = append(next, i.Out)
		}
	}
	slices.Sort(next)
	return reading{next, c}
}

// closure follows what reads no character, where c comes next or, if that is -1, nothing. It
// returns where characters are read, and whether the part has ended.
func (b *builder) closure(r reading, c rune) (at []uint32, match bool) {
	before := r.before
	empty := syntax.EmptyOpContext(before, c)
	seen := map[uint32]bool{}
	var follow func(pc uint32)
	follow = func(pc uint32) {
		if seen[pc] {
			return
		}
		seen[pc] = true
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

// cuts are the last characters of the ranges that a program, and the end of a word, tells apart.
func cuts(prog *syntax.Prog) []rune {
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

// finds prints that a text has a part of a pattern, which stands in quotes.
func finds(x, pattern string) string {
	a, err := compile(strings.ReplaceAll(strings.Trim(pattern, "'"), "''", "'"))
	if err != nil {
		panic("trino: a pattern that was not refused: " + err.Error()) // see [Engine.Refuses]
	}
	return a.print(x)
}

// print writes the automaton. A character that is none of Unicode's leads nowhere.
func (a *automaton) print(x string) string {
	var step, end strings.Builder
	for i, s := range a.states {
		fmt.Fprintf(&step, " WHEN %d THEN ", i)
		if len(s.edges) == 1 {
			fmt.Fprint(&step, s.edges[0].to)
		} else {
			step.WriteString("CASE")
			for _, e := range s.edges[:len(s.edges)-1] {
				fmt.Fprintf(&step, " WHEN c <= %d THEN %d", e.upto, e.to)
			}
			fmt.Fprintf(&step, " ELSE %d END", s.edges[len(s.edges)-1].to)
		}
		if s.ends {
			fmt.Fprintf(&end, ", %d", i)
		}
	}
	if end.Len() == 0 {
		end.WriteString(", -1")
	}
	return fmt.Sprintf("reduce(transform(regexp_extract_all(%s, '(?s).'), c -> codepoint(CAST(c AS varchar(1)))), 0, (s, c) -> CASE s%s END, "+
		"s -> s IN (%s))", x, step.String(), strings.TrimPrefix(end.String(), ", "))
}
