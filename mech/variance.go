package mech

// Variance is that of one coordinate's noise, in steps squared. It is computed from the law, in
// floating point.
func Variance(m Mechanism) float64 { return m.law().variance() }
