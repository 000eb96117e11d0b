package policy

import (
	"slices"
	"strings"
)

// maxView is the longest text of a view, in bytes.
const maxView = 64 << 10

// ViewNames returns the names of the views in the order of the file; sorted, where
// the dataset does not come from a file.
func (d *Dataset) ViewNames() []string { return inOrder(d.viewOrder, d.Views) }

// readViews reads names and texts. What a text means is not for this package to
// say, which knows no SQL.
func (d *Dataset) readViews(r *reader, f fields) {
	v, ok := f.get("views")
	if !ok {
		return
	}
	entries, ok := r.entries(v, "views", "view", checkName)
	if !ok {
		return
	}
	tables := map[string]string{}
	for _, name := range d.order {
		tables[fold(name)] = name
	}
	d.Views = map[string]string{}
	for _, e := range entries {
		if table, ok := tables[fold(e.name)]; ok {
			r.at(place{node: e.key, where: v.where}, "the view %s has the name of the table %s; rename the view",
				quote(e.name), quote(table))
		}
		text, ok := r.text(e.place, "view", "the SQL of the view, such as \"SELECT age FROM patients WHERE age >= 65\"")
		switch {
		case !ok:
			continue
		case strings.TrimSpace(text) == "":
			r.at(e.place, "the view has no text; write its SQL, such as \"SELECT age FROM patients WHERE age >= 65\"")
			continue
		case len(text) > maxView || strings.ContainsRune(text, 0):
			r.at(e.place, "the SQL of a view is at most 64 KiB long and has no zero byte; split it into views that build on each other")
			continue
		}
		d.Views[e.name] = text
		d.viewOrder = append(d.viewOrder, e.name)
	}
	d.viewOrder = slices.Clip(d.viewOrder)
}
