package posix

import (
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

// TestAutomatonEnds: a pattern whose automaton would be large is refused, in no time.
func TestAutomatonEnds(t *testing.T) {
	for _, pattern := range []string{"(a|b)*a(a|b){20}", "a.{200}b"} {
		written, err := Translate(pattern, true)
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		if a, err := NewAutomaton(written); err == nil {
			t.Errorf("%s has %d states", pattern, len(a.States))
		}
	}
}
