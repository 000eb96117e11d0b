package render

import (
	"fmt"
	"strconv"
)

// PlusMinus heads a column of errors.
func PlusMinus(confidence float64) string {
	if confidence == 0 { // nobody said
		confidence = 0.95
	}
	return "±" + strconv.FormatFloat(100*confidence, 'g', 6, 64) + "%"
}

// Around shows how far off the values of a column are.
func Around(narrowest, widest float64) string {
	lo, hi := Number(narrowest), Number(widest)
	if lo == hi {
		return "±" + hi
	}
	return "±" + lo + " to ±" + hi
}

// Number shows five significant digits.
func Number(f float64) string {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 5, 64), 64)
	return strconv.FormatFloat(r, 'f', -1, 64)
}

// Count writes a number of things.
func Count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
