package chunks

import "math/bits"

// Keys finds the place of a text among public ones. It is used in SQL, as discreet_key(ID, text).
type Keys struct {
	ID    int64
	null  int32
	short []entry // open addressing, for texts that DuckDB keeps inside of a vector
	long  map[string]int32
}

// entry is a short text as DuckDB holds it, with bytes behind its end made 0.
type entry struct {
	text  [2]uint64
	place int32 // and 1; 0 is free
}

// NewKeys makes a dictionary. Null is the place of NULL, or -1. Close it after the query.
func NewKeys(texts map[string]int32, null int32) *Keys {
	k := &Keys{ID: lastID.Add(1), null: null, long: map[string]int32{}}
	k.short = make([]entry, 1<<bits.Len(uint(2*len(texts)+1)))
	for text, place := range texts {
		if len(text) > maxInlinedBytes {
			k.long[text] = place
			continue
		}
		var b [16]byte
		b[0] = byte(len(text))
		copy(b[4:], text)
		e := entry{[2]uint64{littleEndianWord(b[:8]), littleEndianWord(b[8:])}, place + 1}
		at := k.slot(e.text)
		for k.short[at].place != 0 {
			at = (at + 1) & (len(k.short) - 1)
		}
		k.short[at] = e
	}
	dictionaries.Store(k.ID, k)
	return k
}

// Close forgets the dictionary.
func (k *Keys) Close() { dictionaries.Delete(k.ID) }

func (k *Keys) slot(text [2]uint64) int {
	hi, lo := bits.Mul64(text[0]^0x9e3779b97f4a7c15, text[1]^0xd6e8feb86659fd93)
	return int((hi ^ lo ^ text[0]>>32) & uint64(len(k.short)-1))
}

// find writes the places of the texts in a chunk's second column.
func (k *Keys) find(c *Chunk, out []int32) {
	valid := c.valid(1)
	texts := view[stringT](c, 1)
	for i := range texts {
		s := &texts[i]
		switch {
		case valid != nil && valid[i/64]>>(i%64)&1 == 0:
			out[i] = k.null
		case s.length > maxInlinedBytes:
			place, ok := k.long[string(s.bytes())]
			if !ok {
				place = -1
			}
			out[i] = place
		default:
			out[i] = k.findShort(s.words())
		}
	}
}

func (k *Keys) findShort(text [2]uint64) int32 {
	for at := k.slot(text); ; at = (at + 1) & (len(k.short) - 1) {
		e := &k.short[at]
		if e.place == 0 || e.text == text {
			return e.place - 1
		}
	}
}
