package expr

// Duration is a constant distance between moments, in the three parts that SQL keeps apart.
type Duration struct {
	Months       int
	Days, Micros int64
}
