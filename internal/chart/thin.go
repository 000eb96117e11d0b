package chart

import "math"

// thinLine leaves out the points of a line without which it looks the same: those
// nearer than a tolerance to the line through the rest (Douglas and Peucker 1973).
// A thousand points of a smooth curve become fifty.
func thinLine(line []Point, tolerance float64) []Point {
	if len(line) < 3 {
		return line
	}
	keep := make([]bool, len(line))
	keep[0], keep[len(line)-1] = true, true
	todo := [][2]int{{0, len(line) - 1}}
	for len(todo) > 0 {
		from, to := todo[len(todo)-1][0], todo[len(todo)-1][1]
		todo = todo[:len(todo)-1]
		far, at := tolerance, -1
		for i := from + 1; i < to; i++ {
			if d := segmentDistance(line[i], line[from], line[to]); d > far {
				far, at = d, i
			}
		}
		if at >= 0 {
			keep[at] = true
			todo = append(todo, [2]int{from, at}, [2]int{at, to})
		}
	}
	var out []Point
	for i, k := range keep {
		if k {
			out = append(out, line[i])
		}
	}
	return out
}

// segmentDistance returns how far a point is from the segment between two others.
func segmentDistance(p, a, b Point) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	length := dx*dx + dy*dy
	if length == 0 {
		return math.Hypot(p.X-a.X, p.Y-a.Y)
	}
	t := max(0, min(1, ((p.X-a.X)*dx+(p.Y-a.Y)*dy)/length))
	return math.Hypot(p.X-a.X-t*dx, p.Y-a.Y-t*dy)
}
