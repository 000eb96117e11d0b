// Package chart draws a line chart from one description in three ways: as an SVG
// document, as a PNG picture, and as text for a terminal.
//
// A picture is made for a slide. It is 16 by 9 with large type on white. Every
// curve has a colour that the colour-blind can tell from the others, a dash
// pattern for those who print in black and white, and its name written at its
// end, so that nobody has to look up a legend. In text a curve is told by its
// mark alone, and the names stand below.
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

// A Chart is what there is to see. The zero value is an empty chart, which is an
// error to draw.
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

// A Stem is a vertical line from zero to a point with a dot on it: an atom of a
// distribution. A shaded one has the colour of an area. Its name is written beside
// the dot.
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
