package policy

import (
	"errors"
	"strings"
	"unicode"

	"github.com/discreet-dp/discreet/internal/address"
)

// IsTrino reports whether a source is the address of a Trino cluster.
func IsTrino(source string) bool { return address.IsTrino(source) }

// CheckTrino says what is wrong with the address of a Trino cluster, without repeating it.
func CheckTrino(text string) error {
	if _, err := address.ParseTrino(text); err != nil {
		return errors.New("the address " + err.Error())
	}
	return nil
}

// Trino is an address without its user and options: where the data is, for messages and to tell
// clusters apart.
func Trino(text string) string {
	at, err := address.ParseTrino(text)
	if err != nil {
		return "a Trino cluster"
	}
	return at.Where()
}

// readTrino reads the address of a cluster.
func (d *Dataset) readTrino(r *reader, v place, text string) bool {
	d.Engine = "trino"
	if _, err := address.ParseTrino(text); err != nil {
		r.at(v, "'source' %v", err)
		return false
	}
	d.Source = text
	return true
}

// readTrinoRelation reads which table of a Trino cluster a table is. Trino takes names for the same
// that differ in letter case alone, so they are in lower case here.
func (t *Table) readTrinoRelation(r *reader, f fields, d *Dataset) bool {
	at, err := address.ParseTrino(d.Source)
	if err != nil {
		return false // it is said elsewhere
	}
	const want = "the schema and the name of a table, such as clinic.patients, or with the catalog before them"
	text := t.Name
	v, given := f.get("source")
	if given {
		var ok bool
		if text, ok = r.text(v, "source", want); !ok {
			return false
		}
	} else {
		v = f.at
	}
	parts := strings.Split(text, ".")
	if !given {
		parts = []string{t.Name}
	}
	switch {
	case len(parts) == 1 && at.Schema == "":
		r.at(v, "nothing says in which schema the table is; write %s, or the schema into the address: trino://USER@HOST/CATALOG/SCHEMA",
			want)
		return false
	case len(parts) == 1:
		parts = []string{at.Catalog, at.Schema, parts[0]}
	case len(parts) == 2:
		parts = append([]string{at.Catalog}, parts...)
	}
	relation := strings.ToLower(strings.Join(parts, "."))
	if !trinoSpelt(relation) {
		r.at(v, "'source' is not a table of the cluster; write %s", want)
		return false
	}
	t.Relation = relation
	return true
}

// trinoSpelt reports whether a text is a catalog, a schema and a table. A dollar stands for what a
// store says about a table, and not for its rows.
func trinoSpelt(text string) bool {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || strings.ContainsAny(text, "\"\\$@") || strings.ContainsFunc(text, unicode.IsControl) {
		return false
	}
	return parts[0] != "" && parts[1] != "" && parts[2] != "" && parts[1] != "information_schema" && parts[0] != "system"
}

// CheckTrinoRelation says why a policy cannot name a table of a Trino cluster, or nothing.
func CheckTrinoRelation(catalog, schema, table string) string {
	if problem := checkName(table); problem != "" {
		return "the name of the table " + problem
	}
	if !trinoSpelt(catalog + "." + schema + "." + table) {
		return "its name contains a dot or a sign that a policy cannot spell"
	}
	return ""
}
