package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Sizes are how large the private tables are at most, as the owner tells everybody. When answers
// leave follows from them, and not from the data, in which one person can move a number.
type Sizes struct {
	// People is how many there are of the unit; where every row is a person, all rows together.
	People int64 `json:"people,omitempty"`
	// Tables has every private table, by name, and no other.
	Tables map[string]TableSizes `json:"tables"`
}

// TableSizes are how large one table is at most.
type TableSizes struct {
	Rows int64 `json:"rows"`
	// Lengths are how many bytes the texts of a column have in the mean. All listed text columns
	// are there, and columns that paths use may be.
	Lengths map[string]int64 `json:"lengths,omitempty"`
	// Values are how many different values a column has. All with private keys are there.
	Values map[string]int64 `json:"values,omitempty"`
}

// The most that can be declared, of lengths and of all else. Sums and products of them stay far
// below what times are computed in.
const (
	MostDeclared       = 1_000_000_000_000
	MostDeclaredLength = 1_000_000
)

const (
	rowsMeans    = "how many rows the table has at most, for everybody to know"
	peopleMeans  = "how many people there are at most, for everybody to know"
	lengthsMeans = "how many bytes the texts of the column have on average"
	valuesMeans  = "how many different values the column has"
	// howToCount is for whoever does not know what to declare.
	howToCount = "if 'sizes' is left out, 'discreet check --sizes' counts everything and prints a block to paste"
)

// readSizes reads what is declared. It comes after the tables, which have to be right.
func (in datasetReader) readSizes(f fields) {
	v, ok := f.get("sizes")
	if !ok {
		return
	}
	v.where = v.in("sizes")
	f, ok = in.r.fields(v, v.node, "sizes", sizesKeys)
	if !ok {
		return
	}
	out := &Sizes{Tables: map[string]TableSizes{}}
	in.d.Sizes = out
	people, given := f.get("people")
	switch {
	case in.d.Unit.Row() && given:
		in.r.at(people, "the unit is row, so there are as many people as rows; remove 'people'")
	case !in.d.Unit.Row():
		if people, ok := f.need(in.r, "people", "write "+peopleMeans+"; "+howToCount); ok {
			out.People, _ = in.r.whole(people, "people", MostDeclared, peopleMeans)
		}
	}
	at, ok := f.need(in.r, "tables", "write how large each of the private tables is; "+howToCount)
	if !ok {
		return
	}
	entries, ok := in.r.entries(at, "tables", "table", checkName)
	if !ok {
		return
	}
	for _, e := range entries {
		switch t := in.d.Tables[e.name]; {
		case t == nil:
			in.r.at(e.element,
				"there is no table %s in this dataset; remove it%s", quote(e.name), didYouMean(e.name, in.d.privateTables()...))
		case t.Public:
			in.r.at(e.element, "the table %s is public, so its rows are counted; remove it", quote(e.name))
		default:
			out.Tables[e.name] = in.readTableSizes(e.element, t)
		}
	}
	for _, name := range in.d.privateTables() {
		if _, ok := out.Tables[name]; !ok {
			in.r.at(at, "the table %s is missing: write how large it is, because a size that is not declared is not counted instead; %s",
				quote(name), howToCount)
		}
	}
	if in.d.Unit.Row() {
		for _, t := range out.Tables {
			out.People += t.Rows
		}
	}
}

func (in datasetReader) readTableSizes(at element, t *Table) (out TableSizes) {
	f, ok := in.r.fields(at, at.node, "the size of a table", tableSizesKeys)
	if !ok {
		return out
	}
	if v, ok := f.need(in.r, "rows", "write "+rowsMeans); ok {
		out.Rows, _ = in.r.whole(v, "rows", MostDeclared, rowsMeans)
	}
	texts, keys := []string{}, []string{}
	for _, name := range t.ColumnNames() {
		if t.Columns[name].Type == Text {
			texts = append(texts, name)
		}
		if t.Columns[name].Keys == PrivateKeys {
			keys = append(keys, name)
		}
	}
	out.Lengths = in.r.columnSizes(f, "lengths", append(t.ColumnNames(), in.d.PathColumns(t)...), texts, MostDeclaredLength, lengthsMeans)
	out.Values = in.r.columnSizes(f, "values", t.ColumnNames(), keys, MostDeclared, valuesMeans)
	return out
}

// columnSizes reads a number for each of some columns. Those that are needed must be there.
func (r *reader) columnSizes(f fields, key string, columns, needed []string, most int64, means string) map[string]int64 {
	out := map[string]int64{}
	at, given := f.get(key)
	if given {
		entries, ok := r.entries(at, key, "column", checkName)
		if !ok {
			return nil
		}
		for _, e := range entries {
			if !slices.Contains(columns, e.name) {
				r.at(e.element, "the table has no column %s; remove it%s", quote(e.name), didYouMean(e.name, columns...))
				continue
			}
			out[e.name], _ = r.whole(e.element, key, most, means)
		}
	} else {
		at = f.at
	}
	for _, name := range needed {
		if _, ok := out[name]; !ok && !f.meant[key] {
			r.at(at, "the column %s is missing: write %s: {%s: NUMBER}, %s; %s", quote(name), key, showName(name), means, howToCount)
		}
	}
	return out
}

func (d *Dataset) privateTables() (out []string) {
	for _, name := range d.TableNames() {
		if !d.Tables[name].Public {
			out = append(out, name)
		}
	}
	return out
}

// Text is a block that declares the sizes, to be pasted into a dataset.
func (s *Sizes) Text(d *Dataset) string {
	var b strings.Builder
	b.WriteString("    sizes:\n")
	if !d.Unit.Row() {
		fmt.Fprintf(&b, "      people: %d\n", s.People)
	}
	b.WriteString("      tables:\n")
	for _, name := range d.privateTables() {
		t := s.Tables[name]
		fmt.Fprintf(&b, "        %s:\n          rows: %d\n", scalar(name), t.Rows)
		writeColumnSizes(&b, "lengths", t.Lengths)
		writeColumnSizes(&b, "values", t.Values)
	}
	return b.String()
}

func writeColumnSizes(b *strings.Builder, key string, numbers map[string]int64) {
	if len(numbers) == 0 {
		return
	}
	line := "          " + key + ": {"
	for i, column := range slices.Sorted(maps.Keys(numbers)) {
		item := fmt.Sprintf("%s: %d", scalar(column), numbers[column])
		if i > 0 && len(line)+len(item) > 100 {
			b.WriteString(line + ",\n")
			line = "            "
		} else if i > 0 {
			line += ", "
		}
		line += item
	}
	b.WriteString(line + "}\n")
}
