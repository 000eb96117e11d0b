package bound

const (
	partBits = 11
	parts    = 1 << partBits
	// Rows are collected, a cache line or two for each partition, before they are moved to a block.
	stageRows = 16
	staged    = parts * stageRows
)

// part is the partition of a person.
func part(seed uint64) int { return int(seed >> (64 - partBits)) }

// scatter puts rows into partitions. It belongs to one goroutine at a time.
type scatter struct {
	*layout
	pool *pool
	full [parts][]block
	// Of people with integers: rows are collected in words, and in lanes, and the last of them are
	// in no block yet. What is looked at for every row is small, to stay in the cache.
	words [staged]uint64
	sides [][]uint32
	fill  [parts]uint16 // how many rows the block that is being filled has, with those collected
	now   [][]uint64    // that block
	side  [][]uint32    // its lanes
	// Of people with texts, the block that is being filled.
	texts [][]uint64
}

func newScatter(l *layout, p *pool) *scatter {
	s := &scatter{layout: l, pool: p, now: make([][]uint64, parts), side: make([][]uint32, parts), texts: make([][]uint64, parts)}
	for range l.lanes {
		s.sides = append(s.sides, make([]uint32, staged))
	}
	return s
}

// add puts the rows from up to to of a batch into the partitions from first up to limit.
func (s *scatter) add(b *Batch, from, to, first, limit int) {
	switch {
	case b.Ints == nil:
		s.addTexts(b, from, to, first, limit)
	case s.lanes == 0:
		s.addBare(b, from, to, first, limit)
	case s.lanes == 1 && !s.groupLane:
		s.addValued(b, from, to, first, limit)
	default:
		s.addInts(b, from, to, first, limit)
	}
}

// addInts takes rows of any lanes.
func (s *scatter) addInts(b *Batch, from, to, first, limit int) {
	for i := from; i < to; i++ {
		g := b.Groups[i]
		h := s.seedInt(b.Ints[i])
		p := part(h)
		if g < 0 || p < first || p >= limit {
			continue
		}
		n := s.fill[p]
		at, lane := p*stageRows+int(n%stageRows), 0
		if s.groupLane {
			s.words[at] = h << partBits
			s.sides[0][at] = uint32(g)
			lane = 1
		} else {
			s.words[at] = h<<partBits | uint64(g)
		}
		for m := range s.fields {
			f := &s.fields[m]
			if f.half >= 0 || f.full >= 0 {
				s.sides[lane][at] = uint32(b.Values[m][i])
				lane++
			}
			if f.full >= 0 {
				s.sides[lane][at] = uint32(b.Values[m][i] >> 32)
				lane++
			}
		}
		if s.fill[p] = n + 1; n%stageRows == stageRows-1 {
			s.flush(p, int(n)-stageRows+1)
		}
	}
}

// addBare takes rows that are a person and a group.
func (s *scatter) addBare(b *Batch, from, to, first, limit int) {
	people := b.Ints[from:to]
	groups := b.Groups[from:to][:len(people)]
	width := uint(limit - first)
	for i, person := range people {
		h := s.seedInt(person)
		p := part(h) & (parts - 1)
		if groups[i] < 0 || uint(p-first) >= width {
			continue
		}
		n := s.fill[p]
		s.words[(uint(p)*stageRows+uint(n%stageRows))%staged] = h<<partBits | uint64(groups[i])
		if s.fill[p] = n + 1; n%stageRows == stageRows-1 {
			s.flush(p, int(n)-stageRows+1)
		}
	}
}

// addValued takes rows that have one value of 32 bits besides.
func (s *scatter) addValued(b *Batch, from, to, first, limit int) {
	people := b.Ints[from:to]
	groups := b.Groups[from:to][:len(people)]
	values := b.Values[s.valued][from:to][:len(people)]
	width := uint(limit - first)
	side := (*[staged]uint32)(s.sides[0])
	for i, person := range people {
		h := s.seedInt(person)
		p := part(h) & (parts - 1)
		if groups[i] < 0 || uint(p-first) >= width {
			continue
		}
		n := s.fill[p]
		at := (uint(p)*stageRows + uint(n%stageRows)) % staged
		s.words[at], side[at] = h<<partBits|uint64(groups[i]), uint32(values[i])
		if s.fill[p] = n + 1; n%stageRows == stageRows-1 {
			s.flush(p, int(n)-stageRows+1)
		}
	}
}

// flush moves what was collected for a partition to its block, to the rows from at on. A block is
// a slice and not a pointer to an array, because Go reads from such a pointer to see whether it is
// nil: that waits for memory that nobody needs, and maps a fresh page twice.
func (s *scatter) flush(p, at int) {
	if at == 0 {
		b := s.pool.rows()
		s.now[p], s.side[p] = b.words[:blockWords], b.lanes
	}
	from := p * stageRows
	copy(s.now[p][at:at+stageRows], s.words[from:from+stageRows])
	for i, side := range s.sides {
		to := i*blockWords + at
		copy(s.side[p][to:to+stageRows], side[from:from+stageRows])
	}
	if at == blockWords-stageRows {
		s.close(p)
	}
}

// close puts a partition's block to those that are full.
func (s *scatter) close(p int) {
	s.full[p] = append(s.full[p], block{form: intRows, words: s.now[p][:s.fill[p]], lanes: s.side[p]})
	s.now[p], s.side[p], s.fill[p] = nil, nil, 0
}

// take removes and returns a partition's blocks.
func (s *scatter) take(p int) []block {
	if n := int(s.fill[p]); n > 0 {
		if n%stageRows > 0 {
			s.flush(p, n-n%stageRows)
		}
		if s.now[p] != nil {
			s.close(p)
		}
	}
	if len(s.texts[p]) > 0 {
		s.full[p] = append(s.full[p], block{form: textRows, words: s.texts[p]})
		s.texts[p] = nil
	}
	out := s.full[p]
	s.full[p] = nil
	return out
}
