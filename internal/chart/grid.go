package chart

import (
	"math"
	"strings"

	"github.com/mattn/go-runewidth"
)

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

// line calls visit for every dot that a line through places of the unit square
// passes.
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

// columnCondition measures text without asking the environment, which would make the same
// chart come out differently on another machine.
var columnCondition = &runewidth.Condition{}

// columnWidth returns how many columns of a terminal a text takes.
func columnWidth(s string) int { return columnCondition.StringWidth(s) }

// truncateColumns returns a text of at most a number of columns.
func truncateColumns(s string, most int, tail string) string {
	return columnCondition.Truncate(s, most, tail)
}

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
	width := columnWidth(word)
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
	width := columnWidth(word)
	return b.put(max(0, min(col-width/2, len(b.cells)-width)), word)
}

func (b *banner) String() string { return strings.Join(b.cells, "") }
