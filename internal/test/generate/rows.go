package generate

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// Row is a stored row by column: nil, int64, float64, string, bool or tree.Day.
type Row map[string]any

// Columns are the columns of random tables, with their stored types.
var Columns = []struct{ Name, Stored, Policy string }{
	{"i", "BIGINT", "{type: integer, bounds: [-5, 10]}"},
	{"n", "INTEGER", "{type: integer, bounds: [0, 3], nullable: false}"},
	{"j", "BIGINT", "{type: integer}"},
	{"g", "BIGINT", "{type: integer, bounds: [-100, 200], granularity: 50}"},
	{"d", "DOUBLE", "{type: decimal, bounds: [-2, 20], granularity: 0.01}"},
	{"e", "DOUBLE", "{type: decimal, granularity: 0.5}"},
	{"r", "DOUBLE", "{type: decimal}"},
	{"s", "VARCHAR", "{type: text, keys: [a, b, '', null, never]}"},
	{"b", "BOOLEAN", "{type: boolean}"},
	{"y", "DATE", "{type: date, bounds: [2024-02-27, 2024-03-01]}"},
	{"z", "DATE", "{type: date}"},
	{"m", "TIMESTAMP", "{type: timestamp, bounds: [2024-02-27 12:00:00, 2024-03-31 23:59:59.5]}"},
	{"q", "TIMESTAMP", "{type: timestamp}"},
	{"x", "VARCHAR", "{type: text}"},
}

// drawValue draws a value of a stored column, often one at an edge.
func drawValue(t *rapid.T, name string) any {
	if name != "n" && rapid.IntRange(0, 5).Draw(t, "null") == 0 {
		return nil
	}
	switch name {
	case "i":
		return rapid.Int64Range(-8, 13).Draw(t, name)
	case "n":
		return rapid.Int64Range(0, 3).Draw(t, name)
	case "j":
		return rapid.OneOf(rapid.Int64Range(-3, 3), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, 1 << 62,
			1 << 53})).Draw(t, name)
	case "g":
		return rapid.Int64Range(-130, 230).Draw(t, name)
	case "d", "e":
		return rapid.OneOf(
			rapid.Map(rapid.IntRange(-3000, 25000), func(n int) float64 { return float64(n) / 1000 }),
			rapid.SampledFrom([]float64{0.005, 0.015, 0.25, 0.75, -0.25, math.Copysign(0, -1), 1e300, math.NaN(), math.Inf(1),
				math.Inf(-1), 9.3e16}),
		).Draw(t, name)
	case "r":
		return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1.5, -1.5, 0.1, 3, 1e300, -1e300, 5e-324, math.NaN(),
			math.Inf(1)}).Draw(t, name)
	case "s":
		return rapid.SampledFrom([]string{"a", "b", "", "A", "é", "other", "a "}).Draw(t, name)
	case "b":
		return rapid.Bool().Draw(t, name)
	}
	days := rapid.Int64Range(19775, 19790).Draw(t, name) // around 2024-02-28
	if name == "x" {
		return rapid.OneOf(rapid.SampledFrom(OddTexts), rapid.StringOf(rapid.RuneFrom([]rune("aAbB1 "+
			".-%_éßİǅ\U0001F600\u0301")))).Draw(t, name)
	}
	if name == "m" || name == "q" {
		return tree.Moment(rapid.OneOf(rapid.Int64Range(days*microsPerDay, (days+30)*microsPerDay), rapid.SampledFrom([]int64{
			0, -1, -1_000_000, 951782400_000001, 1711929599_999999, 1709251199_999999, 1704067199_500000,
			-719162 * microsPerDay, -719162*microsPerDay - 1, 2932897*microsPerDay - 1, 2932897 * microsPerDay,
			1 << 59})).Draw(t, "moment"))
	}
	if name == "z" {
		days = rapid.OneOf(rapid.Just(days), rapid.SampledFrom([]int64{-719162, -719161, 2932896, 2932895, 2932897, 7_000_000, 0, -1,
			11016, -25509, 19722, 19723, 20088, 18628, -719100})).Draw(t, "day")
	}
	return tree.Day(days)
}

// OddTexts are texts at which functions may differ: numbers, dates and what looks like them.
var OddTexts = []string{"", "a", "A", " a ", "é", "e\u0301", "ß", "ẞ", "İ", "ı", "Σς", "ﬁ", "\U0001F468\u200d\U0001F469", "K", "a%b_c",
	"a\\b", "\t\u00a0x\n", "\u00a0y\u2003", "ab", "abab", "aXbXc",
	"0", "-0", "+7", "12", "012", " 12 ", "1e3", "0x1F", "1_000", "NaN", "inf", "-Infinity", "1.5", "-2.5", "2.45", ".5", "5.", "1,5",
	"١٢", "999999999999999999", "1000000000000000000", "2147483648", "-2147483648",
	"1.005", "-0.005", "0.0049999999999999", "123456789.987654321",
	"2024-02-29", "2023-02-29", "0001-01-01", "0000-12-31", "9999-12-31", "10000-01-01", "2024-2-1", "2024-02-29 ",
	"2024-02-29 23:59:59", "2024-02-29T00:00:00.5", "2024-02-29 24:00:00", "2024-02-29 23:59:60", "2024-02-29 10:00",
	"2024-02-29 10:00:00.1234567", "2024-02-29 10:00:00+01", "infinity", "epoch",
	"true", "T", "YES", "off", "n", "maybe", "1", "tRuE", "\u212a"}

func DrawRows(t *rapid.T, most int) []Row {
	rows := make([]Row, rapid.IntRange(0, most).Draw(t, "rows"))
	for k := range rows {
		rows[k] = Row{}
		for _, c := range Columns {
			rows[k][c.Name] = drawValue(t, c.Name)
		}
	}
	return rows
}

// Declared is the value of a stored column as the policy declares it: the
// reference for what the printer's inner SELECT computes.
func Declared(c *policy.Column, v any) tree.Value {
	if v == nil {
		return nil
	}
	switch c.Type {
	case policy.Text, policy.Boolean:
		return v
	case policy.Date:
		day := int64(v.(tree.Day))
		if c.Bounds != nil {
			day = min(max(day, c.Bounds.LoSteps), c.Bounds.HiSteps)
		}
		return tree.Day(day)
	case policy.Timestamp:
		micros := int64(v.(tree.Moment))
		if c.Bounds != nil {
			micros = min(max(micros, c.Bounds.LoSteps), c.Bounds.HiSteps)
		}
		return tree.Moment(micros)
	}
	if c.Granularity == nil {
		if f := v.(float64); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		return nil
	}
	steps, ok := v.(int64)
	if !ok || c.Granularity.Cmp(oneRat) != 0 {
		f, isFloat := v.(float64)
		if !isFloat {
			f = float64(steps)
		}
		den, _ := new(big.Float).SetInt(c.Granularity.Denom()).Float64()
		num, _ := new(big.Float).SetInt(c.Granularity.Num()).Float64()
		// As DuckDB casts: to the nearest, halves to the even one, NULL beyond 64 bits.
		f = math.RoundToEven(f * den / num)
		if !(f >= -(1<<63) && f < 1<<63) {
			return nil
		}
		steps = int64(f)
	}
	if c.Bounds != nil {
		steps = min(max(steps, c.Bounds.LoSteps), c.Bounds.HiSteps)
	}
	return big.NewInt(steps)
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

var oneRat = big.NewRat(1, 1)

// Types are those in which a database may have stored columns of a policy's type, in two ways, and
// one for each way for what says whose a row is and is no column of the policy.
type Types struct {
	Of  map[policy.Type][2][]string
	Who [2]string
}

// Stored is a schema of tables that nobody has, stored in one of two ways. Table is what follows
// FROM for a table of some name.
func Stored(d *sqlgen.Dialect, ds *policy.Dataset, types Types, way int, table func(name string) string) sqlgen.Schema {
	s := sqlgen.NewSchema(d, ds)
	for _, name := range ds.TableNames() {
		p := ds.Tables[name]
		tb := &sqlgen.Table{Table: p, Dialect: d, Paths: ds.PathColumns(p), From: table(name), Collated: way == 1,
			Stored: map[string]sqlgen.Column{}, OnLattice: map[string]bool{}}
		for i, c := range tb.Needed() {
			typ := types.Who[way]
			if c := p.Columns[c]; c != nil {
				some := types.Of[c.Type][way]
				typ = some[i%len(some)]
				if way == 1 && c.Type == policy.Decimal && c.Granularity != nil {
					tb.OnLattice[c.Name] = true
				}
			}
			if slices.Contains(tb.Paths, c) && way == 1 {
				typ = types.Who[way]
			}
			tb.Stored[c] = sqlgen.Column{Name: strings.ToUpper(c), Type: typ}
		}
		s.Tables[name] = tb
	}
	return s
}
