package storekinds

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/testtrino"
	"github.com/discreet-dp/discreet/policy"
)

// trinoTypes are those in which Trino has what a column has.
var trinoTypes = map[policy.Type][]string{policy.Text: {"varchar", "varchar(2000)"}, policy.Boolean: {"boolean"}, policy.Date: {"date"},
	policy.Decimal: {"double"}, policy.Integer: {"bigint", "decimal(38,0)"},
	policy.Timestamp: {"timestamp(6)", "timestamp(6) with time zone", "timestamp(9)"}}

// Trino keeps data in the memory of a cluster, each in a schema of its own, which one user may read
// who may read nothing else.
func Trino(cluster func(testing.TB) *testtrino.Cluster) Store {
	return Store{Name: "trino", Computes: true, Keep: func(t testing.TB, db *generate.Database) string {
		t.Helper()
		c := cluster(t)
		schema := c.Alone(t, "memory")
		for _, name := range db.Dataset.TableNames() {
			c.Run(t, trinoTable(db, db.Dataset.Tables[name], schema)...)
		}
		return c.Address(schema, "memory", schema)
	}}
}

func trinoTable(db *generate.Database, t *policy.Table, schema string) []string {
	all := db.Tables[t.Name]
	list := make([]string, len(all.Columns))
	for i, column := range all.Columns {
		typ := "bigint"
		if c := t.Columns[column]; c != nil {
			some := trinoTypes[c.Type]
			h := fnv.New32a()
			h.Write([]byte(column))
			typ = some[int(h.Sum32())%len(some)]
		}
		list[i] = fmt.Sprintf("%q %s", column, typ)
	}
	table := trinoName("memory." + schema + "." + t.Name)
	out := []string{fmt.Sprintf("CREATE TABLE %s (%s)", table, strings.Join(list, ", "))}
	rows := make([]string, len(all.Rows))
	for k, row := range all.Rows {
		values := make([]string, len(row))
		for i, v := range row {
			values[i] = trinoValue(v, t.Columns[all.Columns[i]])
		}
		rows[k] = "(" + strings.Join(values, ", ") + ")"
	}
	if len(rows) > 0 {
		out = append(out, "INSERT INTO "+table+" VALUES "+strings.Join(rows, ", "))
	}
	return out
}

func trinoName(relation string) string {
	return `"` + strings.Join(strings.Split(relation, "."), `"."`) + `"`
}

func trinoValue(v any, c *policy.Column) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return "from_utf8(X'" + hex.EncodeToString([]byte(v)) + "')"
	case float64:
		switch {
		case c != nil && c.Type == policy.Timestamp: // it has no infinite time, and none is read as one
			return "NULL"
		case math.IsNaN(v):
			return "nan()"
		case math.IsInf(v, 0):
			return map[bool]string{true: "infinity()", false: "-infinity()"}[v > 0]
		}
		return "DOUBLE '" + strconv.FormatFloat(v, 'g', -1, 64) + "'"
	case int64:
		switch {
		case c != nil && c.Type == policy.Date:
			return fmt.Sprintf("date_add('day', %d, DATE '1970-01-01')", v)
		case c != nil && c.Type == policy.Timestamp:
			return fmt.Sprintf("CAST(from_unixtime_nanos(DECIMAL '%d' * 1000) AT TIME ZONE 'UTC' AS timestamp(6))", v)
		case c != nil && c.Type == policy.Decimal:
			return fmt.Sprintf("DOUBLE '%d'", v)
		}
		return "BIGINT '" + strconv.FormatInt(v, 10) + "'"
	}
	return fmt.Sprint(v)
}
