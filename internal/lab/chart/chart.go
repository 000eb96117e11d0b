// Package chart draws a line chart from one description in three ways: as an SVG
// document, as a PNG picture, and as text for a terminal.
//
// A picture is made for a slide. It is 16 by 9 with large type on white. Every curve has a colour
// that the colour-blind can tell from the others, a dash pattern for those who print in black and
// white, and its name written at its end, so that nobody has to look up a legend. In text a curve
// is told by its mark alone, and the names stand below.
//
// The three ways share the axes (see axis) and differ in how they put ink:
//
//	Chart -> scene: ranges, unbroken runs of points
//	           |-> picture on a vg.Canvas of gonum.org/v1/plot -> SVG, PNG
//	           `-> grid of cells                               -> text
//
// Of gonum's plot we use the canvases and not plot.Plot, which centres its title,
// knows only a legend, and has no place for names at the ends of curves. The same
// description gives the same bytes, always.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"math"

	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Chart is what there is to see. The zero value is an empty chart, which is an error to draw.
//
// Points that are not finite are not drawn, and a curve is broken where they stand:
// an infinite epsilon is a gap, and never a straight line across it.
type Chart struct {
	Title    string
	Subtitle string
	X, Y     string // what the axes measure

	// A logarithmic axis has ticks at powers of ten. All that is drawn along it
	// has to be above zero. A linear y axis always shows zero.
	LogX, LogY bool

	Curves []Curve
	Areas  []Area
	Stems  []Stem
	Marks  []Mark
}

// A Point is a place on a chart.
type Point struct{ X, Y float64 }

// A Curve is a line through points, in their order. Its name is written at its end.
type Curve struct {
	Name   string
	Points []Point
}

// An Area is filled between a line through points and zero, or the foot of a
// logarithmic axis: the tail of a density.
type Area struct {
	Name   string
	Points []Point
}

// A Stem is a vertical line from zero to a point with a dot on it: an atom of a distribution. A
// shaded one has the colour of an area. Its name is written beside the dot.
type Stem struct {
	Name   string
	X, Y   float64
	Shaded bool
}

// A Mark is a line over the whole height of the chart, with its name above.
type Mark struct {
	Name string
	X    float64
}

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
				fmt.Errorf("chart: the mark %q is at x = %v, but a logarithmic axis begins above zero: leave the mark out, or use a "+
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
	return fmt.Errorf("chart: the %s %q has the point (%v, %v), but a logarithmic axis begins above zero: leave the point out, or "+
		"use a linear %s axis", kind, name, p.X, p.Y, axis)
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

// SVG writes a chart as an SVG document. Its text is text, in a font that every
// browser has, and it shrinks with the page it is put on.
func (c Chart) SVG(w io.Writer) error {
	s, err := c.scene()
	if err != nil {
		return err
	}
	canvas := vgsvg.New(pictureWidth, pictureHeight)
	s.draw(canvas)
	var body bytes.Buffer
	if _, err := canvas.WriteTo(&body); err != nil {
		return err
	}
	// The canvas measures in points, has no title, and names one font only. A quote
	// inside a text is escaped, so what is replaced is never a part of one.
	at := bytes.Index(body.Bytes(), []byte("<g "))
	drawing := bytes.ReplaceAll(body.Bytes()[at:],
		[]byte(`style="font-family:Liberation Sans;font-variant:normal;`),
		[]byte(`style="font-family:'Liberation Sans',Arial,Helvetica,sans-serif;`))
	_, err = fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%v" height="%v" viewBox="0 0 %v %v" style="max-width:100%%;height:auto" role="img">
<title>%s</title>
<desc>%s</desc>
<rect width="100%%" height="100%%" fill="#FFFFFF"/>
%s`, pictureWidth, pictureHeight, pictureWidth, pictureHeight, html.EscapeString(cleanLabel(c.Title)),
		html.EscapeString(cleanLabel(c.Subtitle)), drawing)
	return err
}

// pngPixelsPerUnit is how many pixels of a PNG picture, along a side, are one of an SVG
// document: 1920 by 1080 in all, which is a slide.
const pngPixelsPerUnit = 2

// PNG writes a chart as a PNG picture.
func (c Chart) PNG(w io.Writer) error {
	s, err := c.scene()
	if err != nil {
		return err
	}
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(pictureWidth, pictureHeight), vgimg.UseDPI(72*pngPixelsPerUnit))}
	s.draw(canvas)
	_, err = canvas.WriteTo(w)
	return err
}
