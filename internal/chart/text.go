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

// signs are what a chart in text is made of.
type signs struct {
	curves                  []rune // what tells curves apart
	fill, stem, shaded      rune
	head, shadedHead, mark  rune
	wall, tick, floor, foot string // of the frame
	corner, tail            string
}

// alphabet is for more curves than anybody can tell apart.
const alphabet = "abcdefghijklmnpqrstuvwyzABCDEFGHJKLMNPRSTUVWXYZ"

var (
	unicodeSigns = signs{
		curves: []rune("●■▲◆○□△◇★☆▼▽" + alphabet),
		fill:   '░', stem: '│', shaded: '┃', head: '○', shadedHead: '●', mark: '┊',
		wall: "│", tick: "┤", floor: "─", foot: "┬", corner: "└", tail: "…",
	}
	asciiSigns = signs{
		curves: []rune("*o+x#@%&=~$^" + alphabet),
		fill:   '.', stem: '!', shaded: 'I', head: 'O', shadedHead: 'Q', mark: ':',
		wall: "|", tick: "+", floor: "-", foot: "+", corner: "+", tail: "...",
	}
)

// leastRows is how many lines the frame has even if the chart gets higher than the
// terminal by that: names are not left out, because curves are told only by them.
const leastRows = 4

// A page is a scene in text.
type page struct {
	*scene
	signs
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
	p := &page{scene: s, Terminal: t, signs: unicodeSigns}
	if t.ASCII {
		p.signs = asciiSigns
	}
	p.compose()
	for _, line := range p.lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// word returns a text as this page can show it.
func (p *page) word(s string) string {
	s = clean(s)
	if p.ASCII {
		s = ascii(s)
	}
	return s
}

// compose makes the lines: the words above, the frame, and the words below.
func (p *page) compose() {
	legend := p.legend()
	// The frame has what is left of the height, and until it has enough, the words
	// that can be done without are dropped, the first one first.
	title, subtitle, y, x := p.word(p.Title), p.word(p.Subtitle), p.word(p.Y), p.word(p.X)
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
		if rows >= leastRows+2 {
			break
		}
	}
	rows = max(rows, leastRows)
	p.layOut(rows, title, subtitle, y, x, legend)
	if more := len(p.lines) - p.Height; more > 0 && rows > leastRows {
		// The names of marks took more than the one line they usually take.
		p.layOut(max(rows-more, leastRows), title, subtitle, y, x, legend)
	}
}

// layOut makes the lines around a frame of a number of rows.
func (p *page) layOut(rows int, title, subtitle, y, x string, legend []string) {
	ys := p.y.ticks(max(3, min(8, rows/2)))
	labels := 0
	for i := range ys {
		ys[i].label = p.word(ys[i].label)
		labels = max(labels, columns(ys[i].label))
	}
	cols := p.Width - labels - 3
	p.grid, p.lines = newGrid(cols, rows), nil
	indent := strings.Repeat(" ", labels+2)

	for _, text := range []string{title, subtitle, y} {
		if text != "" {
			p.lines = append(p.lines, cut(text, p.Width, p.tail))
		}
	}
	low := p.fillAreas()
	p.drawMarks(indent)
	p.drawCurves()
	for _, at := range low {
		p.grid.cells[at] = p.fill
	}
	p.drawStems()
	p.frame(ys, labels)
	p.foot(labels, indent, cols)
	if x != "" {
		x = cut(x, p.Width, p.tail)
		p.lines = append(p.lines, strings.Repeat(" ", p.Width-columns(x))+x)
	}
	p.lines = append(p.lines, legend...)
}

// frame writes the grid with the y axis at its left.
func (p *page) frame(ys []tick, labels int) {
	names := make([]string, p.grid.rows)
	for _, t := range ys {
		_, row := p.grid.cell(Point{0, t.part})
		names[row] = t.label
	}
	for row, name := range names {
		wall := p.wall
		if name != "" {
			wall = p.signs.tick
		}
		cells := p.grid.cells[row*p.grid.cols:][:p.grid.cols]
		p.lines = append(p.lines, strings.Repeat(" ", labels-columns(name))+name+" "+wall+string(cells))
	}
}

// foot writes the x axis and its labels.
func (p *page) foot(labels int, indent string, cols int) {
	floor := make([]string, cols)
	for i := range floor {
		floor[i] = p.floor
	}
	b := newBanner(p.Width)
	for _, t := range p.x.ticks(min(8, cols/8)) {
		col, _ := p.grid.cell(Point{t.part, 0})
		if b.center(len(indent)+col, p.word(t.label)) {
			floor[col] = p.signs.foot
		}
	}
	p.lines = append(p.lines, strings.Repeat(" ", labels+1)+p.corner+strings.Join(floor, ""), b.String())
}
