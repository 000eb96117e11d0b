package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/discreet-dp/discreet/internal/spelling"
)

// CSVFile is how the values of a table's CSV file are spelt.
type CSVFile struct {
	// Unquoted says that quotes are signs like others, and every line is a row.
	Unquoted bool
	// RefuseBadLines says that a file with a line that is no row is not opened; otherwise such
	// lines are left out, each by itself.
	RefuseBadLines bool
	// Nulls are the texts that stand for NULL in columns that say nothing of their own, and in
	// those that paths use. The empty text always does.
	Nulls []string
	// Columns are those for which the policy says something, by name.
	Columns map[string]Spelt
}

// Spelt is how the values of one column are spelt.
type Spelt struct {
	// Format is a template of dates or times, an example of numbers, or the two words of a boolean;
	// see CheckFormat. Where it is empty values are spelt as SQL does.
	Format string
	// Nulls are the texts that stand for NULL, besides the empty one.
	Nulls []string
}

// Column returns how a column is spelt.
func (c CSVFile) Column(name string) Spelt {
	if s, ok := c.Columns[name]; ok {
		return s
	}
	return Spelt{Nulls: c.Nulls}
}

// Key names how the values are read, so that the same bytes that are read in another way are other
// data; empty where nothing is said about it.
func (c CSVFile) Key() string {
	if !c.Unquoted && len(c.Nulls) == 0 && len(c.Columns) == 0 {
		return ""
	}
	out := fmt.Sprintf("unquoted %v nulls %q", c.Unquoted, c.Nulls)
	for _, name := range slices.Sorted(maps.Keys(c.Columns)) {
		out += fmt.Sprintf(" %q %q %q", name, c.Columns[name].Format, c.Columns[name].Nulls)
	}
	return out
}

// The most markers of NULL that a column has, and the longest.
const maxNulls, maxNullSize = 100, 200

// readCSV reads what is said about the spelling of all columns, and returns the formats by type.
// The columns are read after it.
func (t *Table) readCSV(r *reader, f fields, csv bool) map[Type]string {
	formats := map[Type]string{}
	if !csv {
		for _, key := range []string{"quotes", "bad_lines", "nulls", "formats"} {
			if v, ok := f.get(key); ok {
				r.at(v, "'%s' is about how a CSV file is written, and this table is not one; remove it", key)
			}
		}
		return formats
	}
	if v, ok := f.get("quotes"); ok {
		t.CSV.Unquoted = r.choice(v, "quotes", "none", "double")
	}
	if v, ok := f.get("bad_lines"); ok {
		t.CSV.RefuseBadLines = r.choice(v, "bad_lines", "refuse", "skip")
	}
	if v, ok := f.get("nulls"); ok {
		t.CSV.Nulls = r.nulls(v)
	}
	v, ok := f.get("formats")
	if !ok {
		return formats
	}
	byType, _ := r.fields(v, v.node, "formats", formatKeys)
	for _, typ := range Types() {
		if at, ok := byType.get(typ.String()); ok {
			formats[typ] = r.format(at, typ.String(), typ)
		}
	}
	return formats
}

// choice reads one of two words, and reports whether it is the first.
func (r *reader) choice(v place, key, first, second string) bool {
	text, ok := r.text(v, key, first+" or "+second)
	if ok && text != first && text != second {
		r.at(v, "'%s' is %s; write %s or %s", key, quote(text), first, second)
	}
	return ok && text == first
}

// nulls reads a list of texts that stand for NULL, each by its spelling in the file.
func (r *reader) nulls(v place) []string {
	if v.node.Kind == yaml.AliasNode {
		return nil
	}
	if v.node.Kind != yaml.SequenceNode || len(v.node.Content) > maxNulls {
		r.at(v, "'nulls' must be a list of at most %d texts that stand for a missing value, such as [NA, \"-\", 9999]", maxNulls)
		return nil
	}
	var out []string
	for _, n := range v.node.Content {
		switch at := (place{node: n, key: v.key, where: v.where}); {
		case n.Kind == yaml.AliasNode:
		case n.Kind != yaml.ScalarNode || len(n.Value) > maxNullSize || strings.ContainsRune(n.Value, 0):
			r.at(at, "a text that stands for a missing value is a single one of at most %d bytes", maxNullSize)
		case n.Value != "" && !slices.Contains(out, n.Value):
			out = append(out, n.Value)
		}
	}
	return out
}

// format reads how values of a type are spelt. What is not valid is a problem, and no format.
func (r *reader) format(v place, key string, typ Type) string {
	text, ok := r.text(v, key, "how a value is spelt in the file, such as DD.MM.YYYY")
	if !ok {
		return ""
	}
	if err := CheckFormat(typ, text); err != nil {
		r.at(v, "the format %s %v", quote(text), err)
		return ""
	}
	return text
}

// CheckFormat says what is wrong with a format of a type, as the end of a sentence.
func CheckFormat(typ Type, text string) error {
	var err error
	switch typ {
	case Date, Timestamp:
		_, err = spelling.ParseMoment(text)
	case Integer, Decimal:
		_, err = spelling.ParseNumber(text, typ == Integer)
	case Boolean:
		_, err = spelling.ParseTruth(text)
	default:
		err = fmt.Errorf("is of no use: a text is what it is; remove it, or write 'nulls' for texts that stand for a missing value")
	}
	return err
}

// readSpelling reads how a column is spelt, where it says so itself. Formats are the table's.
func (t *Table) readSpelling(r *reader, f fields, c *Column, formats map[Type]string, csv bool) {
	s := Spelt{Format: formats[c.Type], Nulls: t.CSV.Nulls}
	for _, key := range []string{"format", "nulls"} {
		v, ok := f.get(key)
		switch {
		case !ok:
		case !csv:
			r.at(v, "'%s' is about how a CSV file is written, and this table is not one; remove it, or spell the values "+
				"otherwise in a view "+
				"of the database", key)
		case key == "nulls":
			s.Nulls = r.nulls(v)
		default:
			s.Format = r.format(v, key, c.Type)
		}
	}
	if _, own := f.get("nulls"); own || s.Format != "" {
		if t.CSV.Columns == nil {
			t.CSV.Columns = map[string]Spelt{}
		}
		t.CSV.Columns[c.Name] = s
	}
}
