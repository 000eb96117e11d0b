package omop

import (
	"errors"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Unit finds who is protected: every person_id of the table person.
func Unit(schemas []policy.Schema) (string, error) {
	for _, s := range schemas {
		if !strings.EqualFold(s.Table, "person") || s.LeftOut != "" {
			continue
		}
		if name := columnNamed(s, "person_id"); name != "" {
			return s.Table + "." + name, nil
		}
	}
	return "", errors.New("there is no table person with a column person_id that could be read, so this is no OMOP common data model; " +
		"name its schema with --schema, where there are several, or leave out --omop")
}

func columnNamed(s policy.Schema, name string) string {
	for _, c := range s.Columns {
		if strings.EqualFold(c.Name, name) && c.LeftOut == "" {
			return c.Name
		}
	}
	return ""
}

// Tell says what is known about tables, and puts them into the order of the model: people first,
// what everybody may know after them, and then what is left out.
func Tell(schemas []policy.Schema) ([]policy.Schema, error) {
	unit, err := Unit(schemas)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(schemas)
	for i := range out {
		out[i].Columns = slices.Clone(out[i].Columns)
		tellTable(&out[i], unit)
	}
	slices.SortStableFunc(out, func(a, b policy.Schema) int { return place(a) - place(b) })
	return out, nil
}

// place is where a table is in the model.
func place(s policy.Schema) int {
	for i, t := range tables {
		if strings.EqualFold(t.name, s.Table) {
			return i
		}
	}
	return len(tables)
}

func tellTable(s *policy.Schema, unit string) {
	at := place(*s)
	if at == len(tables) {
		s.LeftOut, s.Trusted = s.Table+" is no table of the common data model.", false
		return
	}
	t := tables[at]
	if s.LeftOut != "" { // a view, for which the owner has to answer
		return
	}
	s.Notes = append(s.Notes, t.note)
	person := columnNamed(*s, "person_id")
	switch {
	case t.leftOut != "":
		s.LeftOut = s.Table + ". " + t.leftOut
	case t.public:
		tellPublic(s, t.table)
	case person == "":
		s.LeftOut = s.Table + " has no column person_id that could be read, so nothing says whose its rows are."
	default:
		if !strings.HasPrefix(unit, s.Table+".") {
			s.Path, s.PathNote = person+" -> "+unit, ""
		}
		s.MaxRows, s.MaxGroups = t.maxRows, t.maxGroups
		for i := range s.Columns {
			tell(&s.Columns[i])
		}
	}
}

// tellPublic says what is known about a table of the vocabulary.
func tellPublic(s *policy.Schema, t table) {
	s.Public, s.Path, s.UniqueColumn = true, "", ""
	for i := range s.Columns {
		c := &s.Columns[i]
		if known, ok := byName[strings.ToLower(c.Name)]; ok && known.leftOut != "" {
			c.LeftOut = known.leftOut
			continue
		}
		if t.unique != "" && strings.EqualFold(c.Name, t.unique) {
			s.UniqueColumn = c.Name
			if !c.Enforced {
				s.Notes = append(s.Notes, "The database does not see to it that "+c.Name+" is different in every row; discreet check "+
					"looks.")
			}
		}
		c.Identifier, c.Keys, c.PrivateKeys = true, nil, false
		c.Lowest, c.Highest = "", ""
	}
}
