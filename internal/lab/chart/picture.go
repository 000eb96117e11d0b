package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// The size of a picture in the units of its canvas, which are pixels of an SVG
// document. The other lengths here were found by looking.
const (
	pictureWidth, pictureHeight = 960.0, 540.0
	pictureMargin               = 28.0
	maxTicks                    = 8
)

var (
	titleScript    = script{size: 25, bold: true, color: inkColor}
	subtitleScript = script{size: 16, color: quietColor}
	axisScript     = script{size: 15, color: quietColor}
	tickScript     = script{size: 15, color: quietColor}
	nameScript     = script{size: 16, bold: true}
	markScript     = script{size: 16, bold: true, color: inkColor}
)

// A picture is a scene on a canvas. The frame is where the unit square of the scene
// goes; y grows upwards.
type picture struct {
	vg.Canvas
	*scene
	left, right, bottom, top float64 // the frame
	xs, ys                   []tick
	captions                 []caption
}

// draw puts a scene on a canvas of the size of pictures.
func (s *scene) draw(c vg.Canvas) {
	p := &picture{Canvas: c, scene: s}
	p.layOut()
	p.drawHeading()
	p.drawAxes()
	p.fillAreas()
	p.drawCaptions()
	p.drawCurves()
	p.drawStems()
	p.nameAreas()
	p.nameCurves()
}

// layOut finds the frame: what is left of the picture by the margins, the words above
// and below, and the names at the right.
func (p *picture) layOut() {
	p.ys = p.y.ticks(maxTicks)
	p.left = pictureMargin + widestLabel(p.ys) + 10
	p.right = pictureWidth - pictureMargin
	if names := p.namesWidth(); names > 0 {
		p.right -= names + nameGap
	}
	room := p.right - p.left
	for most := maxTicks; ; most-- {
		p.xs = p.x.ticks(most)
		widest := widestLabel(p.xs)
		p.right = min(p.right, pictureWidth-pictureMargin/2-widest/2)
		if most == 2 || float64(len(p.xs))*(widest+12) < room {
			break
		}
	}
	p.bottom = pictureMargin + 22
	if p.X != "" {
		p.bottom += 26
	}
	p.top = pictureHeight - pictureMargin
	for _, h := range []struct {
		text string
		high float64
	}{{p.Title, 31}, {p.Subtitle, 24}} {
		if h.text != "" {
			p.top -= h.high
		}
	}
	p.top -= 14
	p.captions = p.placeCaptions()
	lines := 0
	for _, f := range p.captions {
		lines = max(lines, f.line+1)
	}
	p.top -= float64(lines) * captionLineHeight
}

func widestLabel(ticks []tick) float64 {
	out := 0.0
	for _, t := range ticks {
		out = max(out, tickScript.width(t.label))
	}
	return out
}

// canvasPoint returns where on the canvas a place of the unit square is.
func (p *picture) canvasPoint(q Point) vg.Point {
	return vg.Point{X: vg.Length(p.left + q.X*(p.right-p.left)), Y: vg.Length(p.bottom + q.Y*(p.top-p.bottom))}
}

func (p *picture) drawHeading() {
	y := pictureHeight - pictureMargin
	if p.Title != "" {
		s, text := titleScript.fit(cleanLabel(p.Title), pictureWidth-2*pictureMargin)
		s.write(p, pictureMargin, y-22, 0, text)
		y -= 31
	}
	if p.Subtitle != "" {
		s, text := subtitleScript.fit(cleanLabel(p.Subtitle), pictureWidth-2*pictureMargin)
		s.write(p, pictureMargin, y-17, 0, text)
	}
}

// drawAxes draws the grid, the ticks, and the x axis where y is zero.
func (p *picture) drawAxes() {
	for _, t := range p.ys {
		y := float64(p.canvasPoint(Point{0, t.part}).Y)
		p.line(faintColor, 1, nil, Point{p.left, y}, Point{p.right, y})
		tickScript.write(p, p.left-10, y-5, 1, t.label)
	}
	for _, t := range p.xs {
		x := float64(p.canvasPoint(Point{t.part, 0}).X)
		p.line(faintColor, 1, nil, Point{x, p.bottom}, Point{x, p.top})
		p.line(ruleColor, 1, nil, Point{x, p.bottom - 7}, Point{x, p.bottom})
		tickScript.write(p, x, p.bottom-24, 0.5, t.label)
	}
	for _, part := range p.y.smallTicks() {
		y := float64(p.canvasPoint(Point{0, part}).Y)
		p.line(ruleColor, 1, nil, Point{p.left - 4, y}, Point{p.left, y})
	}
	for _, part := range p.x.smallTicks() {
		x := float64(p.canvasPoint(Point{part, 0}).X)
		p.line(ruleColor, 1, nil, Point{x, p.bottom - 4}, Point{x, p.bottom})
	}
	ground := float64(p.canvasPoint(Point{0, p.groundHeight()}).Y)
	p.line(ruleColor, 1.25, nil, Point{p.left, ground}, Point{p.right, ground})
	if p.X != "" {
		s, text := axisScript.fit(cleanLabel(p.X), p.right-pictureMargin)
		s.write(p, p.right, p.bottom-49, 1, text)
	}
}

// fillAreas fills the areas down, or up, to the ground.
func (p *picture) fillAreas() {
	for _, runs := range p.areas {
		for _, run := range runs {
			line := p.thinRun(run)
			var path vg.Path
			path.Move(p.canvasPoint(Point{p.x.fraction(run[0].X), p.groundHeight()}))
			for _, q := range line {
				path.Line(vg.Point{X: vg.Length(q.X), Y: vg.Length(q.Y)})
			}
			path.Line(p.canvasPoint(Point{p.x.fraction(run[len(run)-1].X), p.groundHeight()}))
			path.Close()
			p.SetColor(lighten(shadeColor))
			p.Fill(path)
		}
	}
}

func (p *picture) drawCurves() {
	for i, runs := range p.curves {
		c, d := curveStyle(i)
		for _, run := range runs {
			line := p.thinRun(run)
			if len(line) == 1 {
				p.dot(c, 4.5, line[0])
				continue
			}
			p.line(c, 2.75, d, line...)
		}
	}
}

func (p *picture) drawStems() {
	ground := p.groundHeight()
	for _, s := range p.stems {
		c := palette[0]
		if s.Shaded {
			c = shadeColor
		}
		x := p.x.fraction(s.X)
		foot, head := p.canvasPoint(Point{x, ground}), p.canvasPoint(Point{x, p.y.fraction(s.Y)})
		p.line(c, 3.5, nil, toPoint(foot), toPoint(head))
		p.dot(c, 6.5, toPoint(head))
		if s.Name != "" {
			script := nameScript
			script.color = darken(c)
			script, text := script.fit(cleanLabel(s.Name), (p.right-p.left)/2)
			align, side := 0.0, 13.0
			if float64(head.X)+side+script.width(text) > p.right {
				align, side = 1, -side
			}
			script.write(p, float64(head.X)+side, float64(head.Y)-5, align, text)
		}
	}
}

// thinRun returns a run of points on the canvas, without those that nobody misses.
func (p *picture) thinRun(run []Point) []Point {
	line := make([]Point, len(run))
	for i, q := range run {
		line[i] = toPoint(p.canvasPoint(p.unitPoint(q)))
	}
	return thinLine(line, 0.05)
}

func toPoint(q vg.Point) Point { return Point{float64(q.X), float64(q.Y)} }

// line strokes a line through points of the canvas.
func (p *picture) line(c color.NRGBA, width float64, dash []float64, points ...Point) {
	var path vg.Path
	for i, q := range points {
		at := vg.Point{X: vg.Length(q.X), Y: vg.Length(q.Y)}
		if i == 0 {
			path.Move(at)
		} else {
			path.Line(at)
		}
	}
	lengths := make([]vg.Length, len(dash))
	for i, d := range dash {
		lengths[i] = vg.Length(d)
	}
	p.SetColor(c)
	p.SetLineWidth(vg.Length(width))
	p.SetLineDash(lengths, 0)
	p.Stroke(path)
}

func (p *picture) dot(c color.NRGBA, radius float64, q Point) {
	var path vg.Path
	path.Move(vg.Point{X: vg.Length(q.X + radius), Y: vg.Length(q.Y)})
	path.Arc(vg.Point{X: vg.Length(q.X), Y: vg.Length(q.Y)}, vg.Length(radius), 0, 2*math.Pi)
	path.Close()
	p.SetColor(c)
	p.Fill(path)
}

const (
	captionLineHeight = 24.0 // from one line of captions to the next
	maxCaptionLines   = 3
)

// A caption is a name above the frame, where no curve is: of a mark, or of the y axis,
// which is easier to read there than turned along it.
type caption struct {
	mark bool
	x    float64 // of the mark
	from float64 // where the name begins
	line int     // counted from the frame
	script
	text string
}

// placeCaptions finds a line for every name: the lowest on which it does not cover
// another one, as long as there are lines.
func (p *picture) placeCaptions() []caption {
	var out []caption
	for _, m := range p.marks {
		f := caption{mark: true, x: p.left + p.x.fraction(m.X)*(p.right-p.left)}
		f.script, f.text = markScript.fit(cleanLabel(m.Name), p.right-p.left)
		width := f.width(f.text)
		f.from = max(p.left, min(f.x-width/2, p.right-width))
		for f.text != "" && f.line < maxCaptionLines-1 && slices.ContainsFunc(out, f.covers) {
			f.line++
		}
		out = append(out, f)
	}
	if p.Y != "" {
		f := caption{from: pictureMargin}
		f.script, f.text = axisScript.fit(cleanLabel(p.Y), pictureWidth-2*pictureMargin)
		for slices.ContainsFunc(out, f.covers) {
			f.line++
		}
		out = append(out, f)
	}
	return out
}

// covers reports whether a name would stand on another one.
func (f caption) covers(o caption) bool {
	const apart = 16
	return o.line == f.line && o.text != "" &&
		f.from < o.from+o.width(o.text)+apart && o.from < f.from+f.width(f.text)+apart
}

// crosses reports whether a line that goes up at x crosses a name.
func (f caption) crosses(x float64) bool {
	const apart = 4
	return f.text != "" && x > f.from-apart && x < f.from+f.width(f.text)+apart
}

// drawCaptions draws the marks up to their names, unless another name is in the way.
func (p *picture) drawCaptions() {
	for _, f := range p.captions {
		foot := p.top + float64(f.line)*captionLineHeight
		if f.mark {
			end := foot + 5
			if slices.ContainsFunc(p.captions, func(o caption) bool { return o.line < f.line && o.crosses(f.x) }) {
				end = p.top + 5
			}
			p.line(inkColor, 1.75, nil, Point{f.x, p.bottom}, Point{f.x, end})
		}
		if f.text != "" {
			f.write(p, f.from, foot+11, 0, f.text)
		}
	}
}

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

// The colours of curves are those that Okabe and Ito chose so that the colour-blind can tell them
// apart (Color Universal Design, 2008), without their yellow, which nobody can see on white.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff}, // black
}

// The dash patterns tell curves apart in black and white: lengths of dashes and of
// the gaps after them.
var dashPatterns = [][]float64{
	nil,
	{10, 4},
	{3, 3},
	{12, 4, 3, 4},
	{6, 3},
	{12, 4, 3, 4, 3, 4},
	{1.5, 3.5},
}

var (
	inkColor   = color.NRGBA{0x22, 0x22, 0x22, 0xff} // the title
	quietColor = color.NRGBA{0x5c, 0x5c, 0x5c, 0xff} // all other text
	ruleColor  = color.NRGBA{0x8a, 0x8a, 0x8a, 0xff} // the x axis
	faintColor = color.NRGBA{0xe4, 0xe4, 0xe4, 0xff} // the grid
	shadeColor = palette[1]                          // what is beyond epsilon
)

// curveStyle returns the colour and the dashes of a curve. The first seven differ in both,
// and no two of the first forty-nine have the same.
func curveStyle(i int) (color.NRGBA, []float64) {
	n := len(palette)
	return palette[i%n], dashPatterns[(i+i/n)%len(dashPatterns)]
}

// darken returns a colour in which a word can be read on white.
func darken(c color.NRGBA) color.NRGBA {
	for luminance(c) > 0.2 {
		c.R, c.G, c.B = uint8(int(c.R)*9/10), uint8(int(c.G)*9/10), uint8(int(c.B)*9/10)
	}
	return c
}

// luminance is how bright a colour is, roughly: squares stand for the gamma of WCAG.
func luminance(c color.NRGBA) float64 {
	square := func(v uint8) float64 { return float64(v) * float64(v) / (255 * 255) }
	return 0.2126*square(c.R) + 0.7152*square(c.G) + 0.0722*square(c.B)
}

// lighten returns a colour through which the grid is seen.
func lighten(c color.NRGBA) color.NRGBA {
	c.A = 0x52
	return c
}
