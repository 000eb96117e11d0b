package duckdb

import (
	"context"

	"github.com/discreet-dp/discreet/internal/bound"
	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Rows that come in the order of people are read once and need no partitions, and a question that
// tries the order where there is none reads them twice. Whoever asks can tell that by the clock,
// and choose rows that are in order but for those of one person. So which questions try it is known
// before: those about one table alone that was in order when the data was opened, but for a few
// people, who are known then, too. What they cost follows from how many they are.

// ordered returns the table whose order a question tries, or nil.
func (s *snapshot) ordered(q *tree.Query, from tree.Relation) *table {
	scan, ok := from.(*tree.Scan)
	if !ok || q.Asks() {
		return nil
	}
	if t := s.tables[scan.Table.Name]; t != nil && t.order != nil {
		return t
	}
	return nil
}

// findOrder finds out how tables are stored by person. Those that are not show it in their first
// rows.
func (s *snapshot) findOrder(ctx context.Context, ds *policy.Dataset) error {
	identity := tree.IdentityName(ds.Unit.Table, ds.Unit.Column)
	kind := s.Kinds[identity]
	for _, t := range s.tables {
		if !t.Preparable() || s.ByRow {
			continue
		}
		who, ok := bulkUnit(s.Identity(&t.Table, t.UnitColumn, identity), kind)
		if isNamed(kind) && t.Number != "" {
			who, ok = dialect.QuoteName(t.Number), true
		}
		if !ok {
			continue
		}
		b := &bounded{people: true, query: chunks.Query{Columns: []string{who}, From: t.From}, values: []int{-1}, present: []bool{true}}
		b.spec = bound.Spec{Groups: 1, MaxGroups: 1, Measures: []bound.Measure{{Kind: bound.People}}, Memory: s.memory}
		t.order, _ = bound.FindOrder(ctx, b.spec, b.rows(ctx, s.source, func() {})) // what cannot be read is told elsewhere
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// rowsOf is about how many rows a relation has: those of its table, or of the largest one, where it
// is more than that.
func (s *snapshot) rowsOf(from tree.Relation) int64 {
	if scan, ok := from.(*tree.Scan); ok && s.tables[scan.Table.Name] != nil {
		return s.tables[scan.Table.Name].Rows
	}
	rows := int64(0)
	for _, t := range s.tables {
		rows = max(rows, t.Rows)
	}
	return rows
}
