package noise

// comparisons are the random decisions that real numbers are drawn by. Production
// takes them from a Source; a test takes all of them in turn and adds up what every
// way weighs, through the same code.
type comparisons interface {
	// fresh returns a uniform number in [0, 1) that is independent of all others.
	fresh() *fraction
	// less reports whether u < v. Two numbers are equal with probability zero.
	less(u, v *fraction) bool
	// share is true with probability num/den, at most 1.
	share(num, den uint64) bool
}

// drawn compares numbers whose digits come from a Source.
type drawn struct {
	src   *Source
	spare []fraction // most numbers are thrown away soon, so they are made many at a time
}

func (d *drawn) fresh() *fraction {
	if len(d.spare) == 0 {
		d.spare = make([]fraction, 32)
	}
	f := &d.spare[0]
	d.spare = d.spare[1:]
	return f
}

func (d *drawn) share(num, den uint64) bool { return Uniform(d.src, den) < num }

// less draws digits of both until they differ. That they have not after n digits
// has the probability 2^-n.
func (d *drawn) less(u, v *fraction) bool {
	for i := 0; ; i++ {
		if a, b := u.at(i, d.src), v.at(i, d.src); a != b {
			return a < b
		}
	}
}

// fallingCoin is true with probability exp(-x): John von Neumann, 1951.
//
// Let N be how long x > u1 > u2 > ... goes on, for fresh u. P(N >= j) = x^j/j!,
// because j numbers below x are in falling order once in j! times. So P(N is even) is
// the sum of (-x)^j/j!, which is exp(-x).
func fallingCoin(c comparisons, x *fraction) bool {
	even := true
	for {
		u := c.fresh()
		if !c.less(u, x) {
			return even
		}
		x, even = u, !even
	}
}
