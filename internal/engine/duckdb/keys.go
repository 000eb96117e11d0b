package duckdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
	"github.com/discreet-dp/discreet/policy"
)

// Public keys are tables of their own, made when the data is opened: a hundred
// keys as parameters of every question take longer to plan than a million rows to count.

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
				values = append(values, dialect.QuoteText(v.Text))
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
		// No name of a policy has a quotation mark in it, so it keeps table and column apart.
		table := dialect.QuoteName("keys " + t.Name + `"` + c.Name)
		text := "CREATE TABLE " + table + " AS SELECT unnest(CAST([" + strings.Join(values, ", ") + "] AS " + typ + "[])) AS k"
		if _, err := s.DB.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("table %s: the keys of column %s cannot be loaded", t.Name, name)
		}
		s.Keys[c] = "(FROM " + table + ")"
		if c.Type == policy.Text {
			keys := chunks.NewKeys(textPlaces(c.KeyValues), -1)
			s.listed = append(s.listed, keys)
			s.Listed[c] = place(keys, "%s") + " >= 0"
		}
	}
	return nil
}

// place prints where a text is among keys.
func place(keys *chunks.Keys, text string) string {
	return fmt.Sprintf("discreet_key(%d::BIGINT, %s)", keys.ID, text)
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
