package duckdb

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestRowsFanOut: where every row is a person a join with a public table can make several rows of
// one, which are cut like anybody's.
func TestRowsFanOut(t *testing.T) {
	const visits = "SELECT * FROM (VALUES (1, 5), (1, 6), (2, 7), (2, 7), (9, 1)) AS v(code, cost)"
	const tables = `
unit: row
tables:
  visits: {%s columns: {code: {type: integer, bounds: [0, 9]}, cost: {type: integer, bounds: [0, 10]}}}
  tags: {source: tags.csv, public: true, max_rows: 2, columns: {code: {type: integer}, tag: {type: text, nullable: false}}}
`
	for name, c := range map[string]struct{ source, statement string }{
		"csv":            {"source: visits.csv,", "COPY (" + visits + ") TO '%s/visits.csv' (HEADER)"},
		"csv with rowid": {"source: visits.csv,", "COPY (SELECT 1 AS rowid, * FROM (" + visits + ")) TO '%s/visits.csv' (HEADER)"},
		"parquet":        {"source: visits.parquet,", "COPY (" + visits + ") TO '%s/visits.parquet'"},
		"parquet, shadowed": {"source: visits.parquet,", "COPY (SELECT 1 AS file_row_number, 1 AS rowid, * FROM (" + visits +
			")) TO '%s/visits.parquet'"},
		"database":           {"", "CREATE TABLE visits AS " + visits},
		"database, shadowed": {"", "CREATE TABLE visits AS SELECT 1 AS rowid, * FROM (" + visits + ")"},
		"view":               {"", "CREATE VIEW visits AS " + visits},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write(t, folder, "tags.csv", "code,tag\n1,a\n1,b\n1,c\n1,a\n2,a\n2,b\n3,c\n")
			keys, path := fmt.Sprintf(tables, c.source), ""
			if c.source == "" {
				keys, path = "source: d.duckdb"+keys, filepath.Join(folder, "d.duckdb")
			}
			owner(t, path, strings.ReplaceAll(c.statement, "%s", folder))
			e := open(t, dataset(t, folder, keys))
			for _, q := range []struct{ text, want string }{
				{"SELECT COUNT(*), SUM(cost) FROM visits", "[5] [26]"},
				// The first two visits have four tags, and count as two rows at most: with 2 * 10
				// in a sum.
				{"SELECT COUNT(*), SUM(cost) FROM visits v JOIN tags t ON v.code = t.code", "[8] [68]"},
				{"SELECT COUNT(*) FROM visits v JOIN tags t ON v.code = t.code WHERE v.code = 2", "[4]"},
				{"SELECT tag, COUNT(*) FROM visits v JOIN tags t ON v.code = t.code WHERE v.code = 2 GROUP BY tag", "[2 2 0]"},
			} {
				if got := answer(t, e, q.text); got != q.want {
					t.Errorf("%s: %s, want %s", q.text, got, q.want)
				}
			}
			q := question(t, e, "SELECT tag, COUNT(DISTINCT cost), COUNT(*) FROM visits v JOIN tags t ON v.code = t.code WHERE v.code = "+
				"1 GROUP BY tag")
			r, err := e.Run(t.Context(), q)
			if err != nil {
				t.Fatal(why(t, e, q))
			}
			total := int64(0)
			for _, n := range r.Measures[0].Open() {
				total += n
			}
			if q.MaxGroups() != 2 || total < 4 || total > 6 {
				t.Errorf("%d rows of two people in two groups each: %s", total, shown(q, r))
			}
		})
	}
}

// TestRowsKeepTheirGroups: which groups of a row are kept does not depend on how many rows come
// before it.
func TestRowsKeepTheirGroups(t *testing.T) {
	const keys = `
source: .
unit: row
tables:
  visits: {columns: {code: {type: integer, bounds: [0, 9]}}}
  tags: {public: true, max_rows: 2, columns: {code: {type: integer}, tag: {type: text, nullable: false}}}
`
	results, planted := map[string]bool{}, map[string]bool{}
	for before := range 6 {
		folder := t.TempDir()
		write(t, folder, "visits.csv", "code\n"+strings.Repeat("9\n", before)+"1\n")
		write(t, folder, "tags.csv", "code,tag\n1,a\n1,b\n1,c\n1,d\n1,e\n1,f\n")
		e := open(t, dataset(t, folder, keys))
		const text = "SELECT tag, COUNT(*) FROM visits v JOIN tags t ON v.code = t.code GROUP BY tag"
		results[answer(t, e, text)] = true
		q := question(t, e, text)
		changed, _ := mutant(e.now.Statements(q), func(text string) string { return strings.ReplaceAll(text, "u.h", "u.r") })
		r, err := e.now.Run(t.Context(), q, changed)
		if err != nil {
			t.Fatal(err)
		}
		planted[shown(q, r)] = true
	}
	if len(results) != 1 {
		t.Errorf("%v", results)
	}
	if len(planted) < 2 {
		t.Error("a choice by the row's number is not found")
	}
}
