package chart

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mattn/go-runewidth"
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
		return fmt.Errorf("chart: a chart in text needs 40 columns and 10 lines, but the terminal has %d and %d", t.Width, t.Height)
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
		labels = max(labels, terminalColumns.StringWidth(ys[i].label))
	}
	cols := p.Width - labels - 3
	p.grid, p.lines = newGrid(cols, rows), nil
	indent := strings.Repeat(" ", labels+2)

	for _, text := range []string{title, subtitle, y} {
		if text != "" {
			p.lines = append(p.lines, terminalColumns.Truncate(text, p.Width, p.tail))
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
		x = terminalColumns.Truncate(x, p.Width, p.tail)
		p.lines = append(p.lines, strings.Repeat(" ", p.Width-terminalColumns.StringWidth(x))+x)
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
		p.lines = append(p.lines, strings.Repeat(" ", labels-terminalColumns.StringWidth(name))+name+" "+wall+string(cells))
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

// fillAreas fills the cells between an area's line and the ground. It returns those
// cells that are all there is of an area above them: a curve leaves them to it, or
// else it would hide a tail that has the height of one line.
func (p *page) fillAreas() (low []int) {
	_, ground := p.grid.cellAt(Point{0, p.groundHeight()})
	for _, runs := range p.areas {
		top := map[int]int{} // by column, the height of the area in lines
		for _, run := range runs {
			p.grid.cellLine(p.unitPoints(run), func(col, row int) {
				for r := min(row, ground); r <= max(row, ground); r++ {
					p.grid.set(col, r, p.fill)
				}
				top[col] = max(top[col], abs(row-ground)+1)
			})
		}
		for col := range p.grid.cols {
			if top[col] == 1 {
				low = append(low, ground*p.grid.cols+col)
			}
		}
	}
	return low
}

// drawMarks draws the marks, and writes their names on as many lines as it takes for
// them not to touch.
func (p *page) drawMarks(indent string) {
	var banners []*banner
	for _, m := range p.marks {
		col, _ := p.grid.cellAt(Point{p.x.fraction(m.X), 0})
		for row := range p.grid.rows {
			p.grid.set(col, row, p.signSet.mark)
		}
		name := terminalColumns.Truncate(p.showable(m.Name), p.Width, p.tail)
		if name == "" {
			continue
		}
		done := false
		for _, b := range banners {
			done = done || b.center(len(indent)+col, name)
		}
		if !done {
			b := newBanner(p.Width)
			b.center(len(indent)+col, name)
			banners = append(banners, b)
		}
	}
	for i := len(banners) - 1; i >= 0; i-- {
		p.lines = append(p.lines, banners[i].String())
	}
}

func (p *page) curveSign(i int) rune { return p.signSet.curves[i%len(p.signSet.curves)] }

func (p *page) drawCurves() {
	if p.ASCII {
		p.drawRows()
		return
	}
	for i, runs := range p.scene.curves {
		for _, run := range runs {
			p.grid.line(p.unitPoints(run), p.grid.raiseDot)
			if len(run) == 1 {
				col, row := p.grid.cellAt(p.unitPoint(run[0]))
				p.grid.set(col, row, p.curveSign(i))
			}
		}
	}
	if len(p.scene.curves) > 1 {
		for i := range p.scene.curves {
			p.drawSigns(i)
		}
	}
}

// drawRows draws curves as rows of their marks. Where several pass a cell, they take
// turns from column to column, so that each is seen of two that are the same.
func (p *page) drawRows() {
	passing := make([][]int, p.grid.cols*p.grid.rows)
	for i, runs := range p.scene.curves {
		for _, run := range runs {
			p.grid.cellLine(p.unitPoints(run), func(col, row int) {
				at := &passing[row*p.grid.cols+col]
				if n := len(*at); n == 0 || (*at)[n-1] != i {
					*at = append(*at, i)
				}
			})
		}
	}
	for at, all := range passing {
		if len(all) > 0 {
			p.grid.cells[at] = p.curveSign(all[at%p.grid.cols%len(all)])
		}
	}
}

// drawSigns puts the mark of a curve on its line, every so many columns. The columns
// of different curves differ, so that no mark covers another.
func (p *page) drawSigns(i int) {
	curves := len(p.scene.curves)
	every := max(2*curves, 10)
	phase := i * every / curves
	rows := map[int]int{} // by column, where the curve passes
	middle, n := -1, 0
	for _, run := range p.scene.curves[i] {
		p.grid.cellLine(p.unitPoints(run), func(col, row int) {
			if _, seen := rows[col]; !seen {
				rows[col] = row
				if n++; n%2 == 1 {
					middle = col
				}
			}
		})
	}
	sign := p.curveSign(i)
	drawn := false
	for col := phase; col < p.grid.cols; col += every {
		if row, ok := rows[col]; ok {
			p.grid.set(col, row, sign)
			drawn = true
		}
	}
	if !drawn && middle >= 0 {
		p.grid.set(middle, rows[middle], sign)
	}
}

func (p *page) drawStems() {
	_, ground := p.grid.cellAt(Point{0, p.groundHeight()})
	for _, s := range p.scene.stems {
		col, top := p.grid.cellAt(p.unitPoint(Point{s.X, s.Y}))
		body, head := p.stem, p.head
		if s.Shaded {
			body, head = p.shaded, p.shadedHead
		}
		for row := min(top, ground); row <= max(top, ground); row++ {
			p.grid.set(col, row, body)
		}
		p.grid.set(col, top, head)
		p.nameStem(p.showable(s.Name), col, top)
	}
}

// nameStem writes a name beside the head of a stem, if its letters are as wide as
// the cells and there is room.
func (p *page) nameStem(name string, col, row int) {
	letters := []rune(name)
	if terminalColumns.StringWidth(name) != len(letters) {
		return
	}
	from := col + 2
	if from+len(letters) > p.grid.cols {
		from = col - 1 - len(letters)
	}
	if from < 0 || from+len(letters) > p.grid.cols {
		return
	}
	for i, r := range letters {
		p.grid.set(from+i, row, r)
	}
}

// legend returns the lines that say which mark is which curve, and what is filled.
func (p *page) legend() []string {
	var entries []string
	for i, c := range p.Curves {
		if c.Name == "" || len(p.scene.curves[i]) == 0 {
			continue
		}
		sign := string(p.curveSign(i))
		if len(p.Curves) == 1 && len(c.Points) > 1 && !p.ASCII {
			sign = "⠤⠒"
		}
		entries = append(entries, sign+" "+p.showable(c.Name))
	}
	for i, a := range p.Areas {
		if a.Name != "" && len(p.scene.areas[i]) > 0 {
			entries = append(entries, strings.Repeat(string(p.fill), 2)+" "+p.showable(a.Name))
		}
	}
	var lines []string
	for _, e := range entries {
		e = terminalColumns.Truncate(e, p.Width, p.tail)
		if n := len(lines); n > 0 && terminalColumns.StringWidth(lines[n-1])+3+terminalColumns.StringWidth(e) <= p.Width {
			lines[n-1] += "   " + e
		} else {
			lines = append(lines, e)
		}
	}
	return lines
}

// A grid is the frame of a chart in text: cells of a terminal, from the top left.
type grid struct {
	cols, rows int
	cells      []rune
}

func newGrid(cols, rows int) *grid {
	return &grid{cols, rows, []rune(strings.Repeat(" ", cols*rows))}
}

// A cell holds two by four dots of braille. Everything is placed by dots, so that a
// mark is on the line that the dots draw, and a label at the height of its value.
const dotCols, dotRows = 2, 4

// cellAt returns the cell of a place of the unit square.
func (g *grid) cellAt(q Point) (col, row int) {
	x, y := g.dotAt(q)
	return x / dotCols, y / dotRows
}

// dotAt returns the dot of a place of the unit square, from the top left.
func (g *grid) dotAt(q Point) (x, y int) {
	rows := dotRows * g.rows
	return nearestStep(q.X, dotCols*g.cols), rows - 1 - nearestStep(q.Y, rows)
}

// nearestStep returns which of n steps from 0 to 1 a part is nearest to.
func nearestStep(part float64, n int) int {
	return min(max(int(math.Round(part*float64(n-1))), 0), n-1)
}

func (g *grid) set(col, row int, r rune) { g.cells[row*g.cols+col] = r }

// line calls visit for every dot that a line through places of the unit square passes.
func (g *grid) line(places []Point, visit func(x, y int)) {
	for i, q := range places {
		x1, y1 := g.dotAt(q)
		if i == 0 {
			visit(x1, y1)
			continue
		}
		x0, y0 := g.dotAt(places[i-1])
		steps := max(abs(x1-x0), abs(y1-y0))
		for s := 1; s <= steps; s++ {
			t := float64(s) / float64(steps)
			visit(x0+int(math.Round(t*float64(x1-x0))), y0+int(math.Round(t*float64(y1-y0))))
		}
	}
}

// cellLine calls visit for the cells of such a line.
func (g *grid) cellLine(places []Point, visit func(col, row int)) {
	g.line(places, func(x, y int) { visit(x/dotCols, y/dotRows) })
}

func abs(n int) int { return max(n, -n) }

// brailleBits are the bits of a braille sign, by row and column.
var brailleBits = [dotRows][dotCols]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

const brailleBase = 0x2800 // the sign without dots

// raiseDot raises a dot of a braille sign.
func (g *grid) raiseDot(x, y int) {
	at := &g.cells[y/dotRows*g.cols+x/dotCols]
	if *at < brailleBase || *at > brailleBase+0xff {
		*at = brailleBase
	}
	*at |= brailleBits[y%dotRows][x%dotCols]
}

// terminalColumns measures text without asking the environment, which would make the same
// chart come out differently on another machine.
var terminalColumns = &runewidth.Condition{}

// A banner is a line of text of a fixed number of columns, on which words are put
// where there is room.
type banner struct {
	cells []string // the second half of a wide letter is empty
}

func newBanner(cols int) *banner {
	b := &banner{make([]string, cols)}
	for i := range b.cells {
		b.cells[i] = " "
	}
	return b
}

// put writes a word from a column on, unless it would touch another one.
func (b *banner) put(col int, word string) bool {
	width := terminalColumns.StringWidth(word)
	if col < 0 || col+width > len(b.cells) {
		return false
	}
	for i := max(col-1, 0); i < min(col+width+1, len(b.cells)); i++ {
		if b.cells[i] != " " {
			return false
		}
	}
	b.cells[col] = word
	for i := 1; i < width; i++ {
		b.cells[col+i] = ""
	}
	return true
}

// center writes a word around a column, as near as the ends of the line allow.
func (b *banner) center(col int, word string) bool {
	width := terminalColumns.StringWidth(word)
	return b.put(max(0, min(col-width/2, len(b.cells)-width)), word)
}

func (b *banner) String() string { return strings.Join(b.cells, "") }
