package noise

import "math/big"

// Geometric is the geometric distribution, P(k) ~ exp(-k/b) on 0, 1, 2, ...: one side of
// [Laplace]. It does not change and is safe for concurrent use with different Sources.
type Geometric struct{ two *Laplace }

// NewGeometric returns the geometric distribution with scale b, from 2^-20 to 2^40.
func NewGeometric(scale *big.Rat) (*Geometric, error) {
	two, err := NewLaplace(scale)
	if err != nil {
		return nil, err
	}
	return &Geometric{two}, nil
}

// Draw returns one draw.
func (g *Geometric) Draw(src *Source) int64 { return g.draw(random{src}) }

// A Laplace draw that is not negative is geometric: given that k >= 0, P(k) is in proportion
// to exp(-k/b), 0 included. More than half of all draws are, so how long it takes depends on
// coins and on nothing else. To fold the negative ones over would count zero once and the
// others twice.
func (g *Geometric) draw(c choices) int64 {
	for {
		if k := g.two.l.draw(c); k >= 0 {
			return k
		}
	}
}

// Scale returns b.
func (g *Geometric) Scale() *big.Rat { return g.two.Scale() }
