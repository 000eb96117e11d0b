package pgtables

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/policy"
)

// Doubt is what the catalogue does not say of a table, so that its rows have to tell.
type Doubt struct {
	// Paths says that keys may repeat, or that rows may lead nowhere.
	Paths bool
	// Unit says that somebody may have several rows, or a row nobody.
	Unit bool
	// Columns are those whose values may not be what the policy says.
	Columns []string
}

// Doubts are those of a dataset, by tables. Tables without doubts are not listed.
type Doubts map[string]*Doubt

// Everything is what there can be in doubt about a table.
func Everything(t *policy.Table) *Doubt {
	return &Doubt{Paths: true, Unit: t.UnitColumn != "", Columns: t.ColumnNames()}
}

// Read says which columns of which tables have to be read. A path is about the column that it leads
// to as well.
func (d Doubts) Read(ds *policy.Dataset) map[string][]string {
	out := map[string][]string{}
	add := func(table string, columns ...string) {
		for _, c := range columns {
			if c != "" && !slices.Contains(out[table], c) {
				out[table] = append(out[table], c)
			}
		}
	}
	for _, name := range ds.TableNames() {
		doubt, t := d[name], ds.Tables[name]
		if doubt == nil {
			continue
		}
		add(name, doubt.Columns...)
		if doubt.Unit {
			add(name, t.UnitColumn)
		}
		if !doubt.Paths {
			continue
		}
		add(name, t.UniqueColumn)
		add(name, ds.PathKeys(t)...)
		if len(t.Path) > 0 {
			add(name, t.Path[0].Column)
			add(t.Path[0].Table, t.Path[0].Key)
		}
	}
	return out
}

// Only is the relation with some of its columns.
func (r *Relation) Only(columns []string) *Relation {
	out := *r
	out.Columns = nil
	for _, c := range r.Columns {
		if slices.ContainsFunc(columns, func(name string) bool { return strings.EqualFold(name, c.Name) }) {
			out.Columns = append(out.Columns, c)
		}
	}
	return &out
}

// What was counted last of a table and its parts, and whether that was done of all that have rows.
const countedRows = parts + `SELECT coalesce(sum(c.reltuples), 0)::bigint, coalesce(bool_and(c.relpages > 0 AND c.reltuples >= 0), true)
FROM pg_class c JOIN part p ON p.oid = c.oid WHERE c.relkind = 'r' AND pg_relation_size(c.oid) > 0`

// Rows is about how many rows a table has: what was counted last, or what PostgreSQL plans with. It
// reads none.
func (s *Snapshot) Rows(ctx context.Context, r *Relation) (int64, error) {
	var n int64
	var known bool
	if err := s.tx.QueryRow(ctx, countedRows, []int64{int64(r.oid)}).Scan(&n, &known); err != nil {
		return 0, s.database.unread(ctx, r.Table, err)
	}
	if known && r.marked { // a plain table
		return n, nil
	}
	return s.planned(ctx, r, "SELECT FROM ")
}

// Different is about how many different values a column has. It reads none.
func (s *Snapshot) Different(ctx context.Context, r *Relation, column string) (int64, error) {
	return s.planned(ctx, r, "SELECT DISTINCT "+pgx.Identifier{column}.Sanitize()+" FROM ")
}

// planned is how many rows PostgreSQL expects of a query.
func (s *Snapshot) planned(ctx context.Context, r *Relation, what string) (int64, error) {
	var text string
	if err := s.tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+what+name(r.Relation)).Scan(&text); err != nil {
		return 0, s.database.unread(ctx, r.Table, err)
	}
	var plans []struct {
		Plan struct {
			Rows float64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal([]byte(text), &plans); err != nil || len(plans) != 1 {
		return 0, s.database.unread(ctx, r.Table, errRow)
	}
	return int64(plans[0].Plan.Rows), nil
}
