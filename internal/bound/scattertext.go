package bound

import "encoding/binary"

// addTexts puts the rows from up to to of a batch into the partitions from first up to limit.
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
		s.texts[p] = s.row(w, b, i)
	}
}

// room returns a partition's block with room for a record.
func (s *scatter) room(p, words int) []uint64 {
	w := s.texts[p]
	if cap(w)-len(w) >= words {
		return w
	}
	if len(w) > 0 {
		s.full[p] = append(s.full[p], block{form: textRows, words: w})
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
