package pgtables

import "math/bits"

// BatchRows is how many rows a batch has at most.
const BatchRows = 2048

// mostBytes is after how many bytes a batch has no more rows: so many of long texts would not fit
// into memory.
const mostBytes = 16 << 20

// Batch is some rows of a table, column by column.
type Batch struct {
	N       int
	Columns []Values
}

// Values are those of a column. Which of the lists they are in follows from its kind: Reals for
// Float32, Float64 and Numeric; Texts for Text and Padded; Wides for UUID and for a Decimal of
// more than 18 digits; Ints for all others. A Decimal is in units of its last digit, a Date in
// days and a time in microseconds since 1970. What is not valid is NULL.
type Values struct {
	Valid [BatchRows / 64]uint64
	Ints  [BatchRows]int64
	Reals [BatchRows]float64
	Wides [BatchRows][2]uint64 // the low bits, and the high ones
	Texts [BatchRows][]byte
	room  []byte
}

func newBatch(columns int) *Batch {
	b := &Batch{Columns: make([]Values, columns)}
	b.clear()
	return b
}

func (b *Batch) clear() {
	b.N = 0
	for i := range b.Columns {
		v := &b.Columns[i]
		for w := range v.Valid {
			v.Valid[w] = ^uint64(0)
		}
		v.room = v.room[:0]
	}
}

func (v *Values) null(row int) { v.Valid[row/64] &^= 1 << (row % 64) }

// text keeps a copy of a text. Room that was too small stays where it is until the batch is over.
func (v *Values) text(row int, text []byte) {
	if cap(v.room)-len(v.room) < len(text) {
		v.room = make([]byte, 0, max(1<<16, len(text)))
	}
	from := len(v.room)
	v.room = append(v.room, text...)
	v.Texts[row] = v.room[from:len(v.room):len(v.room)]
}

// wide is a magnitude of 127 bits.
type wide struct{ low, high uint64 }

// addDigit is so many times a magnitude and a digit more. It reports false where it does not hold
// it.
func (w wide) addDigit(times, digit uint64) (wide, bool) {
	carry, low := bits.Mul64(w.low, times)
	top, high := bits.Mul64(w.high, times)
	low, over := bits.Add64(low, digit, 0)
	high, more := bits.Add64(high, carry, over)
	return wide{low, high}, top == 0 && more == 0 && high < 1<<63
}

func (w wide) less(than wide) bool {
	return w.high < than.high || w.high == than.high && w.low < than.low
}

// tens are the powers of ten: a number of n digits is less than the n-th.
var tens = func() (out [maxPrecision + 1]wide) {
	out[0] = wide{low: 1}
	for i := range maxPrecision {
		out[i+1], _ = out[i].addDigit(10, 0)
	}
	return out
}()

func (w wide) negative() wide {
	low, borrow := bits.Sub64(0, w.low, 0)
	high, _ := bits.Sub64(0, w.high, borrow)
	return wide{low, high}
}
