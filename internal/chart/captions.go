package chart

import "slices"

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
