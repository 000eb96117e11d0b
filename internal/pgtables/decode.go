package pgtables

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// decode reads a value of a column as PostgreSQL sends it. It reports false where it is none.
type decode func(v *Values, row int, p []byte, c *Column) bool

var decoders = map[Kind]decode{
	Boolean: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 1 || p[0] > 1 {
			return false
		}
		v.Ints[row] = int64(p[0])
		return true
	},
	Int16: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 2 {
			return false
		}
		v.Ints[row] = int64(int16(binary.BigEndian.Uint16(p)))
		return true
	},
	Int32: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 4 {
			return false
		}
		v.Ints[row] = int64(int32(binary.BigEndian.Uint32(p)))
		return true
	},
	Int64: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 8 {
			return false
		}
		v.Ints[row] = int64(binary.BigEndian.Uint64(p))
		return true
	},
	Float32: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 4 {
			return false
		}
		v.Reals[row] = float64(math.Float32frombits(binary.BigEndian.Uint32(p)))
		return true
	},
	Float64: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 8 {
			return false
		}
		v.Reals[row] = math.Float64frombits(binary.BigEndian.Uint64(p))
		return true
	},
	Text: decodeText,
	// Blanks at the end of a char(n) mean nothing to PostgreSQL, and a text that it is cast to has
	// none.
	Padded: func(v *Values, row int, p []byte, c *Column) bool {
		return decodeText(v, row, bytes.TrimRight(p, " "), c)
	},
	UUID: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 16 {
			return false
		}
		v.Wides[row] = [2]uint64{binary.BigEndian.Uint64(p[8:]), binary.BigEndian.Uint64(p)}
		return true
	},
	Date: decodeDate, Timestamp: decodeTimestamp, TimestampTZ: decodeTimestamp, Decimal: decodeDecimal, Numeric: decodeNumeric,
}

// decodeText reads a text. One that is not UTF-8, which a database in SQL_ASCII can hold, is NULL:
// whoever writes it into a row must not keep everybody from asking.
func decodeText(v *Values, row int, p []byte, _ *Column) bool {
	if !utf8.Valid(p) {
		v.null(row)
		return true
	}
	v.text(row, p)
	return true
}

// PostgreSQL counts from the year 2000.
const (
	daysTo2000   = 10957
	microsTo2000 = daysTo2000 * 24 * 60 * 60 * 1_000_000
)

// What is infinite, for a date and for a time.
const (
	EndlessDays   = math.MaxInt32
	EndlessMicros = math.MaxInt64
)

func decodeDate(v *Values, row int, p []byte, _ *Column) bool {
	if len(p) != 4 {
		return false
	}
	switch days := int64(int32(binary.BigEndian.Uint32(p))); days {
	case math.MaxInt32:
		v.Ints[row] = EndlessDays
	case math.MinInt32:
		v.Ints[row] = -EndlessDays
	default:
		v.Ints[row] = days + daysTo2000
	}
	return true
}

// decodeTimestamp reads a time. The last thirty years that PostgreSQL has do not fit, and are NULL:
// were they endless, two people could be one.
func decodeTimestamp(v *Values, row int, p []byte, _ *Column) bool {
	if len(p) != 8 {
		return false
	}
	switch micros := int64(binary.BigEndian.Uint64(p)); {
	case micros == math.MaxInt64:
		v.Ints[row] = EndlessMicros
	case micros >= math.MaxInt64-microsTo2000:
		v.null(row)
	case micros == math.MinInt64:
		v.Ints[row] = -EndlessMicros
	default:
		v.Ints[row] = micros + microsTo2000
	}
	return true
}

// numeric is PostgreSQL's: digits to the base 10,000, of which the first is worth 10,000^weight.
type numeric struct {
	digits []byte // two bytes each
	weight int
	minus  bool
	other  bool // not a number, or infinite
	sign   uint16
}

// What the signs of a numeric mean.
const (
	plusSign, minusSign                 = 0x0000, 0x4000
	notANumber, infinite, minusInfinite = 0xC000, 0xD000, 0xF000
)

func readNumeric(p []byte) (n numeric, ok bool) {
	if len(p) < 8 || len(p) != 8+2*int(binary.BigEndian.Uint16(p)) {
		return n, false
	}
	n.weight, n.sign, n.digits = int(int16(binary.BigEndian.Uint16(p[2:]))), binary.BigEndian.Uint16(p[4:]), p[8:]
	n.minus = n.sign == minusSign
	switch n.sign {
	case plusSign, minusSign:
	case notANumber, infinite, minusInfinite:
		n.other = true
	default:
		return n, false
	}
	for i := 0; i < len(n.digits); i += 2 {
		if binary.BigEndian.Uint16(n.digits[i:]) > 9999 {
			return n, false
		}
	}
	return n, true
}

// decodeDecimal reads a number of a column with a scale. Not a number is NULL, as it is for every
// column that is to be a number. So is one with more digits than its type has: a type can be made
// narrower without rows being looked at, and somebody's row of before must not keep everybody from
// asking.
func decodeDecimal(v *Values, row int, p []byte, c *Column) bool {
	n, ok := readNumeric(p)
	if !ok {
		return false
	}
	sum, fits := n.decimal(c.Scale)
	if !fits || !sum.less(tens[c.Precision]) {
		v.null(row)
		return true
	}
	if n.minus {
		sum = sum.negative()
	}
	v.Wides[row], v.Ints[row] = [2]uint64{sum.low, sum.high}, int64(sum.low)
	return true
}

// decimal is the magnitude in units of the last digit of a scale. It reports false where there are
// digits after it, or too many of them.
func (n numeric) decimal(scale int) (sum wide, ok bool) {
	if n.other {
		return sum, false
	}
	// Digit i is worth 10,000^(weight - i). Those up to the scale are taken, four decimals a digit.
	groups := (scale + 3) / 4
	for i := 0; i <= n.weight+groups; i++ {
		digit := uint64(0)
		if 2*i < len(n.digits) {
			digit = uint64(binary.BigEndian.Uint16(n.digits[2*i:]))
		}
		times := uint64(10_000)
		if i == n.weight+groups && scale%4 != 0 {
			// The last digit has more decimals than the scale, and those are zero.
			times = uint64(math.Pow10(scale % 4))
			cut := uint64(10_000) / times
			if digit%cut != 0 {
				return sum, false
			}
			digit /= cut
		}
		if sum, ok = sum.addDigit(times, digit); !ok {
			return sum, false
		}
	}
	for i := max(0, n.weight+groups+1); 2*i < len(n.digits); i++ {
		if binary.BigEndian.Uint16(n.digits[2*i:]) != 0 {
			return sum, false
		}
	}
	return sum, true
}

// decodeNumeric reads a number of any length as the nearest double.
func decodeNumeric(v *Values, row int, p []byte, _ *Column) bool {
	n, ok := readNumeric(p)
	if !ok {
		return false
	}
	switch n.sign {
	case notANumber:
		v.Reals[row] = math.NaN()
		return true
	case infinite, minusInfinite:
		v.Reals[row] = math.Inf(1)
		if n.sign == minusInfinite {
			v.Reals[row] = math.Inf(-1)
		}
		return true
	}
	text := make([]byte, 0, 2+2*len(n.digits)+8)
	if n.minus {
		text = append(text, '-')
	}
	text = append(text, '0')
	for i := 0; i < len(n.digits); i += 2 {
		d := binary.BigEndian.Uint16(n.digits[i:])
		text = append(text, byte('0'+d/1000), byte('0'+d/100%10), byte('0'+d/10%10), byte('0'+d%10))
	}
	text = strconv.AppendInt(append(text, 'e'), int64(4*(n.weight+1-len(n.digits)/2)), 10)
	f, err := strconv.ParseFloat(string(text), 64)
	v.Reals[row] = f
	return err == nil || math.IsInf(f, 0)
}
