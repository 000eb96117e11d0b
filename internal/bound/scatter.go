package bound

import "encoding/binary"

const (
	partBits = 11
	parts    = 1 << partBits
)

// part is the partition of a person.
func part(seed uint64) int { return int(seed >> (64 - partBits)) }

// scatter puts rows into partitions. It belongs to one goroutine at a time.
type scatter struct {
	*layout
	pool *pool
	now  [parts][]uint64 // the block that is being filled
	full [parts][]block
	// Rows of two words are collected here first, a cache line or two for each partition.
	stage [parts * stageWords]uint64
	count [parts]uint8
}

const stageWords = 16

// add puts the rows from up to to of a batch into the partitions from first up to limit.
func (s *scatter) add(b *Batch, from, to, first, limit int) {
	if b.Ints == nil {
		s.addTexts(b, from, to, first, limit)
		return
	}
	if s.payload == 1 {
		s.addSlim(b, from, to, first, limit)
		return
	}
	words := 1 + s.payload
	for i := from; i < to; i++ {
		if b.Groups[i] < 0 {
			continue
		}
		p := part(s.seedInt(b.Ints[i]))
		if p < first || p >= limit {
			continue
		}
		w := s.room(p, words)
		s.now[p] = s.row(append(w, uint64(b.Ints[i])), b, i)
	}
}

// addSlim is add for the commonest questions: a group and at most one value of 32 bits.
func (s *scatter) addSlim(b *Batch, from, to, first, limit int) {
	var values []int64
	for m, f := range s.fields {
		if f.half == 0 {
			values = b.Values[m][from:to]
		}
	}
	groups := b.Groups[from:to]
	width := uint(limit - first)
	for i, person := range b.Ints[from:to] {
		g := groups[i]
		p := part(s.seedInt(person)) & (parts - 1)
		if g < 0 || uint(p-first) >= width {
			continue
		}
		x := uint64(uint32(g))
		if values != nil {
			x |= uint64(values[i]) << 32
		}
		n := s.count[p]
		at := uint(p*stageWords+int(n)) & (parts*stageWords - 2)
		s.stage[at], s.stage[at+1] = uint64(person), x
		s.count[p] = n + 2
		if n == stageWords-2 {
			s.flush(p)
		}
	}
}

// flush moves the rows that were collected for a partition to its block.
func (s *scatter) flush(p int) {
	n := int(s.count[p])
	if n == 0 {
		return
	}
	s.now[p] = append(s.room(p, n), s.stage[p*stageWords:p*stageWords+n]...)
	s.count[p] = 0
}

func (s *scatter) addTexts(b *Batch, from, to, first, limit int) {
	for i := from; i < to; i++ {
		if b.Groups[i] < 0 {
			continue
		}
		text := b.Texts[i]
		seed := s.seedText(text)
		p := part(seed)
		if p < first || p >= limit {
			continue
		}
		w := s.room(p, 2+(len(text)+7)/8+s.payload)
		w = append(w, seed, uint64(len(text)))
		for ; len(text) >= 8; text = text[8:] {
			w = append(w, binary.LittleEndian.Uint64(text))
		}
		if len(text) > 0 {
			w = append(w, lastWord(text))
		}
		s.now[p] = s.row(w, b, i)
	}
}

// room returns a partition's block with room for a record.
func (s *scatter) room(p, words int) []uint64 {
	w := s.now[p]
	if cap(w)-len(w) >= words {
		return w
	}
	if len(w) > 0 {
		s.full[p] = append(s.full[p], block{words: w})
	} else if w != nil {
		s.pool.put([]block{{words: w}})
	}
	return s.pool.room(words)
}

// row appends a row's group and values.
func (s *scatter) row(w []uint64, b *Batch, i int) []uint64 {
	start := len(w)
	w = w[:start+s.payload]
	at := w[start:]
	clear(at)
	at[0] = uint64(uint32(b.Groups[i]))
	for m := range s.fields {
		switch f := &s.fields[m]; {
		case f.half >= 0:
			n := f.half + 1 // behind the group
			at[n/2] |= uint64(uint32(b.Values[m][i])) << (n % 2 * 32)
		case f.full >= 0:
			at[(s.halves+2)/2+f.full] = uint64(b.Values[m][i])
		}
	}
	return w
}

// take removes and returns a partition's blocks.
func (s *scatter) take(p int) []block {
	s.flush(p)
	out := s.full[p]
	if len(s.now[p]) > 0 {
		out = append(out, block{words: s.now[p]})
	} else if s.now[p] != nil {
		s.pool.put([]block{{words: s.now[p]}})
	}
	s.full[p], s.now[p] = nil, nil
	return out
}
