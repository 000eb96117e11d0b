package posix

import (
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// run follows an automaton as a database does.
func (a *Automaton) run(text string) bool {
	at := 0
	for _, c := range text {
		for _, e := range a.States[at].Edges {
			if c <= e.Upto {
				at = e.To
				break
			}
		}
	}
	return a.States[at].Ends
}

// TestAutomaton: an automaton decides as a matcher does, on texts made of what the patterns are
// about.
func TestAutomaton(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	signs := []string{"a", "b", "A", "k", "K", "K", "ſ", "é", "É", "ß", "_", "1", "9", " ", "\n", "\x00", ".", "-", "😀", "İ"}
	patterns := []string{"", "^$", "a", ".", "^.$", "[^a]", "[^a-z]$", `\yb`, `\Ya`, `\ma\M`, `\W`, `\s`, "k", "[k-s]", "İ|ı", "ß", "(a|)*$",
		"a{0}", "a{2,}", "()", `\0`, "[[:punct:]]", `[\u0080-\U0010FFFF]`, `\n`, "^a|b$", `[^\d]`, `\D`, `[\w.]`, `\A\Z`, "$^", `.\Y`, `\y`,
		"(a|b)*a(a|b){3}$", "^(a+)+$", "a.*b.*c", "(aa|a)*b", "[a-z]+@[a-z]+", "x{3,7}y?", `\mab\M|é+`}
	for _, pattern := range patterns {
		for _, fold := range []bool{false, true} {
			written, err := Translate(pattern, fold)
			if err != nil {
				t.Fatalf("%s: %v", pattern, err)
			}
			a, err := NewAutomaton(written)
			if err != nil {
				t.Errorf("%s: %v", pattern, err)
				continue
			}
			matcher := regexp.MustCompile(written)
			for range 400 {
				var b strings.Builder
				for range rng.IntN(9) {
					b.WriteString(signs[rng.IntN(len(signs))])
				}
				if got, want := a.run(b.String()), matcher.MatchString(b.String()); got != want {
					t.Fatalf("%q of %q (%s): %v", b.String(), pattern, written, got)
				}
			}
		}
	}
}

// TestAutomatonEnds: a pattern whose automaton would be large is refused, and so is one that takes
// long to become one, in no time: a question is looked at for nothing.
func TestAutomatonEnds(t *testing.T) {
	class := func(n int) string { // of many ranges
		var b strings.Builder
		for i := range n {
			b.WriteRune(rune(0x100 + 3*i))
		}
		return "[" + b.String() + "]"
	}
	for _, pattern := range []string{"(a|b)*a(a|b){20}", "a.{200}b", "^(.?){60}.{100}" + class(150) + "$", class(120) + "{2}",
		"^(.?){20}.{200}" + class(160) + "$", "(^(.?){60}.{100}|Q)" + class(150) + "$"} {
		for _, fold := range []bool{false, true} {
			written, err := Translate(pattern, fold)
			if err != nil {
				t.Fatalf("%s: %v", pattern, err)
			}
			b, err := newBuilder(written)
			if err != nil {
				t.Fatalf("%s: %v", pattern, err)
			}
			if err := b.build(); !errors.As(err, new(*Error)) {
				t.Errorf("%s has %d states, %v", pattern, len(b.out.States), err)
			}
			if b.steps > 2*maxSteps {
				t.Errorf("%s took %d steps", pattern, b.steps)
			}
		}
	}
}
