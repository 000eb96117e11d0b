package pgtables

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// Kind is what a value is, whatever PostgreSQL calls its type.
type Kind int

// The kinds of values that can be read.
const (
	Unreadable Kind = iota
	Boolean
	Int16
	Int32
	Int64
	Float32
	Float64
	Decimal // with a precision and a scale
	Numeric // of any precision
	Text
	Padded // texts with blanks at the end, which are not part of them
	UUID
	Date
	Timestamp
	TimestampTZ
)

// Column is a column of a table.
type Column struct {
	Name string
	Type string // as PostgreSQL spells it
	Kind Kind
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

var kinds = map[uint32]Kind{
	pgtype.BoolOID: Boolean, pgtype.Int2OID: Int16, pgtype.Int4OID: Int32, pgtype.Int8OID: Int64, pgtype.Float4OID: Float32,
	pgtype.Float8OID: Float64, pgtype.NumericOID: Numeric, pgtype.TextOID: Text, pgtype.VarcharOID: Text, pgtype.BPCharOID: Padded,
	pgtype.NameOID: Text, pgtype.QCharOID: Unreadable, pgtype.UUIDOID: UUID, pgtype.DateOID: Date, pgtype.TimestampOID: Timestamp,
	pgtype.TimestamptzOID: TimestampTZ,
}

const listColumns = `SELECT a.attname::text, format_type(a.atttypid, a.atttypmod), a.atttypid::bigint, a.atttypmod, a.attnotnull, a.attgenerated::text,
EXISTS (SELECT 1 FROM pg_collation l WHERE l.oid = a.attcollation AND NOT l.collisdeterministic) FROM pg_attribute a WHERE a.attrelid = $1::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`

// A domain is read as what it is of; an enumeration as its texts.
const findBase = `SELECT t.typtype::text, t.typbasetype::bigint, t.typtypmod FROM pg_type t WHERE t.oid = $1::bigint::oid`

// columns lists the columns of a relation.
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
			if kind == Numeric && c.modifier >= 4 {
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
			c.Kind = Text
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

// read spells a column as it is read.
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
		c.Kind, c.Precision, c.Scale = Decimal, precision, scale
	}
}

// DuckDB spells the type that holds the values.
func (c Column) DuckDB() string {
	if c.Kind == Decimal {
		return fmt.Sprintf("DECIMAL(%d,%d)", c.Precision, c.Scale)
	}
	return map[Kind]string{Boolean: "BOOLEAN", Int16: "SMALLINT", Int32: "INTEGER", Int64: "BIGINT", Float32: "FLOAT", Float64: "DOUBLE",
		Numeric: "DOUBLE", Text: "VARCHAR", Padded: "VARCHAR", UUID: "UUID", Date: "DATE", Timestamp: "TIMESTAMP",
		TimestampTZ: "TIMESTAMP WITH TIME ZONE"}[c.Kind]
}
