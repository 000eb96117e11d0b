package duckdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/policy"
)

// Public keys are tables of their own, made when the data is opened: a hundred
// keys as parameters of every question take longer to plan than a million rows to count.

// keysOf names the table of a column's public keys. No name of a policy has a
// quotation mark in it, so it keeps table and column apart.
func (t *table) keysOf(c *policy.Column) string { return quoteName("keys " + t.Name + `"` + c.Name) }

// loadKeys makes the tables of public keys. NULL is not in them: SQL's IN would not find it.
func (s *snapshot) loadKeys(ctx context.Context, t *table) error {
	for _, name := range t.ColumnNames() {
		c := t.Columns[name]
		if c.Keys != policy.PublicKeys {
			continue
		}
		var values []string
		for _, v := range c.KeyValues {
			switch {
			case v.Null:
			case v.Type == policy.Text:
				values = append(values, quoteText(v.Text))
			case v.Type == policy.Boolean:
				values = append(values, fmt.Sprint(v.Bool()))
			default:
				values = append(values, fmt.Sprint(v.Int))
			}
		}
		typ := map[policy.Type]string{policy.Text: "VARCHAR", policy.Boolean: "BOOLEAN"}[c.Type]
		if typ == "" {
			typ = "BIGINT"
		}
		text := "CREATE TABLE " + t.keysOf(c) + " AS SELECT unnest(CAST([" + strings.Join(values, ", ") + "] AS " + typ + "[])) AS k"
		if _, err := s.db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("table %s: the keys of column %s cannot be loaded", t.Name, name)
		}
		s.keys[c] = t.keysOf(c)
		if c.Type == policy.Text {
			s.listed[c] = chunks.NewKeys(textPlaces(c.KeyValues), -1)
		}
	}
	return nil
}

// textPlaces says where each text is in a list; NULL is not in it.
func textPlaces(values []policy.Value) map[string]int32 {
	places := map[string]int32{}
	for i, v := range values {
		if !v.Null {
			places[v.Text] = int32(i)
		}
	}
	return places
}
