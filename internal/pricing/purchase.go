package pricing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/mech"
)

// Purchase is a private query with its noise: what is paid for, kept and recalled as one.
type Purchase struct {
	Query  *tree.Query
	pure   bool
	Noise  []Noise    // one for each measure; none where there is a choice
	Twins  [][2]int   // measures that are released as one vector, with the noise of the first
	Keys   *KeyRule   // nil where all keys are public
	Choice *selection // nil where measures are released
	Cube   *Cube      // what it is released with; nil where it is by itself

	running []int // the measures of which running totals are made

	name string // the hash, once the noise is calibrated
}

// shares is into how many parts the price of the purchase goes: one for each measure, and one for
// private keys, unless a measure is released with them.
func (b *Purchase) shares() int {
	n := len(b.Query.Measures)
	if len(b.Query.PrivateKeys()) > 0 && b.Query.Decider() < 0 {
		n++
	}
	return n
}

// Cells is how many noisy numbers there are: for each combination of private keys, where there are
// such.
func (b *Purchase) Cells() int {
	if b.Query.Choice != nil {
		return b.Query.Choice.K
	}
	n := 0
	for _, m := range b.Query.Measures {
		n++
		n += len(m.At) // with the brackets around them counted as one more
	}
	return b.Query.Groups() * n
}

// Steps is how often numbers of any size are multiplied and added to release the purchase, with all
// that it is released with; 0 where each number has noise of its own. It is public, like the noise.
func (b *Purchase) Steps() (sum float64) {
	if b.Cube != nil {
		return b.Cube.steps()
	}
	for _, n := range b.Noise {
		if n.Running != nil { // two products of a triangle with the numbers
			sum += float64(b.Query.Groups()) * float64(b.Query.Groups()+1)
		}
	}
	return sum
}

// Cost is the sum of what the mechanisms themselves claim.
func (b *Purchase) Cost() dp.Cost {
	if b.Choice != nil {
		return b.Choice.Top.Cost()
	}
	if b.Cube != nil {
		return b.Cube.part(b)
	}
	var sum dp.Cost
	for _, n := range b.Noise {
		sum = sum.Add(n.cost())
	}
	if b.Keys != nil {
		sum = sum.Add(b.Keys.cost())
	}
	return sum
}

// CostAfter is what the purchase costs where it is made of an answer with more noise: for each
// measure the difference, and nothing where the noise stays as it is.
func (b *Purchase) CostAfter(by []mech.Sharper) dp.Cost {
	var sum dp.Cost
	for _, s := range by {
		if s != nil {
			sum = sum.Add(s.Cost())
		}
	}
	return sum
}

// spelling names every mechanism with its exact parameters.
func (b *Purchase) spelling() string {
	var parts []string
	for _, n := range b.Noise {
		parts = append(parts, n.spelling())
	}
	if b.Keys != nil {
		parts = append(parts, b.Keys.spelling())
	}
	if b.Choice != nil {
		parts = append(parts, b.Choice.spelling())
	}
	if b.Cube != nil {
		parts = append(parts, "of "+b.Cube.hash())
	}
	return strings.Join(parts, " ")
}

// Hash names the private query together with its noise. It is asked for several times on the way of
// a question, and made once, when all that it names is there.
func (b *Purchase) Hash() string {
	if b.name != "" {
		return b.name
	}
	return b.hash()
}

func (b *Purchase) hash() string {
	h := sha256.New()
	fmt.Fprintln(h, b.Query.Hash())
	fmt.Fprintln(h, b.spelling())
	return hex.EncodeToString(h.Sum(nil))
}

// Unchanged reports whether the query and its noise are those that the purchase is named by.
func (b *Purchase) Unchanged() bool { return b.hash() == b.Hash() }

// Key names the answer: the same private query and noise on the same data.
func (b *Purchase) Key(version string) string {
	return b.Query.Dataset + " " + version + " " + b.Hash()
}

// HashAll names several purchases together, in any order; one by itself has its own name.
func HashAll(buys []*Purchase) string {
	var all []string
	for _, b := range buys {
		all = append(all, b.Hash())
	}
	if len(all) == 1 {
		return all[0]
	}
	slices.Sort(all)
	h := sha256.Sum256([]byte(strings.Join(all, " ")))
	return hex.EncodeToString(h[:])
}

// Mechanisms names the noise of several purchases for the ledger.
func Mechanisms(buys []*Purchase) string {
	var parts []string
	for _, b := range buys {
		parts = append(parts, b.spelling())
	}
	return Shorten(strings.Join(parts, " "), 4000)
}

// Shorten cuts a text that the ledger has no room for.
func Shorten(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}

// Names are those of the measures.
func (b *Purchase) Names() []string {
	names := make([]string, len(b.Query.Measures))
	for i, m := range b.Query.Measures {
		names[i] = m.Name()
	}
	return names
}

// Reusable reports whether other questions may be answered with the values: those have noise alone,
// in public groups.
func (b *Purchase) Reusable() bool {
	if b.Choice != nil || b.Keys != nil || len(b.Noise) == 0 {
		return false
	}
	for _, n := range b.Noise {
		if n.Quantiles != nil {
			return false
		}
	}
	return true
}
