package outer

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
)

// Describe returns the columns that a statement of Check has over tables of these columns. It does
// not run it: rows are not looked at. What DuckDB would not run is a *api.Refusal.
func Describe(ctx context.Context, text string, tables []Table) ([]Column, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Time, ErrTime)
	defer cancel()
	empty := make([]Table, len(tables))
	for i, t := range tables {
		empty[i] = Table{Name: t.Name, Columns: t.Columns}
	}
	in, err := open(ctx, empty)
	if err != nil {
		return nil, err
	}
	defer in.close()
	var out []Column
	err = in.conn.Raw(func(c any) error {
		out, err = describe(ctx, c, text)
		return err
	})
	return out, err
}

func describe(ctx context.Context, conn any, text string) ([]Column, error) {
	c, ok := conn.(*driver.Conn)
	if !ok {
		return nil, errStart
	}
	prepared, err := c.PrepareContext(ctx, text)
	if err != nil {
		return nil, refusal(ctx, err)
	}
	defer prepared.Close()
	s, ok := prepared.(*driver.Stmt)
	if !ok {
		return nil, errStart
	}
	if kind, err := s.StatementType(); err != nil || kind != driver.STATEMENT_TYPE_SELECT {
		return nil, &api.Refusal{Reason: "the query around the released results is not a SELECT", Instead: "write a SELECT",
			Position: -1}
	}
	n, err := s.ColumnCount()
	if err != nil {
		return nil, refusal(ctx, err)
	}
	if n > MaxColumns {
		return nil, &api.Refusal{Reason: errColumns.Error(), Position: -1}
	}
	out := make([]Column, n)
	for i := range out {
		info, err := s.ColumnTypeInfo(i)
		if err != nil {
			return nil, refusal(ctx, err)
		}
		if out[i].Name, err = s.ColumnName(i); err != nil {
			return nil, refusal(ctx, err)
		}
		if err := out[i].typed(info); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// kinds are the types that a result may have.
var kinds = map[driver.Type]Kind{
	driver.TYPE_BOOLEAN: Boolean, driver.TYPE_TINYINT: Integer, driver.TYPE_SMALLINT: Integer, driver.TYPE_INTEGER: Integer,
	driver.TYPE_BIGINT:   Integer,
	driver.TYPE_UTINYINT: Integer, driver.TYPE_USMALLINT: Integer, driver.TYPE_UINTEGER: Integer, driver.TYPE_UBIGINT: Integer,
	driver.TYPE_HUGEINT: Integer, driver.TYPE_UHUGEINT: Integer, driver.TYPE_FLOAT: Real, driver.TYPE_DOUBLE: Real,
	driver.TYPE_VARCHAR: Text,
	driver.TYPE_DATE:    Date, driver.TYPE_TIMESTAMP: Timestamp, driver.TYPE_DECIMAL: Decimal, driver.TYPE_SQLNULL: Text,
}

// smaller are the types that PostgreSQL has beside those that a kind mostly has.
var smaller = map[driver.Type]string{driver.TYPE_SMALLINT: "int2", driver.TYPE_INTEGER: "int4", driver.TYPE_FLOAT: "float4"}

func (c *Column) typed(info driver.TypeInfo) error {
	kind, ok := kinds[info.InternalType()]
	if !ok {
		return &api.Refusal{Reason: "the column " + quote(c.Name) + " of the answer has a type that cannot be shown",
			Instead: "cast it, as in CAST(x AS text)", Position: -1}
	}
	c.Kind = kind
	c.Type = smaller[info.InternalType()]
	if d, ok := info.Details().(*driver.DecimalDetails); ok && kind == Decimal {
		c.Decimals = int(d.Scale)
	}
	return nil
}

// Run runs a statement of Check over released tables. The result has no name.
func Run(ctx context.Context, text string, tables []Table) (*Table, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Time, ErrTime)
	defer cancel()
	in, err := open(ctx, tables)
	if err != nil {
		return nil, err
	}
	defer in.close()
	out := &Table{}
	err = in.conn.Raw(func(c any) error {
		out.Columns, err = describe(ctx, c, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	name, err := in.keep(ctx, text, tables, out.Columns)
	if err != nil {
		return nil, err
	}
	rows, err := in.conn.QueryContext(ctx, "SELECT * FROM "+name)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer rows.Close()
	if err := out.read(ctx, rows); err != nil {
		return nil, err
	}
	return out, nil
}

// keep runs a statement into a table and returns the table's name. DuckDB counts the memory of a
// table and not that of an answer, and a table can be measured before it is read. One thread keeps
// the order of rows.
func (in *instance) keep(ctx context.Context, text string, tables []Table, columns []Column) (string, error) {
	name := "answer"
	for slices.ContainsFunc(tables, func(t Table) bool { return fold(t.Name) == name }) {
		name += "_"
	}
	name = quote(name)
	called, size := make([]string, len(columns)), "0"
	for i, c := range columns { // names of an answer may be the same
		called[i] = "c" + strconv.Itoa(i)
		if c.Kind == Text {
			size += " + coalesce(sum(strlen(" + called[i] + "::VARCHAR)), 0)"
		}
	}
	if _, err := in.conn.ExecContext(ctx, "CREATE TEMP TABLE "+name+" ("+strings.Join(called, ", ")+") AS "+text); err != nil {
		return "", failure(ctx, err)
	}
	var rows int
	var bytes float64
	if err := in.conn.QueryRowContext(ctx, "SELECT count(*), ("+size+")::DOUBLE FROM "+name).Scan(&rows, &bytes); err != nil {
		return "", failure(ctx, err)
	}
	switch {
	case rows > MaxRows:
		return "", ErrRows
	case bytes+float64(16*rows*len(columns)) > MaxBytes:
		return "", ErrBytes
	}
	return name, nil
}

// read takes the rows of an answer.
func (t *Table) read(ctx context.Context, rows *sql.Rows) error {
	cells := make([]any, len(t.Columns))
	into := make([]any, len(cells))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return failure(ctx, err)
		}
		row := make([]any, len(cells))
		for i, v := range cells {
			var err error
			if row[i], err = t.Columns[i].result(v); err != nil {
				return err
			}
			s, _ := row[i].(string)
			if len(s) >= MaxText && utf8.RuneCountInString(s) == MaxText {
				return ErrText // it may have been cut
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return failure(ctx, err)
	}
	return nil
}
