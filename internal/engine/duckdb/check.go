package duckdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/pgtables"
	"github.com/discreet-dp/discreet/policy"
)

// Inspect reads all rows and compares them with what the policy says about them. It also says how
// large the data is, as [Engine.Magnitude] does.
func Inspect(ctx context.Context, ds *policy.Dataset) (out []engine.Finding, magnitude int, err error) {
	return InspectDoubts(ctx, ds, nil)
}

// InspectDoubts is Inspect of a PostgreSQL database of which only what is in doubt is read. How
// large it is is then what PostgreSQL estimates.
func InspectDoubts(ctx context.Context, ds *policy.Dataset, doubts pgtables.Doubts) (out []engine.Finding, magnitude int, err error) {
	s, err := openSnapshot(ctx, ds, asText, Limits{doubts: doubts})
	if err != nil {
		return nil, 0, forOwner(err)
	}
	defer s.close()
	for _, name := range ds.TableNames() {
		doubt := pgtables.Everything(ds.Tables[name])
		if doubts != nil {
			doubt = doubts[name]
		}
		if doubt == nil {
			continue
		}
		found, err := s.checkTable(ctx, ds, s.tables[name], doubt)
		if err != nil {
			return nil, 0, fmt.Errorf("table %s: its rows cannot be read", name)
		}
		out = append(out, found...)
	}
	if doubts != nil {
		return append(out, s.origin.many...), sqlengine.PowerOfTen(s.origin.rows), nil
	}
	magnitude, err = s.Magnitude(ctx)
	return out, magnitude, err
}

func (s *snapshot) checkTable(ctx context.Context, ds *policy.Dataset, t *table, doubt *pgtables.Doubt) (out []engine.Finding, err error) {
	if doubt.Paths {
		if out, err = s.checkPaths(ctx, ds, t); err != nil {
			return nil, err
		}
	}
	if doubt.Unit {
		found, err := s.checkUnit(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if t.csv {
		out = append(out, t.checkLines()...)
	}
	found, err := s.checkColumns(ctx, t, doubt.Columns)
	return append(out, found...), err
}

// checkLines says which lines of a CSV file are no rows.
func (t *table) checkLines() []engine.Finding {
	if t.lines.Bad == 0 {
		return nil
	}
	f := engine.Finding{Table: t.Name, Text: describeLines(t.lines)}
	if t.CSV.RefuseBadLines {
		f.Unread, f.Text = true, f.Text+". The policy says bad_lines: refuse, so the data is not opened"
	} else {
		f.Text += ". These lines are no rows, and are left out of every answer"
	}
	return []engine.Finding{f}
}

// checkColumns compares the values of columns with what the policy says about them.
func (s *snapshot) checkColumns(ctx context.Context, t *table, names []string) (out []engine.Finding, err error) {
	var counts []string
	for _, name := range names {
		c, raw := t.Columns[name], t.asStored(name)
		// Lost: there is a value, but none of the declared type. Moved: it is beyond the bounds.
		many := "0"
		if c.Keys == policy.PrivateKeys && s.limits.doubts == nil {
			many = "approx_count_distinct(" + t.Cast(name) + ")"
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
	if err := s.DB.QueryRowContext(ctx, "SELECT "+strings.Join(counts, ", ")+" FROM "+t.From).Scan(cells...); err != nil {
		return nil, err
	}
	for i, name := range names {
		c := t.Columns[name]
		different, lost, null, there, moved := values[5*i], values[5*i+1], values[5*i+2], values[5*i+3], values[5*i+4]
		if different > manyKeys {
			out = append(out, manyDifferent(t, name))
		}
		if lost > 0 {
			text := fmt.Sprintf("%s of the values are not %s; they count as NULL", share(lost, there), t.declared(c))
			if t.csv {
				hint, err := s.hint(ctx, t, c)
				if err != nil {
					return nil, err
				}
				text += hint
			}
			out = append(out, engine.Finding{Table: t.Name, Column: name, Unread: 2*lost >= there, Text: text})
		}
		if moved > 0 {
			out = append(out,
				engine.Finding{Table: t.Name, Column: name, Text: fmt.Sprintf("%s of the values are beyond the bounds; they count as the nearer "+
					"bound", share(moved, there))})
		}
		if null > 0 && !c.Nullable {
			out = append(out,
				engine.Finding{Table: t.Name, Column: name, Text: "there are NULLs, but the policy says nullable: false: COUNT(x) and AVG(x) " +
					"count those rows as well and are wrong; write nullable: true"})
		}
	}
	return out, nil
}

// manyDifferent is what is said of private keys that are many.
func manyDifferent(t *table, column string) engine.Finding {
	return engine.Finding{Table: t.Name, Column: column, Text: "its keys are private, and there are millions of different ones; questions " +
		"that group by it need memory in proportion, so consider whether anybody should"}
}

// asStored prints a value as it is stored, before it is cast: of a CSV file, as it is spelt.
func (t *table) asStored(name string) string {
	if t.csv {
		return asSpelt(name)
	}
	return t.Raw(name)
}

// declared names what the values of a column should be.
func (t *table) declared(c *policy.Column) string {
	if format := t.CSV.Column(c.Name).Format; t.csv && format != "" {
		return fmt.Sprintf("%v in the format %s", c.Type, format)
	}
	return c.Type.String()
}

// hint says what the values of a column look like, where that is something else than the policy
// says.
func (s *snapshot) hint(ctx context.Context, t *table, c *policy.Column) (string, error) {
	g, err := guesser{s.DB, t.From, asSpelt(c.Name)}.look(ctx)
	if err != nil || g.typ == policy.Text || g.typ == c.Type && g.format == t.CSV.Column(c.Name).Format {
		return "", err
	}
	text := "; they look like type: " + g.typ.String()
	if g.format != "" {
		text += fmt.Sprintf(", format: %q", g.format)
	}
	for _, other := range g.also {
		text += " or like " + other.String()
	}
	return text, nil
}

// manyKeys is how many different private keys are worth a word. An engine keeps them all; see
// result.
const manyKeys = 2_000_000

// checkUnit looks at the column that says who a row is about.
func (s *snapshot) checkUnit(ctx context.Context, t *table) ([]engine.Finding, error) {
	raw := t.Raw(t.UnitColumn)
	var rows, people, nobody int64
	if err := s.DB.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT "+raw+"), count(*) FILTER (WHERE "+raw+" IS NULL) "+
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
		out = append(out, engine.Finding{Table: t.Name, Column: t.UnitColumn, Text: share(nobody, rows) +
			" of the rows are about nobody; they are left out of every answer"})
	}
	return out, nil
}

// share says roughly how many, which is all that is needed to find the mistake.
func share(n, of int64) string {
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
