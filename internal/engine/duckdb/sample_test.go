package duckdb

import (
	"fmt"
	"math/big"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/internal/audit/sample"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// shape says who is a person in a random table.
type shape struct {
	kind               policy.UnitKind
	maxRows, maxGroups int
	neighbours         string
}

func drawShape(t *rapid.T) shape {
	return shape{
		rapid.SampledFrom([]policy.UnitKind{policy.Row, policy.Unique, policy.Many, policy.Many}).Draw(t, "unit"),
		rapid.IntRange(1, 3).Draw(t, "max_rows"), rapid.IntRange(1, 6).Draw(t, "max_groups"),
		rapid.SampledFrom([]string{"add-remove", "substitute"}).Draw(t, "neighbours"),
	}
}

// keys writes the dataset's part of the policy.
func (s shape) keys(source string) string {
	unit, bounded := "t.u", fmt.Sprintf("    max_rows: %d\n    max_groups: %d\n", s.maxRows, s.maxGroups)
	switch s.kind {
	case policy.Row:
		unit, bounded = "row", ""
	case policy.Unique:
		bounded = "    unique: u\n"
	}
	columns := ""
	for _, c := range sample.Columns {
		columns += "      " + c.Name + ": " + c.Policy + "\n"
	}
	return fmt.Sprintf("source: %s\nunit: %s\nneighbours: %s\ntables:\n  t:\n%s    columns:\n%s", filepath.Base(source), unit,
		s.neighbours, bounded, columns)
}

// storeRows writes the rows into a file of a kind and returns its path.
func storeRows(t testing.TB, folder, kind string, rows []row) string {
	t.Helper()
	path := filepath.Join(folder, "t."+kind)
	if kind == "csv" {
		return write(t, folder, "t.csv", csvText(rows))
	}
	columns, names := []string{"u BIGINT"}, []string{"u"}
	for _, c := range sample.Columns {
		columns, names = append(columns, c.Name+" "+c.Stored), append(names, c.Name)
	}
	statements := []string{"CREATE TABLE t (" + strings.Join(columns, ", ") + ")"}
	for start := 0; start < len(rows); start += 500 {
		var values []string
		for _, r := range rows[start:min(start+500, len(rows))] {
			cells := make([]string, len(names))
			for i, name := range names {
				cells[i] = sqlValue(r[name])
			}
			values = append(values, "("+strings.Join(cells, ", ")+")")
		}
		statements = append(statements, "INSERT INTO t VALUES "+strings.Join(values, ", "))
	}
	if kind == "duckdb" {
		owner(t, path, statements...)
	} else {
		owner(t, "", append(statements, "COPY t TO "+dialect.QuoteText(path)+" (FORMAT parquet)")...)
	}
	return path
}

func sqlValue(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case string:
		return strings.ReplaceAll(dialect.QuoteText(v), "\x00", "' || chr(0) || '")
	case float64:
		return dialect.QuoteText(strconv.FormatFloat(v, 'g', -1, 64)) + "::DOUBLE"
	case tree.Day:
		return fmt.Sprintf("(DATE '1970-01-01' + (%d)::INTEGER)", int64(v))
	case tree.Moment:
		return fmt.Sprintf("make_timestamp((%d)::BIGINT)", int64(v))
	case int64:
		return dialect.QuoteText(strconv.FormatInt(v, 10)) + "::BIGINT"
	}
	return fmt.Sprint(v)
}

// csvText writes rows as CSV. An empty text is NULL there, which the caller's rows must say too.
func csvText(rows []row) string {
	var b strings.Builder
	b.WriteString("u")
	for _, c := range sample.Columns {
		b.WriteString("," + c.Name)
	}
	b.WriteString("\n")
	for _, r := range rows {
		b.WriteString(csvValue(r["u"]))
		for _, c := range sample.Columns {
			b.WriteString("," + csvValue(r[c.Name]))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func csvValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		return `"` + v + `"`
	}
	return fmt.Sprint(v)
}

// row is a stored row by column.
type row = sample.Row

var one = big.NewRat(1, 1)
