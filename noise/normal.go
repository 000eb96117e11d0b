package noise

// normal is a real number with a sign.
type normal struct {
	positive
	minus bool
}

// newNormal draws a number of density exp(-x^2/2)/sqrt(2 pi): Karney 2016,
// "Sampling exactly from the normal distribution", Algorithm N.
func newNormal(c comparisons) normal {
	for {
		if p, ok := tryNormal(c); ok {
			return normal{p, c.share(1, 2)}
		}
	}
}

// tryNormal draws a magnitude k + x, or nothing. The weights of its steps are
//
//	exp(-k/2)            for k (up to a constant),
//	exp(-k(k-1)/2)       to go on with k,
//	1                    for x in [0, 1), and
//	exp(-x(2k + x)/2)    to keep x,
//
// and their product is exp(-(k + x)^2/2), because k/2 + k(k-1)/2 = k^2/2.
func tryNormal(c comparisons) (p positive, ok bool) {
	var k uint64
	for fallingCoin(c, half) {
		k++
	}
	// k(k-1) coins; k is small, because each step to the next has probability exp(-1/2).
	for i := uint64(0); k > 0 && i < k*(k-1); i++ {
		if !fallingCoin(c, half) {
			return positive{}, false
		}
	}
	x := c.fresh()
	for range k + 1 {
		if !slopeCoin(c, k, x) {
			return positive{}, false
		}
	}
	return positive{k, x}, true
}

// slopeCoin is true with probability exp(-x(2k + x)/(2k + 2)): Karney 2016,
// Algorithm B. It is fallingCoin with a second condition for every step, of
// probability q = (2k + x)/(2k + 2), so that P(N >= j) = (x q)^j/j!.
func slopeCoin(c comparisons, k uint64, x *fraction) bool {
	y, even := x, true
	for {
		u := c.fresh()
		if !c.less(u, y) || !slope(c, k, x) {
			return even
		}
		y, even = u, !even
	}
}

// slope is true with probability (2k + x)/(2k + 2): of 2k + 2 equal parts 2k are
// true, one is false, and one is true with probability x.
func slope(c comparisons, k uint64, x *fraction) bool {
	if k > 0 && c.share(2*k, 2*k+2) {
		return true
	}
	return c.share(1, 2) && c.less(c.fresh(), x)
}
