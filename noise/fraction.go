package noise

// fraction is a uniform number in [0, 1) of which as many digits exist as somebody
// has needed: wordSize binary digits to a word. Digits that exist never change, and
// digits that do not exist are independent of everything. So a comparison that is
// made as soon as the digits tell is the comparison of the whole numbers, and a
// digit that is drawn later is the one that would have been drawn at once.
type fraction struct {
	first uint64   // most fractions never need another word
	more  []uint64 // the words that follow
	n     int      // how many words there are
	// constant is the number first 2^-wordSize: nothing is drawn, and nothing changes.
	constant bool
}

// wordSize is how many digits are drawn at once.
const wordSize = 64

// half is 1/2.
var half = &fraction{first: 1 << (wordSize - 1), constant: true}

// at returns word i and draws, where they are missing, all words up to it.
func (f *fraction) at(i int, src *Source) uint64 {
	if f.constant && i > 0 {
		return 0
	}
	for !f.constant && f.n <= i {
		w := src.Bits(wordSize)
		if f.n == 0 {
			f.first = w
		} else {
			f.more = append(f.more, w)
		}
		f.n++
	}
	if i == 0 {
		return f.first
	}
	return f.more[i-1]
}

// clone returns the same number, with the digits that there are, in memory of its
// own. The first is not to be used any more: it would have other digits from here on.
func (f *fraction) clone() *fraction {
	g := *f
	return &g
}
