package dp

// Bracket encloses a number that is not known, or not written, exactly: it is at
// least Lower and at most Upper. Both ends are proven, rounding included.
type Bracket struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Contains reports whether x can be the number.
func (b Bracket) Contains(x float64) bool { return b.Lower <= x && x <= b.Upper }
