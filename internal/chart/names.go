package chart

import (
	"image/color"
	"math"
)

const (
	nameGap        = 26.0  // between the frame and the names at its right
	nameLineHeight = 21.0  // from one name to the next
	maxNameWidth   = 220.0 // name
)

// An ending is where a curve ends, and what to write there.
type ending struct {
	at    Point
	name  string
	color color.NRGBA
}

// endings returns the ends of the curves that have a name and a point: those near
// the right side of the frame, which are named outside of it, and the others.
func (p *picture) endings() (outside, inside []ending) {
	for i, runs := range p.curves {
		if len(runs) == 0 || p.Curves[i].Name == "" {
			continue
		}
		last := runs[len(runs)-1]
		end := p.unitPoint(last[len(last)-1])
		c, _ := curveStyle(i)
		e := ending{toPoint(p.canvasPoint(end)), cleanLabel(p.Curves[i].Name), c}
		if end.X > 0.85 {
			outside = append(outside, e)
		} else {
			inside = append(inside, e)
		}
	}
	return outside, inside
}

// namesWidth returns how much room the names at the right need.
func (p *picture) namesWidth() float64 {
	out := 0.0
	outside, _ := p.endings()
	for _, e := range outside {
		s, text := nameScript.fit(e.name, maxNameWidth)
		out = max(out, s.width(text))
	}
	return out
}

// nameCurves writes the names of curves at their ends, moved apart, with a thin line
// from an end to a name that is not just there.
func (p *picture) nameCurves() {
	outside, inside := p.endings()
	for _, ends := range [][]ending{outside, inside} {
		var want []float64
		for _, e := range ends {
			want = append(want, e.at.Y)
		}
		places, gap := moveApart(want, nameLineHeight, p.bottom, p.top)
		for i, e := range ends {
			p.nameCurve(e, places[i], gap)
		}
	}
}

func (p *picture) nameCurve(e ending, y, gap float64) {
	x, width := p.right, maxNameWidth
	if e.at.X <= p.left+0.85*(p.right-p.left) {
		x, width = e.at.X, p.right-e.at.X-nameGap
	}
	s := nameScript
	s.color, s.size = darken(e.color), min(s.size, gap*0.9)
	s, text := s.fit(e.name, width)
	if math.Abs(y-e.at.Y) > 2 || x > e.at.X+1 {
		thread := e.color
		thread.A = 0xa0
		p.line(thread, 1.25, nil, Point{e.at.X + 2, e.at.Y}, Point{x + nameGap - 10, y})
		x += nameGap - 6
	} else {
		x += nameGap - 16
	}
	s.write(p, x, y-s.size/3, 0, text)
}

// nameAreas writes the name of an area from its left end on, above all of it that
// is under the name.
func (p *picture) nameAreas() {
	for i, runs := range p.areas {
		points := p.unitPoints(joinRuns(runs))
		if len(points) == 0 || p.Areas[i].Name == "" {
			continue
		}
		left := math.Inf(1)
		for _, q := range points {
			left = min(left, float64(p.canvasPoint(q).X))
		}
		s := nameScript
		s.color = darken(shadeColor)
		s, text := s.fit(cleanLabel(p.Areas[i].Name), p.right-p.left)
		width := s.width(text)
		from := max(p.left, min(left+12, p.right-width))
		top := float64(p.canvasPoint(Point{0, p.groundHeight()}).Y)
		for _, q := range points {
			if at := p.canvasPoint(q); float64(at.X) >= left && float64(at.X) <= from+width {
				top = max(top, float64(at.Y))
			}
		}
		s.write(p, from, min(top+14, p.top-s.size), 0, text)
	}
}
