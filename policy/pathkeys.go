package policy

import "slices"

// PathKeys are the columns of a table by which longer paths of other tables come in, and that must
// therefore be different in every row; but for what the table's own 'unique' is about.
func (d *Dataset) PathKeys(t *Table) []string {
	var out []string
	for _, name := range d.TableNames() {
		p := d.Tables[name].Path
		if len(p) < 2 || p[0].Table != t.Name || slices.Contains(out, p[0].Key) || t.UnitKind == Unique && p[0].Key == t.UnitColumn {
			continue
		}
		out = append(out, p[0].Key)
	}
	return out
}
