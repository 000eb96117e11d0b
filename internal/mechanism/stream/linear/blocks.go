package linear

// Blocks is the cells that a conjunction selects, as a product: every block begins at one of the
// offsets, and in each the same cells are selected. It is for loops that have no time for a call.
type Blocks struct {
	// Size is how many cells a block has.
	Size int
	// Offsets are where blocks begin, rising.
	Offsets []int
	// Runs are the selected cells of a block, from and to, and Cells are the same one by one, where
	// runs are so short that it is quicker to go by cells, and nil otherwise.
	Runs  [][2]int32
	Cells []int32
	next  []int
	some  [][2]int32
}

// A block has at least so many cells, where there are as many; and where runs are shorter than
// short, cells are listed.
const (
	minBlockCells = 512
	minRunCells   = 8
)

// Len is the number of selected cells.
func (b *Blocks) Len() int {
	n := 0
	for _, r := range b.Runs {
		n += int(r[1] - r[0])
	}
	return n * len(b.Offsets)
}

// Blocks writes into b what a conjunction selects of the combinations of some attributes, which are
// rising, with those of the query among them, and are numbered as for RunsOver. It reports false,
// and b is of no use, where the query is no conjunction. What b had is overwritten, so that one can
// serve for many queries.
func (q *Query) Blocks(attributes []int, b *Blocks) bool {
	b.Offsets, b.Runs, b.Cells = b.Offsets[:0], b.Runs[:0], b.Cells[:0]
	if !q.Conjunction() {
		return false
	}
	if q.scale == 0 {
		return true
	}
	// The block is made from the last attribute to the first.
	k := len(attributes) - 1
	b.Size = 1
	b.Runs = append(b.Runs, [2]int32{0, 1})
	at := len(q.groups) - 1 // groups of one attribute each, by attributes
	for ; k >= 0 && b.Size < minBlockCells; k-- {
		n := q.domain.size(attributes[k])
		g := q.group(attributes[k], at)
		if g == nil && len(b.Runs) == 1 && int(b.Runs[0][1]-b.Runs[0][0]) == b.Size {
			b.Runs[0][1] *= int32(n)
			b.Size *= n
			continue
		}
		b.some = b.some[:0]
		add := func(c int) {
			base := int32(c * b.Size)
			for _, r := range b.Runs {
				if last := len(b.some) - 1; last >= 0 && b.some[last][1] == base+r[0] {
					b.some[last][1] = base + r[1]
				} else {
					b.some = append(b.some, [2]int32{base + r[0], base + r[1]})
				}
			}
		}
		if g == nil {
			for c := range n {
				add(c)
			}
		} else {
			for _, c := range g.selected {
				add(int(c))
			}
			at--
		}
		b.Runs, b.some = b.some, b.Runs
		b.Size *= n
	}
	cells := 0
	for _, r := range b.Runs {
		cells += int(r[1] - r[0])
	}
	if cells < minRunCells*len(b.Runs) {
		for _, r := range b.Runs {
			for c := r[0]; c < r[1]; c++ {
				b.Cells = append(b.Cells, c)
			}
		}
	}
	// The offsets are made from the first attribute to the last.
	b.Offsets = append(b.Offsets, 0)
	at = 0
	for _, a := range attributes[:k+1] {
		n := q.domain.size(a)
		g := q.group(a, at)
		if g != nil {
			at++
		}
		b.next = b.next[:0]
		for _, o := range b.Offsets {
			if g == nil {
				for c := range n {
					b.next = append(b.next, o*n+c)
				}
			} else {
				for _, c := range g.selected {
					b.next = append(b.next, o*n+int(c))
				}
			}
		}
		b.Offsets, b.next = b.next, b.Offsets
	}
	for i := range b.Offsets {
		b.Offsets[i] *= b.Size
	}
	return true
}

// group returns the group at a place if it is of an attribute.
func (q *Query) group(attribute, at int) *group {
	if at >= 0 && at < len(q.groups) && q.groups[at].attributes[0] == attribute {
		return &q.groups[at]
	}
	return nil
}

// Sum adds up the selected cells of a table.
func (b *Blocks) Sum(table []int64) int64 {
	var s int64
	if len(b.Cells) > 0 {
		for _, o := range b.Offsets {
			block := table[o : o+b.Size]
			for _, c := range b.Cells {
				s += block[c]
			}
		}
		return s
	}
	for _, o := range b.Offsets {
		block := table[o : o+b.Size]
		for _, r := range b.Runs {
			for _, v := range block[r[0]:r[1]] {
				s += v
			}
		}
	}
	return s
}
