package pricing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Cube is purchases that are released together: the sets of a GROUP BY, as marginals of one table.
// One engine's result is all that they are made of, so that they are of one state of the data, and
// each of them is bought with all others or not at all.
type Cube struct {
	Query   *tree.Query // the table
	Members []*Purchase
	Noise   []*mech.Residuals // one for each measure
	hidden  []bool
	sets    [][]int // for each member, its keys
	paid    dp.Amount
	name    string
}

// sharesNoise reports whether numbers may be released in a way that is better for all of them: on a
// budget that adds up rho, with Gaussian noise, for a price. An error that is asked for is found
// for each number by itself, and streams answer each question by itself.
func (p *Priced) sharesNoise(ds *policy.Dataset) bool {
	s := p.Settings
	return !p.Currency.Pure && s.Mechanism != "laplace" && s.Error == nil && (len(ds.Streams) == 0 || s.Stream == "off")
}

// joinSets lets sets be released together where that is better. A purchase is in one cube.
func (p *Priced) joinSets() {
	for _, t := range p.Statement.Cubes {
		c := &Cube{Query: &t.Query, hidden: t.Hidden}
		for i, set := range t.Sets {
			b := p.Purchases[p.AnsweredBy[t.First+i]]
			if !slices.Contains(c.Members, b) {
				c.Members, c.sets = append(c.Members, b), append(c.sets, set)
			}
		}
		joined := func(b *Purchase) bool { return b.Cube != nil }
		if len(c.Members) < 2 || slices.ContainsFunc(c.Members, joined) {
			continue
		}
		for _, b := range c.Members {
			b.Cube = c
		}
	}
}

// steps is how often numbers of any size are multiplied and added to release the cube: for each
// residual all cells of the table are looked at, several times.
func (c *Cube) steps() (sum float64) {
	const times = 5
	for _, n := range c.Noise {
		sum += times * float64(n.Len()) * float64(n.PartCount()+len(c.Members))
	}
	return sum
}

func (p *Priced) cubes() []*Cube {
	var out []*Cube
	for _, b := range p.Purchases {
		if b.Cube != nil && !slices.Contains(out, b.Cube) {
			out = append(out, b.Cube)
		}
	}
	return out
}

// calibrate divides an amount of rho among the measures, equally, and that of each among the
// residuals. It reports whether the sets are better off together: that the noise can be drawn, and
// that the variances of all numbers that are shown add up to less than those of the sets one by
// one, each with an equal share.
func (c *Cube) calibrate(amount dp.Amount) bool {
	c.Noise, c.paid = nil, 0
	share := amount / dp.Amount(len(c.Query.Measures))
	for i, m := range c.Query.Measures {
		n, err := mech.NewResiduals(c.marginals(m), share)
		if err != nil || !c.isBetter(i, n, share) {
			return false
		}
		c.Noise, c.paid = append(c.Noise, n), c.paid.Add(n.Cost().Rho)
	}
	for i, b := range c.Members {
		b.Noise = nil
		for _, n := range c.Noise {
			b.Noise = append(b.Noise, Noise{Mechanism: n.Noise(i)})
		}
	}
	c.name = c.hash()
	return true
}

// marginals says what is released of a measure.
func (c *Cube) marginals(m tree.Measure) mech.ResidualsConfig {
	lo, hi := c.Query.Interval(m)
	out := mech.ResidualsConfig{Hidden: c.hidden, Sets: c.sets, Low: lo, High: hi, Neighbours: c.Query.Neighbours}
	for _, k := range c.Query.Keys {
		out.Sizes = append(out.Sizes, len(k.Values))
	}
	return out
}

func (c *Cube) isBetter(measure int, n *mech.Residuals, share dp.Amount) bool {
	together, alone := 0.0, 0.0
	for i, b := range c.Members {
		cells := float64(b.Query.Groups())
		together += cells * mech.Variance(n.Noise(i))
		one, err := mech.NewGaussian(b.Query.Sensitivity(b.Query.Measures[measure], dp.L2), share/dp.Amount(len(c.Members)))
		if err != nil {
			return true
		}
		alone += cells * mech.Variance(one)
	}
	return together < alone
}

// part is what a member is counted with of the price of all: equal parts, and the rest with the
// first, so that they add up.
func (c *Cube) part(b *Purchase) dp.Cost {
	each := c.paid / dp.Amount(len(c.Members))
	if b == c.Members[0] {
		each = c.paid - each*dp.Amount(len(c.Members)-1)
	}
	return dp.Cost{Epsilon: dp.Unbounded, Rho: each}
}

// hash names all that is released together, with its noise.
func (c *Cube) hash() string {
	h := sha256.New()
	fmt.Fprintln(h, c.Query.Hash(), c.hidden, c.sets)
	for _, b := range c.Members {
		fmt.Fprintln(h, b.Query.Hash())
	}
	for _, n := range c.Noise {
		fmt.Fprintln(h, n.Spelling())
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Whole reports whether purchases have all members of their cubes, or none.
func Whole(buys []*Purchase) bool {
	for _, b := range buys {
		if b.Cube == nil {
			continue
		}
		for _, m := range b.Cube.Members {
			if !slices.Contains(buys, m) {
				return false
			}
		}
	}
	return true
}

// why says what the noise of a member is.
func (c *Cube) why(b *Purchase) string {
	text := fmt.Sprintf("released together with %s of the question as %s, so that totals are the sums of their groups",
		count(int64(len(c.Members)-1), "other grouping"), count(int64(c.Noise[0].PartCount()), "residual"))
	for i, hidden := range c.hidden {
		if hidden && !slices.Contains(c.sets[slices.Index(c.Members, b)], i) {
			return text + " and of rows with keys that are not listed"
		}
	}
	return text
}
