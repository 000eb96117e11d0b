package pgdraft

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/policy"
)

// withTail adds, in comments, what is left to decide and what to run on the database.
func (d *Drafted) withTail(text string, from *Store) (string, error) {
	parsed, err := policy.Parse("draft", []byte(text))
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(text)
	// What a line holds may come from the database.
	line := func(format string, args ...any) {
		fmt.Fprintf(&out, "%s\n", strings.TrimRight("# "+strings.Map(func(c rune) rune {
			if unicode.IsPrint(c) {
				return c
			}
			return '?'
		}, fmt.Sprintf(format, args...)), " "))
	}
	for _, ds := range parsed.Datasets {
		bounds, keys := d.undecided(ds)
		out.WriteByte('\n')
		line("YOURS TO DECIDE, because nothing in the database says it:")
		line("")
		list(line, "bounds, for SUM and AVG", bounds)
		list(line, "keys, for GROUP BY", keys)
		list(line, "max_rows and max_groups, which are proposals", proposals(ds))
		line("  sizes, which deadlines follow from: 'discreet check --sizes' counts them, and prints a block to paste")
		line("")
		from.Rights(line, ds)
	}
	return out.String(), nil
}

// list writes names in lines.
func list(line func(string, ...any), what string, names []string) {
	if len(names) == 0 {
		line("  %s: nothing is missing", what)
		return
	}
	text := ""
	line("  %s:", what)
	for i, n := range names {
		if i < len(names)-1 {
			n += ","
		}
		if len(text)+len(n) > 90 {
			line("    %s", text)
			text = ""
		}
		text = strings.TrimSpace(text + " " + n)
	}
	line("    %s", text)
}

// undecided are the columns that have no bounds, and those that have no keys.
func (d *Drafted) undecided(ds *policy.Dataset) (bounds, keys []string) {
	for _, table := range ds.TableNames() {
		t := ds.Tables[table]
		if t.Public {
			continue
		}
		for _, name := range t.ColumnNames() {
			switch c := t.Columns[name]; {
			case c.Keys != policy.NoKeys || c.Bounds != nil || d.identifier(table, name):
			case c.Type == policy.Text:
				keys = append(keys, table+"."+name)
			case c.Type != policy.Boolean:
				bounds = append(bounds, table+"."+name)
			}
		}
	}
	return bounds, keys
}

// identifier reports whether the values of a column are names of rows.
func (d *Drafted) identifier(table, column string) bool {
	for _, s := range d.Schemas {
		for _, c := range s.Columns {
			if s.Table == table && c.Name == column {
				return c.Identifier
			}
		}
	}
	return false
}

// proposals are the tables of which a person can have many rows.
func proposals(ds *policy.Dataset) []string {
	var out []string
	for _, table := range ds.TableNames() {
		if ds.Tables[table].UnitKind == policy.Many {
			out = append(out, table)
		}
	}
	return out
}
