package generate

import (
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// SQL returns the statements that make the database in DuckDB, for an engine that reads one.
func (db *Database) SQL() []string {
	var out []string
	for _, t := range db.order() {
		all := db.Tables[t.Name]
		list := make([]string, len(all.Columns))
		for i, name := range all.Columns {
			typ := "BIGINT"
			if c := t.Columns[name]; c != nil {
				typ = map[policy.Type]string{policy.Text: "VARCHAR", policy.Boolean: "BOOLEAN", policy.Date: "DATE",
					policy.Decimal: "DOUBLE", policy.Integer: "BIGINT", policy.Timestamp: "TIMESTAMP"}[c.Type]
			}
			list[i] = fmt.Sprintf("%q %s", name, typ)
		}
		out = append(out, fmt.Sprintf("CREATE TABLE %q (%s)", t.Name, strings.Join(list, ", ")))
		rows := make([]string, len(all.Rows))
		for k, row := range all.Rows {
			values := make([]string, len(row))
			for i, v := range row {
				values[i] = literal(v, t.Columns[all.Columns[i]])
			}
			rows[k] = "(" + strings.Join(values, ", ") + ")"
		}
		if len(rows) > 0 {
			out = append(out, fmt.Sprintf("INSERT INTO %q VALUES %s", t.Name, strings.Join(rows, ", ")))
		}
	}
	return out
}

// literal writes a stored value.
func literal(v any, c *policy.Column) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "'" + strings.ReplaceAll(strings.ReplaceAll(v, "'", "''"), "\x00", "' || chr(0) || '") + "'"
	case float64:
		switch {
		case c.Type == policy.Timestamp:
			return fmt.Sprintf("TIMESTAMP '%s'", strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+"))+"inity")
		case math.IsNaN(v):
			return "'nan'::DOUBLE"
		case math.IsInf(v, 0):
			return fmt.Sprintf("'%v'::DOUBLE", strings.ToLower(strings.TrimPrefix(fmt.Sprint(v), "+")))
		}
		return fmt.Sprintf("'%v'::DOUBLE", v)
	case int64:
		if c != nil && c.Type == policy.Date {
			return "DATE '" + policy.FormatDate(v) + "'"
		}
		if c != nil && c.Type == policy.Timestamp {
			return fmt.Sprintf("make_timestamp(%d)", v)
		}
	}
	return fmt.Sprint(v)
}
