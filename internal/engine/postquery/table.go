package postquery

import (
	sqldriver "database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
)

// Kind is the type of a column of a released result.
type Kind int

// The kinds of columns.
const (
	Integer Kind = iota
	Decimal
	Real
	Text
	Boolean
	Date
	Timestamp
)

var kindNames = [...]string{"integer", "decimal", "real", "text", "boolean", "date", "timestamp"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Column is a column of a released result, or of what is made of them.
type Column struct {
	Name     string
	Kind     Kind
	Decimals int // digits after the point, for Decimal
	// Type is PostgreSQL's name of the type, where it is not the one that the kind mostly has.
	Type string
}

// Table is a released result, or what is made of them. A value is nil, a json.Number (Integer,
// Decimal and Real), a bool, or a string: a text, a date as 2024-01-31, a timestamp as 2024-01-31
// 13:45:00.
type Table struct {
	Name    string
	Columns []Column
	Rows    [][]any
}

const (
	dateLayout      = "2006-01-02"
	timestampLayout = "2006-01-02 15:04:05.999999"
)

func fill(conn any, t *Table) (err error) {
	c, ok := conn.(sqldriver.Conn)
	if !ok {
		return errStart
	}
	a, err := driver.NewAppenderFromConn(c, "", t.Name)
	if err != nil {
		return errStart
	}
	defer func() {
		if closing := a.Close(); err == nil && closing != nil {
			err = fmt.Errorf("the released result %q is too large", t.Name)
		}
	}()
	row := make([]sqldriver.Value, len(t.Columns))
	for _, values := range t.Rows {
		if len(values) != len(row) {
			return fmt.Errorf("a row of the released result %q has %d values for %d columns", t.Name, len(values), len(row))
		}
		for i, v := range values {
			if row[i], err = t.Columns[i].load(v); err != nil {
				return fmt.Errorf("the released result %q: %w", t.Name, err)
			}
		}
		if err := a.AppendRow(row...); err != nil {
			return fmt.Errorf("the released result %q cannot be loaded", t.Name)
		}
	}
	return nil
}

// load turns a released value into what DuckDB takes.
func (c Column) load(v any) (sqldriver.Value, error) {
	if v == nil {
		return nil, nil
	}
	wrong := fmt.Errorf("column %q has a value that is not %v", c.Name, c.Kind)
	number, isNumber := v.(json.Number)
	written, isText := v.(string)
	switch {
	case c.Kind == Integer && isNumber:
		n, err := strconv.ParseInt(number.String(), 10, 64)
		if err != nil {
			return nil, wrong
		}
		return n, nil
	case c.Kind == Decimal && isNumber:
		return c.decimal(number.String())
	case c.Kind == Real && isNumber:
		f, err := strconv.ParseFloat(number.String(), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return nil, wrong
		}
		return f, nil
	case c.Kind == Text && isText:
		return written, nil
	case c.Kind == Date && isText:
		d, err := time.Parse(dateLayout, written)
		if err != nil {
			return nil, wrong
		}
		return d, nil
	case c.Kind == Timestamp && isText:
		for _, layout := range []string{timestampLayout, "2006-01-02T15:04:05.999999", dateLayout} {
			if d, err := time.Parse(layout, written); err == nil {
				return d, nil
			}
		}
		return nil, wrong
	case c.Kind == Boolean:
		if b, ok := v.(bool); ok {
			return b, nil
		}
	}
	return nil, wrong
}

// decimal reads a decimal exactly, or not at all.
func (c Column) decimal(s string) (sqldriver.Value, error) {
	wrong := fmt.Errorf("column %q has a value that is not a number of 38 digits, %d of them after the point", c.Name, c.Decimals)
	if len(s) > 100 || strings.Trim(s, "+-.0123456789") != "" { // an exponent could be enormous
		return nil, wrong
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return nil, wrong
	}
	r.Mul(r, new(big.Rat).SetInt(power10(c.Decimals)))
	if !r.IsInt() || r.Num().CmpAbs(power10(38)) >= 0 {
		return nil, wrong
	}
	return driver.Decimal{Width: 38, Scale: uint8(c.Decimals), Value: r.Num()}, nil
}

func power10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// result turns a value of DuckDB into a released one. What is not finite is NULL.
func (c Column) result(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool:
		return v, nil
	case string:
		return v, nil
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return json.Number(fmt.Sprint(v)), nil
	case *big.Int:
		return json.Number(v.String()), nil
	case float32:
		return finite(float64(v), 32), nil
	case float64:
		return finite(v, 64), nil
	case driver.Decimal:
		return json.Number(formatSteps(v.Value, int(v.Scale))), nil
	case time.Time:
		if v.Year() > 9999 || v.Year() < 1 { // infinity among them
			return nil, nil
		}
		if c.Kind == Date {
			return v.Format(dateLayout), nil
		}
		return v.Format(timestampLayout), nil
	}
	return nil, fmt.Errorf("column %q has a value that cannot be shown", c.Name)
}

func finite(f float64, bits int) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	if f == 0 {
		f = 0 // no minus
	}
	s := strconv.FormatFloat(f, 'g', -1, bits)
	if a := math.Abs(f); a >= 1e-6 && a < 1e15 || a == 0 {
		s = strconv.FormatFloat(f, 'f', -1, bits)
	}
	return json.Number(s)
}

// formatSteps writes a whole number of steps of 10^-scale.
func formatSteps(n *big.Int, scale int) string {
	if scale == 0 {
		return n.String()
	}
	s := new(big.Int).Abs(n).String()
	if len(s) <= scale {
		s = strings.Repeat("0", scale+1-len(s)) + s
	}
	s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	if n.Sign() < 0 {
		s = "-" + s
	}
	return s
}
