package sqlengine

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/policy"
)

// Reading is what a check of columns has to know about a store.
type Reading struct {
	Stored   func(column string) string           // prints a value as it is stored, before it is cast
	Declared func(*policy.Column) string          // names what values should be
	Hint     func(*policy.Column) (string, error) // says what they look like; or nil
	// Different is the function that counts different values, about, and Many are worth a word.
	// Where it is empty nobody counts them.
	Different string
	Many      int64
}

// Plain is how columns of a database are read that has types of its own.
func Plain(t *dialect.Table, different string) Reading {
	return Reading{Stored: t.Raw, Declared: func(c *policy.Column) string { return c.Type.String() }, Different: different, Many: ManyKeys}
}

// ManyKeys is how many different private keys are worth a word. An engine keeps them all; see
// result.
const ManyKeys = 2_000_000

// CheckColumns compares the values of columns with what the policy says about them.
func (d *Database) CheckColumns(ctx context.Context, t *dialect.Table, names []string, how Reading) (out []engine.Finding, err error) {
	var counts []string
	for _, name := range names {
		c, raw := t.Columns[name], how.Stored(name)
		// Lost: there is a value, but none of the declared type. Moved: it is beyond the bounds.
		many := "0"
		if c.Keys == policy.PrivateKeys && how.Different != "" {
			many = how.Different + "(" + t.Cast(name) + ")"
		}
		counts = append(counts, many, "count(*) FILTER (WHERE "+raw+" IS NOT NULL AND ("+t.Cast(name)+") IS NULL)",
			"count(*) FILTER (WHERE "+raw+" IS NULL)", "count("+raw+")")
		if c.Bounds != nil {
			counts = append(counts, fmt.Sprintf("count(*) FILTER (WHERE (%s) NOT BETWEEN %d AND %d)", t.Cast(name), c.Bounds.LoSteps,
				c.Bounds.HiSteps))
		} else {
			counts = append(counts, "0")
		}
	}
	if len(counts) == 0 {
		return nil, nil // a policy may list no column
	}
	cells := make([]any, len(counts))
	values := make([]int64, len(counts))
	for i := range cells {
		cells[i] = &values[i]
	}
	if err := d.DB.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+t.From).Scan(cells...); err != nil {
		return nil, err
	}
	for i, name := range names {
		c := t.Columns[name]
		different, lost, null, there, moved := values[5*i], values[5*i+1], values[5*i+2], values[5*i+3], values[5*i+4]
		if different > how.Many {
			out = append(out, ManyDifferent(t.Name, name))
		}
		if lost > 0 {
			text := fmt.Sprintf("%s of the values are not %s; they count as NULL", Share(lost, there), how.Declared(c))
			if how.Hint != nil {
				hint, err := how.Hint(c)
				if err != nil {
					return nil, err
				}
				text += hint
			}
			out = append(out, engine.Finding{Table: t.Name, Column: name, Unread: 2*lost >= there, Text: text})
		}
		if moved > 0 {
			out = append(out,
				engine.Finding{Table: t.Name, Column: name, Text: fmt.Sprintf("%s of the values are beyond the bounds; they count "+
					"as the nearer "+
					"bound", Share(moved, there))})
		}
		if null > 0 && !c.Nullable {
			out = append(out,
				engine.Finding{Table: t.Name, Column: name, Text: "there are NULLs, but the policy says nullable: false: COUNT(x) " +
					"and AVG(x) " +
					"count those rows as well and are wrong; write nullable: true"})
		}
	}
	return out, nil
}

// ManyDifferent is what is said of private keys that are many.
func ManyDifferent(table, column string) engine.Finding {
	return engine.Finding{Table: table, Column: column, Text: "its keys are private, and there are millions of different ones; questions " +
		"that group by it need memory in proportion, so consider whether anybody should"}
}

// CheckUnit looks at the column that says who a row is about.
func (d *Database) CheckUnit(ctx context.Context, t *dialect.Table) ([]engine.Finding, error) {
	raw := t.Raw(t.UnitColumn)
	var rows, people, nobody int64
	if err := d.DB.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT "+raw+"), count(*) FILTER (WHERE "+raw+" IS NULL) "+
		"FROM "+t.From).Scan(&rows, &people, &nobody); err != nil {
		return nil, err
	}
	var out []engine.Finding
	if t.UnitKind == policy.Unique && people < rows-nobody {
		out = append(out, engine.Finding{Table: t.Name, Column: t.UnitColumn, Broken: true,
			Text: "the policy says that it is unique, but some people have several rows: THE " +
				"GUARANTEE DOES NOT HOLD. Remove 'unique' and say max_rows and max_groups"})
	}
	if nobody > 0 && t.UnitKind == policy.Many {
		out = append(out, engine.Finding{Table: t.Name, Column: t.UnitColumn, Text: Share(nobody, rows) +
			" of the rows are about nobody; they are left out of every answer"})
	}
	return out, nil
}

// Share says roughly how many, which is all that is needed to find the mistake.
func Share(n, of int64) string {
	switch {
	case n >= of:
		return "all"
	case 2*n >= of:
		return "most"
	case 20*n >= of:
		return "many"
	}
	return "some"
}
