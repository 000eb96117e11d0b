package render

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// Table is a header and rows of text.
type Table struct {
	Header []string
	Right  []bool // columns that are aligned to the right: numbers
	Rows   [][]string
}

func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Write prints the table with two spaces between columns and a line under the
// header. Every cell is shown [Clean].
func (t *Table) Write(w io.Writer) {
	widths := make([]int, len(t.Header))
	all := [][]string{cleanCells(t.Header)}
	for _, row := range t.Rows {
		all = append(all, cleanCells(row))
	}
	for _, row := range all {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	for n, row := range all {
		t.line(w, row, widths)
		if n == 0 {
			rule := make([]string, len(widths))
			for i, width := range widths {
				rule[i] = strings.Repeat("-", width)
			}
			t.line(w, rule, widths)
		}
	}
}

func (t *Table) line(w io.Writer, row []string, widths []int) {
	var b strings.Builder
	for i, cell := range row {
		if i > 0 {
			b.WriteString("  ")
		}
		space := strings.Repeat(" ", widths[i]-Width(cell))
		if i < len(t.Right) && t.Right[i] {
			b.WriteString(space + cell)
		} else {
			b.WriteString(cell + space)
		}
	}
	fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
}

func cleanCells(cells []string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = Clean(c)
	}
	return out
}

// Clean shows as ? what would move the cursor, end the line, or turn the
// direction of the text around it, so that a value cannot look like another one.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if Hidden(r) {
			return '?'
		}
		return r
	}, s)
}

// Hidden says whether a character is not seen as one: it moves a cursor, turns the direction of a
// text, ends a line, or shows nothing at all. Programs read what people do not see, and whole
// sentences can be spelled with such characters: selectors, tags, joiners, fillers.
func Hidden(r rune) bool {
	return r >= 0xE0000 || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Bidi_Control,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Width returns how many columns of a terminal a text takes.
func Width(s string) int { return runewidth.StringWidth(s) }

// Bar draws a bar of the given width, of which the part from 0 to 1 is full.
func Bar(part float64, width int) string {
	n := min(max(int(part*float64(width)+0.5), 0), width)
	return strings.Repeat("█", n) + strings.Repeat("░", width-n)
}
