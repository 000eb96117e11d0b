package density

import (
	"math"

	"github.com/discreet-dp/discreet/internal/detrand"
)

type SearchSpace struct {
	Radius float64 // no row is longer
	// Constant, where it is not 0, is the second feature of every row, and Radius bounds the first
	// alone: an intercept that is appended after clipping.
	Constant float64
	Rows     int // how many rows of one person count
	// Substitute says that another person takes somebody's place, and is otherwise nobody.
	Substitute bool
}

// Worst is the worst that was found.
type Worst struct {
	Loss float64
	Pair Pair
	At   [2]float64
}

// Search looks for weights and neighbours with the largest privacy loss: from so many random
// starts, each with up to three rows in both databases, it climbs one number at a time with steps
// that become smaller. Targets and class weights are drawn and stay.
func Search(m *Mechanism, r SearchSpace, starts int, dice detrand.Choices) Worst {
	var best Worst
	for range starts {
		c := newHillClimb(m, r, dice)
		if c.climbToTop(300, 1e-11); c.best > best.Loss {
			best = Worst{c.best, c.pair(), c.at()}
		}
	}
	return best
}

// SearchPairs looks for neighbours with the largest score, which is 0 or more: it climbs a little
// from the best of so many random pairs.
func SearchPairs(m *Mechanism, r SearchSpace, starts int, dice detrand.Choices, score func(*Pair) float64) Worst {
	best := &hillClimb{}
	for range starts {
		c := newHillClimb(m, r, dice)
		c.score = score
		if c.best = c.value(); c.best > best.best || best.m == nil {
			best = c
		}
	}
	best.climbToTop(8, 1e-3)
	return Worst{Loss: best.best, Pair: best.pair()}
}

// hillClimb is a search from one start. Its numbers: the weights times the radius, and length and
// angle of every row in units of 1.
type hillClimb struct {
	m       *Mechanism
	r       SearchSpace
	x       []float64
	rows    []Row
	n       [3]int // rows of both, first, second
	best    float64
	touched []Row
	score   func(*Pair) float64 // nil: the loss at the weights
}

func newHillClimb(m *Mechanism, r SearchSpace, dice detrand.Choices) *hillClimb {
	c := &hillClimb{m: m, r: r, n: [3]int{dice.Below(4), r.Rows, 0}}
	if r.Substitute {
		c.n[2] = r.Rows
	}
	n := c.n[0] + c.n[1] + c.n[2]
	unit := func() float64 { return float64(dice.Below(2001)-1000) / 1000 }
	far := detrand.Pick(dice, []float64{1, 3, 10, 100})
	c.x = []float64{far * unit(), far * unit()}
	light := detrand.Pick(dice, []float64{1, 1, 0.5, 0.01})
	for i := range n {
		row := Row{Y: float64(2*dice.Below(2) - 1), A: 1}
		if m.Bend.Between && dice.One(2) {
			row.Y = unit()
		}
		if row.Y < 0 {
			row.A = light
		}
		if i > c.n[0] && i < c.n[0]+c.n[1] && !dice.One(3) { // somebody's rows that are alike move the furthest
			row = c.rows[i-1]
		}
		if i < c.n[0] { // as good as many of its like
			row.A *= detrand.Pick(dice, []float64{1, 1, 16, 1e4})
		}
		c.rows = append(c.rows, row)
		length := unit()
		if dice.One(2) {
			length = detrand.Pick(dice, []float64{-1, 1})
		}
		c.x = append(c.x, length, 4*unit())
	}
	c.touched = make([]Row, n)
	if dice.One(2) {
		c.startAtEdge(dice)
	}
	c.best = c.value()
	return c
}

// startAtEdge puts the rows of the first database at full length, all alike, and the weights to
// where their loss is about to become straight: there both its slope and its curvature are as large
// as they can be.
func (c *hillClimb) startAtEdge(dice detrand.Choices) {
	from := c.n[0]
	for i := range c.n[1] {
		c.rows[from+i] = c.rows[from]
		c.rows[from+i].A = 1
		c.x[2+2*(from+i)], c.x[3+2*(from+i)] = 1, c.x[3+2*from]
	}
	for i := range c.n[2] { // the others are opposite, and may be pulled another way
		c.x[2+2*(from+c.n[1]+i)], c.x[3+2*(from+c.n[1]+i)] = -1, c.x[3+2*from]
		c.rows[from+c.n[1]+i].A = 1
	}
	jumps := c.m.Bend.Jumps(c.rows[from].Y)
	if len(jumps) == 0 {
		return
	}
	x := c.pair().First[0].X
	square, z := x[0]*x[0], detrand.Pick(dice, jumps)
	if c.m.Weights == 2 {
		square += x[1] * x[1]
	}
	z += detrand.Pick(dice, []float64{-1e-10, 1e-10})
	c.x[0] = z * x[0] / square * c.r.Radius
	c.x[1] = z * x[1] / square * c.r.Radius
}

func (c *hillClimb) at() [2]float64 { return [2]float64{c.x[0] / c.r.Radius, c.x[1] / c.r.Radius} }

func (c *hillClimb) pair() Pair {
	for i, row := range c.rows {
		length := c.r.Radius * math.Max(-1, math.Min(1, c.x[2+2*i]))
		switch {
		case c.r.Constant != 0:
			row.X = [2]float64{length, c.r.Constant}
		case c.m.Weights == 2:
			sin, cos := math.Sincos(c.x[3+2*i])
			row.X = [2]float64{length * cos, length * sin}
		default:
			row.X[0] = length
		}
		c.touched[i] = row
	}
	a, b := c.n[0], c.n[0]+c.n[1]
	return Pair{c.touched[:a:a], c.touched[a:b:b], c.touched[b:]}
}

func (c *hillClimb) value() float64 {
	p := c.pair()
	if c.score != nil {
		return c.score(&p)
	}
	if v := c.m.Loss(&p, c.at()); v < math.Inf(1) {
		return v
	}
	return 0 // a number that overflowed is no finding
}

// climbToTop climbs until steps are too small to matter.
func (c *hillClimb) climbToTop(rounds int, smallest float64) {
	step := make([]float64, len(c.x))
	for i := range step {
		step[i] = math.Max(0.5, math.Abs(c.x[i])/2)
	}
	for again := true; again && rounds > 0; rounds-- {
		again = false
		for i := range c.x {
			if c.m.Weights == 1 && i%2 == 1 || i < 2 && c.score != nil || step[i] < smallest {
				continue // the second weight, an angle, or a weight where all of them count
			}
			again = true
			before := c.x[i]
			moved := false
			for _, by := range []float64{step[i], -step[i]} {
				c.x[i] = before + by
				if v := c.value(); v > c.best {
					c.best, moved = v, true
					break
				}
				c.x[i] = before
			}
			if moved {
				step[i] *= 1.5
			} else {
				step[i] /= 3
			}
		}
	}
}
