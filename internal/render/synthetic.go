package render

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/api"
)

// CountColumn is what the column of counts of a synthetic table is called: count, unless the table
// has a column of that name.
func CountColumn(t *api.SyntheticTable) string {
	name := "count"
	for slices.Contains(t.Columns, name) {
		name = "synthetic_" + name
	}
	return name
}

// SyntheticCSV writes a synthetic table. Spell is how texts are written.
func SyntheticCSV(w io.Writer, t *api.SyntheticTable, crlf bool, spell func(string) string) error {
	out := csv.NewWriter(w)
	out.UseCRLF = crlf
	if err := out.Write(append(slices.Clone(t.Columns), CountColumn(t))); err != nil {
		return err
	}
	cells := make([]string, len(t.Columns)+1)
	for _, r := range t.Rows {
		for i, v := range r.Values {
			cells[i] = spell(v)
		}
		cells[len(t.Columns)] = strconv.FormatInt(r.Count, 10)
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
