package sqlengine

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// CheckPaths looks at what paths and joins rely on: that a row leads to somebody, and
// that a key has one row. Keys are the columns that paths lead to.
func (d *Database) CheckPaths(ctx context.Context, t *dialect.Table, keys []string) ([]engine.Finding, error) {
	var out []engine.Finding
	if t.UniqueColumn != "" {
		again, err := d.Repeats(ctx, t, t.Declared(t.UniqueColumn))
		if err != nil {
			return nil, err
		}
		if again {
			out = append(out, engine.Finding{Table: t.Name, Column: t.UniqueColumn, Broken: true,
				Text: "the policy says that it is unique, but some values are in several " +
					"rows, which a join multiplies: THE GUARANTEE DOES NOT HOLD. Remove 'unique' and say max_rows, or remove " +
					"the rows that " +
					"are too many"})
		}
	}
	for _, key := range keys {
		again, err := d.Repeats(ctx, t, d.Identity(t, key, tree.IdentityName(t.Name, key)))
		if err != nil {
			return nil, err
		}
		if again {
			out = append(out, engine.Finding{Table: t.Name, Column: key, Broken: true,
				Text: "a path leads to this column as to a key, but some values are in several rows, " +
					"so one row leads to several people: THE GUARANTEE DOES NOT HOLD. Lead the path to a column that is " +
					"different in every " +
					"row, or remove the rows that are too many"})
		}
	}
	if len(t.Path) == 1 {
		found, err := d.checkPeople(ctx, t)
		return append(out, found...), err
	}
	if len(t.Path) == 0 {
		return out, nil
	}
	step := t.Path[0]
	to := d.Tables[step.Table]
	var rows, lost int64
	what := dialect.StepIdentity(step)
	err := d.DB.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE r IS NULL) FROM (SELECT "+d.Identity(t,
		step.Column, what)+" AS l FROM "+t.From+
		") LEFT JOIN (SELECT DISTINCT "+d.Identity(to, step.Key, what)+" AS r FROM "+to.From+") ON l = r").Scan(&rows, &lost)
	if err != nil {
		return nil, err
	}
	if lost > 0 {
		out = append(out,
			engine.Finding{Table: t.Name, Column: step.Column, Text: fmt.Sprintf("%s of the rows lead to no row of %s, so they are about "+
				"nobody; they are left out of every answer", Share(lost, rows), step.Table)})
	}
	return out, nil
}

// checkPeople looks whether anybody of a table is in the unit's own. A text '1' and a text '1.0'
// are two people.
func (d *Database) checkPeople(ctx context.Context, t *dialect.Table) ([]engine.Finding, error) {
	step := t.Path[0]
	to, what := d.Tables[step.Table], dialect.StepIdentity(step)
	l, r := d.Identity(t, step.Column, what), d.Identity(to, step.Key, what)
	var people, known bool
	err := d.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM (SELECT "+l+" AS l FROM "+t.From+") WHERE l IS NOT NULL), EXISTS "+
		"(SELECT 1 FROM (SELECT "+l+" AS l FROM "+t.From+
		") WHERE l IN (SELECT "+r+" AS r FROM "+to.From+"))").Scan(&people, &known)
	if err != nil || !people || known {
		return nil, err
	}
	return []engine.Finding{{Table: t.Name, Column: step.Column,
		Text: fmt.Sprintf("nobody of %s.%s is in %s.%s: are the ids spelt alike? Somebody whose id "+
			"is spelt in two ways is two people", t.Name, step.Column, step.Table, step.Key)}}, nil
}
