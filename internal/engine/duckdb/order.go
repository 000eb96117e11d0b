package duckdb

import (
	"context"
	"errors"

	"github.com/discreet-dp/discreet/internal/bound"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// Rows that come in the order of people are read once and need no partitions, and a question that
// tries the order where there is none reads them twice. Whoever asks can tell that by the clock,
// and choose rows that are in order but for those of one person. So which questions try it is known
// before: those about one table alone that was in order as a whole when the data was opened.

// comesInOrder reports whether a question tries the order.
func (s *snapshot) comesInOrder(q *tree.Query, from tree.Relation) bool {
	scan, ok := from.(*tree.Scan)
	if !ok || q.Asks() {
		return false
	}
	t := s.tables[scan.Table.Name]
	return t != nil && t.inOrder
}

var errOrder = errors.New("duckdb: a table that is not stored by person")

// findOrder finds out which tables are stored by person. Those that are not show it in their first
// rows.
func (s *snapshot) findOrder(ctx context.Context, ds *policy.Dataset) error {
	identity := tree.IdentityName(ds.Unit.Table, ds.Unit.Column)
	for _, t := range s.tables {
		if t.inOrder || !t.Preparable() || s.ByRow {
			continue
		}
		who, ok := bulkUnit(s.Identity(&t.Table, t.UnitColumn, identity), s.Kinds[identity])
		if !ok {
			continue
		}
		b := &bounded{people: true, query: chunks.Query{Columns: []string{who}, From: t.From}, values: []int{-1}, present: []bool{true}}
		b.spec = bound.Spec{Groups: 1, MaxGroups: 1, Measures: []bound.Measure{{Kind: bound.People}}, Memory: s.memory}
		read := b.rows(ctx, s.source, func() {})
		again := false
		_, err := bound.Run(ctx, b.spec, func(take func(*bound.Batch) error) error {
			if again {
				return errOrder
			}
			again = true
			return read(take)
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		t.inOrder = err == nil // what cannot be read is told elsewhere
	}
	return nil
}
