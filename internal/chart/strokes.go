package chart

import "strings"

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
		name := truncateColumns(p.showable(m.Name), p.Width, p.tail)
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

// curveSign returns the mark of a curve.
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
	if columnWidth(name) != len(letters) {
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
		e = truncateColumns(e, p.Width, p.tail)
		if n := len(lines); n > 0 && columnWidth(lines[n-1])+3+columnWidth(e) <= p.Width {
			lines[n-1] += "   " + e
		} else {
			lines = append(lines, e)
		}
	}
	return lines
}
