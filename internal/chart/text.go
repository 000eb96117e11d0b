package chart

import (
	"fmt"
	"io"
	"strings"
)

// A Terminal is where a chart is shown as text.
type Terminal struct {
	Width, Height int  // columns and lines; 80 and 24 if zero, 40 and 10 at least
	ASCII         bool // use no sign beyond ASCII
}

// signSet are what a chart in text is made of.
type signSet struct {
	curves                  []rune // what tells curves apart
	fill, stem, shaded      rune
	head, shadedHead, mark  rune
	wall, tick, floor, foot string // of the frame
	corner, tail            string
}

// extraCurveSigns is for more curves than anybody can tell apart.
const extraCurveSigns = "abcdefghijklmnpqrstuvwyzABCDEFGHJKLMNPRSTUVWXYZ"

var (
	unicodeSigns = signSet{
		curves: []rune("●■▲◆○□△◇★☆▼▽" + extraCurveSigns),
		fill:   '░', stem: '│', shaded: '┃', head: '○', shadedHead: '●', mark: '┊',
		wall: "│", tick: "┤", floor: "─", foot: "┬", corner: "└", tail: "…",
	}
	asciiSigns = signSet{
		curves: []rune("*o+x#@%&=~$^" + extraCurveSigns),
		fill:   '.', stem: '!', shaded: 'I', head: 'O', shadedHead: 'Q', mark: ':',
		wall: "|", tick: "+", floor: "-", foot: "+", corner: "+", tail: "...",
	}
)

// minFrameRows is how many lines the frame has even if the chart gets higher than the
// terminal by that: names are not left out, because curves are told only by them.
const minFrameRows = 4

// A page is a scene in text.
type page struct {
	*scene
	signSet
	Terminal
	grid  *grid
	lines []string
}

// Text writes a chart as text. Curves are fine lines of braille dots with a mark on
// them here and there, or rows of marks in ASCII. Where the terminal is low, the
// subtitle and what the axes measure are left out.
func (c Chart) Text(w io.Writer, t Terminal) error {
	if t.Width == 0 {
		t.Width = 80
	}
	if t.Height == 0 {
		t.Height = 24
	}
	if t.Width < 40 || t.Height < 10 {
		return fmt.Errorf("chart: a chart in text needs 40 columns and 10 lines, and the terminal has %d and %d", t.Width, t.Height)
	}
	s, err := c.scene()
	if err != nil {
		return err
	}
	p := &page{scene: s, Terminal: t, signSet: unicodeSigns}
	if t.ASCII {
		p.signSet = asciiSigns
	}
	p.compose()
	for _, line := range p.lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// showable returns a text as this page can show it.
func (p *page) showable(s string) string {
	s = cleanLabel(s)
	if p.ASCII {
		s = spellASCII(s)
	}
	return s
}

// compose makes the lines: the words above, the frame, and the words below.
func (p *page) compose() {
	legend := p.legend()
	// The frame has what is left of the height, and until it has enough, the words
	// that can be done without are dropped, the first one first.
	title, subtitle, y, x := p.showable(p.Title), p.showable(p.Subtitle), p.showable(p.Y), p.showable(p.X)
	rows := 0
	for _, dispensable := range []*string{nil, &subtitle, &y, &x} {
		if dispensable != nil {
			*dispensable = ""
		}
		rows = p.Height - 2 - len(legend) - min(1, len(p.marks))
		for _, text := range []string{title, subtitle, y, x} {
			if text != "" {
				rows--
			}
		}
		if rows >= minFrameRows+2 {
			break
		}
	}
	rows = max(rows, minFrameRows)
	p.layOut(rows, title, subtitle, y, x, legend)
	if more := len(p.lines) - p.Height; more > 0 && rows > minFrameRows {
		// The names of marks took more than the one line they usually take.
		p.layOut(max(rows-more, minFrameRows), title, subtitle, y, x, legend)
	}
}

// layOut makes the lines around a frame of a number of rows.
func (p *page) layOut(rows int, title, subtitle, y, x string, legend []string) {
	ys := p.y.ticks(max(3, min(8, rows/2)))
	labels := 0
	for i := range ys {
		ys[i].label = p.showable(ys[i].label)
		labels = max(labels, columnWidth(ys[i].label))
	}
	cols := p.Width - labels - 3
	p.grid, p.lines = newGrid(cols, rows), nil
	indent := strings.Repeat(" ", labels+2)

	for _, text := range []string{title, subtitle, y} {
		if text != "" {
			p.lines = append(p.lines, truncateColumns(text, p.Width, p.tail))
		}
	}
	low := p.fillAreas()
	p.drawMarks(indent)
	p.drawCurves()
	for _, at := range low {
		p.grid.cells[at] = p.fill
	}
	p.drawStems()
	p.drawFrame(ys, labels)
	p.drawXAxis(labels, indent, cols)
	if x != "" {
		x = truncateColumns(x, p.Width, p.tail)
		p.lines = append(p.lines, strings.Repeat(" ", p.Width-columnWidth(x))+x)
	}
	p.lines = append(p.lines, legend...)
}

// drawFrame writes the grid with the y axis at its left.
func (p *page) drawFrame(ys []tick, labels int) {
	names := make([]string, p.grid.rows)
	for _, t := range ys {
		_, row := p.grid.cellAt(Point{0, t.part})
		names[row] = t.label
	}
	for row, name := range names {
		wall := p.wall
		if name != "" {
			wall = p.signSet.tick
		}
		cells := p.grid.cells[row*p.grid.cols:][:p.grid.cols]
		p.lines = append(p.lines, strings.Repeat(" ", labels-columnWidth(name))+name+" "+wall+string(cells))
	}
}

// drawXAxis writes the x axis and its labels.
func (p *page) drawXAxis(labels int, indent string, cols int) {
	floor := make([]string, cols)
	for i := range floor {
		floor[i] = p.floor
	}
	b := newBanner(p.Width)
	for _, t := range p.x.ticks(min(8, cols/8)) {
		col, _ := p.grid.cellAt(Point{t.part, 0})
		if b.center(len(indent)+col, p.showable(t.label)) {
			floor[col] = p.signSet.foot
		}
	}
	p.lines = append(p.lines, strings.Repeat(" ", labels+1)+p.corner+strings.Join(floor, ""), b.String())
}
