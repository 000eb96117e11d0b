// Package rows holds training rows: features as float32, each row clipped to a radius, and a target for each. What is in them stays in them: they cannot be printed or encoded.
package rows

// Rows are training rows. They do not change once they are built.
type Rows struct {
	n, dim  int
	radius  float64
	x       []float32 // row by row
	targets []float32 // a class by its number, or a number from -1 to 1
}
