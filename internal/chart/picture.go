package chart

import (
	"image/color"
	"math"

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

// drawHeading writes the title and the subtitle.
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

// dot fills a circle.
func (p *picture) dot(c color.NRGBA, radius float64, q Point) {
	var path vg.Path
	path.Move(vg.Point{X: vg.Length(q.X + radius), Y: vg.Length(q.Y)})
	path.Arc(vg.Point{X: vg.Length(q.X), Y: vg.Length(q.Y)}, vg.Length(radius), 0, 2*math.Pi)
	path.Close()
	p.SetColor(c)
	p.Fill(path)
}
