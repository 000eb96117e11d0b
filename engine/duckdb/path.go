package duckdb

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-dp/discreet/policy"
)

// checkSteps refuses paths whose two ends could not be compared for every stored
// value. DuckDB compares a text with a number by reading the text as a number, and
// a text that is none is an error that depends on the data. A step to the unit's
// own table needs no comparison: what it starts from names the person already.
func (s *snapshot) checkSteps(ds *policy.Dataset) error {
	for _, name := range ds.TableNames() {
		t := s.tables[name]
		if len(t.Path) < 2 {
			continue
		}
		step := t.Path[0]
		near, far := t.stored[step.Column].typ, s.tables[step.Table].stored[step.Key].typ
		if !sameKind(near, far) {
			return fmt.Errorf("table %s: the path leads from column %s, which is %s, to column %s of table %s, which is %s; store both as the same type",
				name, step.Column, near, step.Key, step.Table, far)
		}
	}
	return nil
}

// sameKind reports whether all values of two stored types can be compared exactly.
func sameKind(a, b string) bool {
	whole := []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
	return a == b || slices.Contains(whole, a) && slices.Contains(whole, b)
}

// checkPaths looks at what paths and joins rely on: that a row leads to somebody, and
// that a key has one row.
func (s *snapshot) checkPaths(ctx context.Context, ds *policy.Dataset, t *table) ([]Finding, error) {
	var out []Finding
	if t.UniqueColumn != "" {
		again, err := s.repeats(ctx, t, t.declaredValue(t.UniqueColumn))
		if err != nil {
			return nil, err
		}
		if again {
			out = append(out, Finding{t.Name, t.UniqueColumn, true, "the policy says that it is unique, but some values are in several rows, which a join multiplies: THE GUARANTEE DOES NOT HOLD. Remove 'unique' and say max_rows, or remove the rows that are too many"})
		}
	}
	for _, key := range t.keys(ds) {
		again, err := s.repeats(ctx, t, t.raw(key))
		if err != nil {
			return nil, err
		}
		if again {
			out = append(out, Finding{t.Name, key, true, "a path leads to this column as to a key, but some values are in several rows, so one row leads to several people: THE GUARANTEE DOES NOT HOLD. Lead the path to a column that is different in every row, or remove the rows that are too many"})
		}
	}
	if len(t.Path) < 2 {
		return out, nil
	}
	step := t.Path[0]
	to := s.tables[step.Table]
	var rows, lost int64
	err := s.db.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE r IS NULL) FROM (SELECT "+t.raw(step.Column)+" AS l FROM "+t.from+
		") LEFT JOIN (SELECT DISTINCT "+to.raw(step.Key)+" AS r FROM "+to.from+") ON l = r").Scan(&rows, &lost)
	if err != nil {
		return nil, err
	}
	if lost > 0 {
		out = append(out, Finding{t.Name, step.Column, false, fmt.Sprintf("%s of the rows lead to no row of %s, so they are about nobody; they are left out of every answer", share(lost, rows), step.Table)})
	}
	return out, nil
}

// keys returns the columns by which the paths of other tables come in, and that must
// therefore be different in every row. The unit is none of them: a person may have
// many rows in the unit's own table. Nor is what the table's own 'unique' is
// about, which is looked at anyway.
func (t *table) keys(ds *policy.Dataset) []string {
	var out []string
	for _, name := range ds.TableNames() {
		p := ds.Tables[name].Path
		if len(p) < 2 || p[0].Table != t.Name || slices.Contains(out, p[0].Key) || t.UnitKind == policy.Unique && p[0].Key == t.UnitColumn {
			continue
		}
		out = append(out, p[0].Key)
	}
	return out
}

// declaredValue prints a column as questions see it, who join on what they see.
func (t *table) declaredValue(name string) string {
	if b := t.Columns[name].Bounds; b != nil {
		return clamp(t.cast(name), big.NewInt(b.LoSteps), big.NewInt(b.HiSteps))
	}
	return t.cast(name)
}

// repeats reports whether a value is in more than one row.
func (s *snapshot) repeats(ctx context.Context, t *table, value string) (again bool, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT count(v) > count(DISTINCT v) FROM (SELECT "+value+" AS v FROM "+t.from+")").Scan(&again)
	return again, err
}
