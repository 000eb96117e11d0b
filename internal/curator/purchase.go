package curator

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/ledger"
)

// purchase is a private query with its noise: what is paid for, kept and recalled as one.
type purchase struct {
	query  *tree.Query
	pure   bool
	noise  []noise    // one for each measure; none where there is a choice
	keys   *keyRule   // nil where all keys are public
	choice *selection // nil where measures are released
}

// shares is into how many parts the price of the purchase goes.
func (b *purchase) shares() int {
	n := len(b.query.Measures)
	if len(b.query.PrivateKeys()) > 0 {
		n++
	}
	return n
}

// cells is how many noisy numbers there are: for each combination of private keys, where there are such.
func (b *purchase) cells() int {
	if b.query.Choice != nil {
		return b.query.Choice.K
	}
	n := 0
	for _, m := range b.query.Measures {
		n++
		n += len(m.At) // with the brackets around them counted as one more
	}
	return b.query.Groups() * n
}

// cost is the sum of what the mechanisms themselves claim.
func (b *purchase) cost() dp.Cost {
	if b.choice != nil {
		return b.choice.top.Cost()
	}
	var sum dp.Cost
	for _, n := range b.noise {
		sum = sum.Add(n.cost())
	}
	if b.keys != nil {
		sum = sum.Add(b.keys.cost())
	}
	return sum
}

// spelling names every mechanism with its exact parameters.
func (b *purchase) spelling() string {
	var parts []string
	for _, n := range b.noise {
		parts = append(parts, n.spelling())
	}
	if b.keys != nil {
		parts = append(parts, b.keys.spelling())
	}
	if b.choice != nil {
		parts = append(parts, b.choice.spelling())
	}
	return strings.Join(parts, " ")
}

// hash names the private query together with its noise.
func (b *purchase) hash() string {
	h := sha256.New()
	fmt.Fprintln(h, b.query.Hash())
	fmt.Fprintln(h, b.spelling())
	return hex.EncodeToString(h.Sum(nil))
}

// key names the answer: the same private query and noise on the same data.
func (b *purchase) key(version string) string {
	return b.query.Dataset + " " + version + " " + b.hash()
}

// hashOf names several purchases together, in any order; one by itself has its own name.
func hashOf(buys []*purchase) string {
	var all []string
	for _, b := range buys {
		all = append(all, b.hash())
	}
	if len(all) == 1 {
		return all[0]
	}
	slices.Sort(all)
	h := sha256.Sum256([]byte(strings.Join(all, " ")))
	return hex.EncodeToString(h[:])
}

// keyOf names the answers of several purchases that are bought together. Each is found by its own name.
func keyOf(buys []*purchase, version string) string {
	keys := make([]string, len(buys))
	for i, b := range buys {
		keys[i] = b.key(version)
	}
	return ledger.JoinKeys(keys...)
}

// mechanisms names the noise of several purchases for the ledger.
func mechanisms(buys []*purchase) string {
	var parts []string
	for _, b := range buys {
		parts = append(parts, b.spelling())
	}
	return shorten(strings.Join(parts, " "), 4000)
}

func shorten(s string, n int) string {
	if len(s) > n {
		return s[:n] + "..."
	}
	return s
}
