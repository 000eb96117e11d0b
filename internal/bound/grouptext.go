package bound

import "slices"

// groupTexts sorts records of people whose keys are texts into columns: they are numbered, counted
// and placed.
func (r *reducer) groupTexts(blocks []block, some bool) {
	r.people.reset()
	r.person = r.person[:0]
	for _, b := range blocks {
		r.identify(b)
	}
	c, n := &r.cols, len(r.people.texts)
	c.size(r.layout, len(r.person), some)
	c.starts = slices.Grow(c.starts[:0], n+1)[:n+1]
	clear(c.starts)
	for _, p := range r.person {
		c.starts[p+1]++
	}
	for p := range n {
		c.starts[p+1] += c.starts[p]
	}
	r.next = append(r.next[:0], c.starts[:n]...)
	c.seeds = append(c.seeds[:0], r.people.seeds...)
	row := 0
	for _, b := range blocks {
		for w := b.words; len(w) > 0; row++ {
			w = w[keyWords(w):]
			p := r.person[row]
			at := int(r.next[p])
			r.next[p]++
			if b.form == partials {
				r.takePartial(at, w)
				w = w[r.partial:]
			} else {
				r.takeText(at, w)
				w = w[r.payload:]
			}
		}
	}
}

// identify finds out who the records of a block are about.
func (r *reducer) identify(b block) {
	after := r.payload
	if b.form == partials {
		after = r.partial
	}
	for w := b.words; len(w) > 0; {
		key := keyWords(w)
		r.person = append(r.person, r.people.number(w[:key:key]))
		w = w[key+after:]
	}
}

// keyWords returns how many words the person of a text record takes.
func keyWords(w []uint64) int { return 2 + int((w[1]+7)/8) }

// takeText reads a row from behind its person.
func (r *reducer) takeText(at int, x []uint64) {
	r.cols.groups[at] = int32(uint32(x[0]))
	for m := range r.fields {
		f := &r.fields[m]
		v := int64(1)
		switch {
		case f.half >= 0:
			n := f.half + 1
			v = int64(int32(uint32(x[n/2] >> (n % 2 * 32))))
		case f.full >= 0:
			v = int64(x[(r.halves+2)/2+f.full])
		}
		r.cols.set(m, at, v)
	}
}
