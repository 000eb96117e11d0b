package pgtables

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
)

// binaryCopy is a COPY of rows of bytes; nil is NULL.
func binaryCopy(rows ...[][]byte) []byte {
	out := append(append([]byte{}, signature...), make([]byte, 8)...)
	for _, row := range rows {
		out = binary.BigEndian.AppendUint16(out, uint16(len(row)))
		for _, v := range row {
			if v == nil {
				out = binary.BigEndian.AppendUint32(out, math.MaxUint32)
				continue
			}
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(v))), v...)
		}
	}
	return append(out, 0xff, 0xff)
}

// read reads a COPY in pieces of one size, and spells what it was.
func read(columns []Column, copy []byte, size int) (string, error) {
	var b strings.Builder
	r := newReader(columns, func(batch *Batch) error {
		for i := range batch.N {
			for k, c := range columns {
				v := &batch.Columns[k]
				switch {
				case v.Valid[i/64]>>(i%64)&1 == 0:
					b.WriteString("NULL ")
				case c.Kind == catalogue.Text:
					fmt.Fprintf(&b, "%q ", v.Texts[i])
				case c.Kind == catalogue.Decimal:
					fmt.Fprintf(&b, "%v ", signed(v.Wides[i]))
				case c.Kind == catalogue.Numeric:
					fmt.Fprintf(&b, "%v ", v.Reals[i])
				default:
					fmt.Fprintf(&b, "%v ", v.Ints[i])
				}
			}
		}
		return nil
	}, sha256.New())
	for len(copy) > 0 {
		n := min(size, len(copy))
		if _, err := r.Write(copy[:n]); err != nil {
			return b.String(), err
		}
		copy = copy[n:]
	}
	err := r.end()
	return b.String(), err
}

func signed(w [2]uint64) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(int64(w[1])), 64)
	return n.Add(n, new(big.Int).SetUint64(w[0]))
}

// TestReader: however rows are cut on their way they are the same, also where they are more than a
// batch, and what is no COPY is an error.
func TestReader(t *testing.T) {
	columns := []Column{{Kind: catalogue.Int32}, {Kind: catalogue.Text}}
	var rows [][][]byte
	for i := range BatchRows + 3 {
		text := []byte(strings.Repeat("ä", i%7))
		if i%5 == 0 {
			text = nil
		}
		rows = append(rows, [][]byte{binary.BigEndian.AppendUint32(nil, uint32(i)), text})
	}
	whole := binaryCopy(rows...)
	want, err := read(columns, whole, len(whole))
	if err != nil || strings.Count(want, " ") != 2*len(rows) {
		t.Fatalf("%v: %d values", err, strings.Count(want, " "))
	}
	for _, size := range []int{1, 2, 3, 19, 1000} {
		if got, err := read(columns, whole, size); err != nil || got != want {
			t.Errorf("in pieces of %d: %v, and the same is %v", size, err, got == want)
		}
	}
	for name, bad := range map[string][]byte{
		"cut off":             whole[:len(whole)-1],
		"cut off in a row":    whole[:100],
		"nothing":             {},
		"more after the end":  append(append([]byte{}, whole...), 0, 2),
		"another signature":   append([]byte("PGCOPY\n\xff\r\n\x01"), whole[11:]...),
		"too many fields":     binaryCopy([][]byte{{0, 0, 0, 1}, {}, {}}),
		"an integer of three": binaryCopy([][]byte{{0, 0, 1}, {}}),
	} {
		if got, err := read(columns, bad, 7); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestLongTexts: somebody with many long texts takes no more memory than others.
func TestLongTexts(t *testing.T) {
	row := [][]byte{{0, 0, 0, 1}, make([]byte, longest)}
	rows := make([][][]byte, 100)
	for i := range rows {
		rows[i] = row
	}
	n, most := 0, 0
	r := newReader([]Column{{Kind: catalogue.Int32}, {Kind: catalogue.Text}}, func(b *Batch) error {
		n, most = n+b.N, max(most, b.N)
		return nil
	}, sha256.New())
	if _, err := r.Write(binaryCopy(rows...)); err != nil || r.end() != nil || n != len(rows) || most > mostBytes/longest+1 {
		t.Errorf("%d rows, %d at once, %v", n, most, err)
	}
}

// number is a numeric as PostgreSQL sends it.
func number(sign uint16, weight int, digits ...uint16) []byte {
	out := binary.BigEndian.AppendUint16(nil, uint16(len(digits)))
	out = binary.BigEndian.AppendUint16(out, uint16(int16(weight)))
	out = binary.BigEndian.AppendUint16(out, sign)
	out = binary.BigEndian.AppendUint16(out, 0)
	for _, d := range digits {
		out = binary.BigEndian.AppendUint16(out, d)
	}
	return out
}

// TestNumbers: numbers of a scale are exact, up to 38 digits, and others are the nearest double.
func TestNumbers(t *testing.T) {
	nines := []uint16{9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9900}
	for _, c := range []struct {
		scale int
		n     []byte
		want  string // of the decimal, and of the double
	}{
		{2, number(plusSign, 0), "0 0 "},
		{2, number(plusSign, 0, 12, 3400), "1234 12.34 "},
		{2, number(minusSign, -1, 100), "-1 -0.01 "},
		{0, number(plusSign, 1, 1), "10000 10000 "},
		{5, number(plusSign, 0, 1, 0, 1000), "100001 1.00001 "},
		{8, number(plusSign, -2, 1234), "1234 1.234e-05 "},
		{6, number(plusSign, 7, nines...), "99999999999999999999999999999999999999 1e+32 "},
		{6, number(minusSign, 7, nines...), "-99999999999999999999999999999999999999 -1e+32 "},
		{2, number(notANumber, 0), "NULL NaN "},
		{2, number(infinite, 0), "NULL +Inf "},
		{2, number(minusInfinite, 0), "NULL -Inf "},
		{2, number(plusSign, 0, 12, 3456), "NULL 12.3456 "}, // more digits than the scale
		{2, number(plusSign, 0, 12, 0, 1), "NULL 12.00000001 "},
		{2, number(plusSign, 12, 1), "NULL 1e+48 "},   // more than 38
		{0, number(plusSign, 9, 100), "NULL 1e+38 "},  // one more than 38
		{0, number(plusSign, 32767, 1), "NULL +Inf "}, // more than any double
		{6, number(minusSign, -8000, 1), "NULL -0 "},  // less
		{2, number(plusSign, 0, 10000), ""},
		{2, number(1, 0, 1), ""},
	} {
		columns := []Column{{Kind: catalogue.Decimal, Precision: 38, Scale: c.scale}, {Kind: catalogue.Numeric}}
		got, err := read(columns, binaryCopy([][]byte{c.n, c.n}), 1<<20)
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%x with %d digits: %q, %v; want %q", c.n, c.scale, got, err, c.want)
		}
	}
}

// FuzzReader: no bytes make it panic.
func FuzzReader(f *testing.F) {
	f.Add(binaryCopy([][]byte{{0, 0, 0, 1}, []byte("x"), number(plusSign, 0, 1), number(minusSign, 3, 5), {0, 0, 0, 0}}))
	columns := []Column{{Kind: catalogue.Int32}, {Kind: catalogue.Text}, {Kind: catalogue.Decimal, Precision: 10, Scale: 3},
		{Kind: catalogue.Numeric}, {Kind: catalogue.Date}}
	f.Fuzz(func(t *testing.T, copy []byte) {
		whole, err := read(columns, copy, len(copy)+1)
		pieces, other := read(columns, copy, 5)
		if (err == nil) != (other == nil) || err == nil && whole != pieces {
			t.Errorf("%q, %v; in pieces %q, %v", whole, err, pieces, other)
		}
	})
}
