package chart

import (
	"errors"
	"fmt"
	"math"
)

// A scene is a chart that was found drawable: its axes, and of every curve and
// area the unbroken runs of finite points.
type scene struct {
	Chart
	x, y   axis
	curves [][][]Point
	areas  [][][]Point
	stems  []Stem
	marks  []Mark
}

// errEmpty is returned when nothing of a chart can be seen.
var errEmpty = errors.New("chart: there is nothing to draw: no curve, area or stem has a finite point")

// scene checks a chart and lays out its axes.
func (c Chart) scene() (*scene, error) {
	s := &scene{Chart: c}
	var xs, ys []float64
	see := func(kind, name string, p Point) error {
		if c.LogX && p.X <= 0 {
			return errNotPositive(kind, name, p, "x")
		}
		if c.LogY && p.Y <= 0 {
			return errNotPositive(kind, name, p, "y")
		}
		xs, ys = append(xs, p.X), append(ys, p.Y)
		return nil
	}
	for _, v := range c.Curves {
		r := finiteRuns(v.Points)
		s.curves = append(s.curves, r)
		for _, p := range joinRuns(r) {
			if err := see("curve", v.Name, p); err != nil {
				return nil, err
			}
		}
	}
	for _, v := range c.Areas {
		r := finiteRuns(v.Points)
		s.areas = append(s.areas, r)
		for _, p := range joinRuns(r) {
			if err := see("area", v.Name, p); err != nil {
				return nil, err
			}
		}
	}
	for _, v := range c.Stems {
		if !isFinite(v.X) || !isFinite(v.Y) {
			continue
		}
		s.stems = append(s.stems, v)
		if err := see("stem", v.Name, Point{v.X, v.Y}); err != nil {
			return nil, err
		}
	}
	if len(xs) == 0 {
		return nil, errEmpty
	}
	for _, v := range c.Marks {
		if !isFinite(v.X) {
			continue
		}
		s.marks = append(s.marks, v)
		if c.LogX && v.X <= 0 {
			return nil,
				fmt.Errorf("chart: the mark %q is at x = %v, and a logarithmic axis begins above zero: leave the mark out, or use a "+
					"linear x axis", v.Name, v.X)
		}
		xs = append(xs, v.X)
	}
	var err error
	if c.LogX {
		s.x = newLogAxis(xs, 0)
	} else if s.x, err = newXAxis(xs, len(s.stems) > 0); err != nil {
		return nil, err
	}
	if c.LogY {
		s.y = newLogAxis(ys, axisHeadroom)
	} else if s.y, err = newYAxis(ys); err != nil {
		return nil, err
	}
	return s, nil
}

func errNotPositive(kind, name string, p Point, axis string) error {
	return fmt.Errorf("chart: the %s %q has the point (%v, %v), and a logarithmic axis begins above zero: leave the point out, or use a "+
		"linear %s axis", kind, name, p.X, p.Y, axis)
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// finiteRuns cuts a line where it is not finite.
func finiteRuns(points []Point) [][]Point {
	var out [][]Point
	open := false
	for _, p := range points {
		if !isFinite(p.X) || !isFinite(p.Y) {
			open = false
			continue
		}
		if !open {
			out, open = append(out, nil), true
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

func joinRuns(runs [][]Point) []Point {
	var out []Point
	for _, r := range runs {
		out = append(out, r...)
	}
	return out
}

// unitPoint returns where a point lies in the unit square.
func (s *scene) unitPoint(p Point) Point { return Point{s.x.fraction(p.X), s.y.fraction(p.Y)} }

// unitPoints returns where points lie in the unit square.
func (s *scene) unitPoints(run []Point) []Point {
	out := make([]Point, len(run))
	for i, p := range run {
		out[i] = s.unitPoint(p)
	}
	return out
}

// groundHeight returns the height, in the unit square, on which stems and areas stand.
func (s *scene) groundHeight() float64 {
	if s.LogY {
		return 0
	}
	return s.y.fraction(0)
}
