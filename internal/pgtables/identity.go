package pgtables

import "fmt"

// bearer is a column that says whose a row is, or which row of another table it belongs to.
type bearer struct{ table, column string }

// checkBlanks refuses two columns that say who somebody is where blanks at the end are a part of
// the one and not of the other: PostgreSQL takes 'ann' and 'ann ' for one person or for two as it
// comes, and in the copy they are two, who are protected as two.
func (d *Database) checkBlanks(all []*Relation) error {
	kinds := map[bearer]Column{}
	for _, r := range all {
		for i, name := range Needed(d.dataset, r.Table) { // as the policy spells it
			kinds[bearer{r.Name, name}] = r.Columns[i]
		}
	}
	pair := func(a, b bearer) error {
		x, y := kinds[a], kinds[b]
		if x.Kind == y.Kind || x.Kind != Padded && y.Kind != Padded || x.Kind != Text && y.Kind != Text {
			return nil
		}
		return fmt.Errorf("the columns %s.%s and %s.%s say who somebody is, and blanks at the end are a part of one of them alone, which "+
			"are a %s and a %s: one person would be two; make both a text, or one of them in a view, and say trusted: true", a.table,
			a.column, b.table, b.column, x.Type, y.Type)
	}
	for _, r := range all {
		if r.UnitColumn != "" {
			if err := pair(bearer{d.dataset.Unit.Table, d.dataset.Unit.Column}, bearer{r.Name, r.UnitColumn}); err != nil {
				return err
			}
		}
		if len(r.Path) > 0 {
			step := r.Path[0]
			if err := pair(bearer{step.Table, step.Key}, bearer{r.Name, step.Column}); err != nil {
				return err
			}
		}
	}
	return nil
}
