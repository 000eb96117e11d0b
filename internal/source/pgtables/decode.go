package pgtables

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
)

// decode reads a value of a column as PostgreSQL sends it. It reports false where it is none.
type decode func(v *Values, row int, p []byte, c *Column) bool

var decoders = map[catalogue.Kind]decode{
	catalogue.Boolean: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 1 || p[0] > 1 {
			return false
		}
		v.Ints[row] = int64(p[0])
		return true
	},
	catalogue.Int16: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 2 {
			return false
		}
		v.Ints[row] = int64(int16(binary.BigEndian.Uint16(p)))
		return true
	},
	catalogue.Int32: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 4 {
			return false
		}
		v.Ints[row] = int64(int32(binary.BigEndian.Uint32(p)))
		return true
	},
	catalogue.Int64: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 8 {
			return false
		}
		v.Ints[row] = int64(binary.BigEndian.Uint64(p))
		return true
	},
	catalogue.Float32: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 4 {
			return false
		}
		v.Reals[row] = float64(math.Float32frombits(binary.BigEndian.Uint32(p)))
		return true
	},
	catalogue.Float64: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 8 {
			return false
		}
		v.Reals[row] = math.Float64frombits(binary.BigEndian.Uint64(p))
		return true
	},
	catalogue.Text: decodeText,
	// Blanks at the end of a char(n) mean nothing to PostgreSQL, and a text that it is cast to has
	// none.
	catalogue.Padded: func(v *Values, row int, p []byte, c *Column) bool {
		return decodeText(v, row, bytes.TrimRight(p, " "), c)
	},
	catalogue.UUID: func(v *Values, row int, p []byte, _ *Column) bool {
		if len(p) != 16 {
			return false
		}
		v.Wides[row] = [2]uint64{binary.BigEndian.Uint64(p[8:]), binary.BigEndian.Uint64(p)}
		return true
	},
	catalogue.Date: decodeDate, catalogue.Timestamp: decodeTimestamp, catalogue.TimestampTZ: decodeTimestamp,
	catalogue.Decimal: decodeDecimal, catalogue.Numeric: decodeNumeric,
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

type Column struct {
	Name string
	Type string // as PostgreSQL spells it
	Kind catalogue.Kind
	// Precision and Scale are those of a Decimal.
	Precision, Scale int
	NotNull          bool
	loose            bool // texts that differ may be the same, by its collation
	generated        string
	typ              uint32
	modifier         int32
}

// maxPrecision is how many digits a Decimal has at most. Longer ones are a Numeric.
const maxPrecision = 38

var kinds = map[uint32]catalogue.Kind{
	pgtype.BoolOID: catalogue.Boolean, pgtype.Int2OID: catalogue.Int16, pgtype.Int4OID: catalogue.Int32,
	pgtype.Int8OID: catalogue.Int64, pgtype.Float4OID: catalogue.Float32,
	pgtype.Float8OID: catalogue.Float64, pgtype.NumericOID: catalogue.Numeric, pgtype.TextOID: catalogue.Text,
	pgtype.VarcharOID: catalogue.Text, pgtype.BPCharOID: catalogue.Padded,
	pgtype.NameOID: catalogue.Text, pgtype.QCharOID: catalogue.Unreadable, pgtype.UUIDOID: catalogue.UUID,
	pgtype.DateOID: catalogue.Date, pgtype.TimestampOID: catalogue.Timestamp,
	pgtype.TimestamptzOID: catalogue.TimestampTZ,
}

const listColumns = `SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), a.atttypid::bigint, a.atttypmod, a.attnotnull, a.attgenerated::text,
EXISTS (SELECT 1 FROM pg_collation l WHERE l.oid = a.attcollation AND NOT l.collisdeterministic) FROM pg_attribute a WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

// A domain is read as what it is of; an enumeration as its texts.
const findBase = `SELECT t.typtype::text, t.typbasetype::bigint, t.typtypmod FROM pg_type t WHERE t.oid = $1::bigint::oid`

func columns(ctx context.Context, tx pgx.Tx, relation uint32) ([]Column, error) {
	rows, err := tx.Query(ctx, listColumns, int64(relation))
	if err != nil {
		return nil, err
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (c Column, err error) {
		var typ int64
		err = row.Scan(&c.Name, &c.Type, &typ, &c.modifier, &c.NotNull, &c.generated, &c.loose)
		c.typ = uint32(typ)
		return c, err
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		if err := out[i].find(ctx, tx); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// find decides what the values of a column are.
func (c *Column) find(ctx context.Context, tx pgx.Tx) error {
	for range 32 { // domains of domains
		if kind, ok := kinds[c.typ]; ok {
			c.Kind = kind
			if kind == catalogue.Numeric && c.modifier >= 4 {
				c.decimal(c.modifier - 4)
			}
			return nil
		}
		var what string
		var base int64
		var modifier int32
		if err := tx.QueryRow(ctx, findBase, int64(c.typ)).Scan(&what, &base, &modifier); err != nil {
			return err
		}
		switch what {
		case "e":
			c.Kind = catalogue.Text
			return nil
		case "d":
			c.typ, c.modifier = uint32(base), modifier
		default:
			return nil
		}
	}
	return nil
}

// longest is how many bytes of a text are read. What is longer is NULL: a row has to fit into a
// message of the database, and into memory, or a copy fails over it.
const longest = 1 << 20

func (c Column) read() string {
	name := pgx.Identifier{c.Name}.Sanitize()
	switch c.typ {
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID:
		return fmt.Sprintf("CASE WHEN octet_length(%s) <= %d THEN %s END", name, longest, name)
	}
	return name
}

// decimal reads the precision and the scale of a numeric, which may be negative.
func (c *Column) decimal(modifier int32) {
	precision, scale := int(modifier>>16&0xffff), int(modifier&0x7ff)
	if scale&0x400 != 0 {
		scale -= 0x800
	}
	if precision <= maxPrecision && scale >= 0 && scale <= precision {
		c.Kind, c.Precision, c.Scale = catalogue.Decimal, precision, scale
	}
}

// DuckDB spells the type that holds the values.
func (c Column) DuckDB() string {
	if c.Kind == catalogue.Decimal {
		return fmt.Sprintf("DECIMAL(%d,%d)", c.Precision, c.Scale)
	}
	return map[catalogue.Kind]string{catalogue.Boolean: "BOOLEAN", catalogue.Int16: "SMALLINT", catalogue.Int32: "INTEGER",
		catalogue.Int64: "BIGINT", catalogue.Float32: "FLOAT", catalogue.Float64: "DOUBLE",
		catalogue.Numeric: "DOUBLE", catalogue.Text: "VARCHAR", catalogue.Padded: "VARCHAR", catalogue.UUID: "UUID",
		catalogue.Date: "DATE", catalogue.Timestamp: "TIMESTAMP",
		catalogue.TimestampTZ: "TIMESTAMP WITH TIME ZONE"}[c.Kind]
}

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
