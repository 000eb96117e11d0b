package duckdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/dialect"
	"github.com/discreet-dp/discreet/policy"
)

// Finding is something about the data that the owner should know. It is for the
// owner alone: it depends on the data, though it quotes none of it.
type Finding struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"`
	// Broken says that the guarantee does not hold until this is mended.
	Broken bool   `json:"broken"`
	Text   string `json:"text"`
}

// Inspect reads all rows and compares them with what the policy says about them. It also says how
// large the data is, as [Engine.Magnitude] does.
func Inspect(ctx context.Context, ds *policy.Dataset) (out []Finding, magnitude int, err error) {
	s, err := openSnapshot(ctx, ds, asText, Limits{})
	if err != nil {
		return nil, 0, err
	}
	defer s.close()
	for _, name := range ds.TableNames() {
		found, err := s.checkTable(ctx, ds, s.tables[name])
		if err != nil {
			return nil, 0, fmt.Errorf("table %s: its rows cannot be read", name)
		}
		out = append(out, found...)
	}
	magnitude, err = s.Magnitude(ctx)
	return out, magnitude, err
}

func (s *snapshot) checkTable(ctx context.Context, ds *policy.Dataset, t *table) ([]Finding, error) {
	out, err := s.checkPaths(ctx, ds, t)
	if err != nil {
		return nil, err
	}
	if t.UnitColumn != "" {
		found, err := s.checkUnit(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if t.csv {
		var lines int64
		if err := s.DB.QueryRowContext(ctx, "SELECT count(DISTINCT line) FROM "+dialect.QuoteName(t.rejects())).Scan(&lines); err != nil {
			return nil, err
		}
		if lines > 0 {
			out = append(out, Finding{Table: t.Name, Text: "there are lines that cannot be read as rows, and they are left out of every " +
				"answer; is the file UTF-8, and has every line as many fields as the header?"})
		}
	}
	var counts []string
	names := t.ColumnNames()
	for _, name := range names {
		c, raw := t.Columns[name], t.Raw(name)
		// Lost: there is a value, but none of the declared type. Moved: it is beyond the bounds.
		many := "0"
		if c.Keys == policy.PrivateKeys {
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
		return out, nil // a policy may list no column
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
			out = append(out, Finding{t.Name, name, false, "its keys are private, and there are millions of different ones; questions " +
				"that group by it need memory in proportion, so consider whether anybody should"})
		}
		if lost > 0 {
			out = append(out, Finding{t.Name, name, false, fmt.Sprintf("%s of the values are not %v; they count as NULL",
				share(lost, there), c.Type)})
		}
		if moved > 0 {
			out = append(out, Finding{t.Name, name, false, fmt.Sprintf("%s of the values are beyond the bounds; they count as the nearer "+
				"bound", share(moved, there))})
		}
		if null > 0 && !c.Nullable {
			out = append(out, Finding{t.Name, name, false, "there are NULLs, but the policy says nullable: false: COUNT(x) and AVG(x) " +
				"count those rows as well and are wrong; write nullable: true"})
		}
	}
	return out, nil
}

// manyKeys is how many different private keys are worth a word. An engine keeps them all; see
// result.
const manyKeys = 2_000_000

// checkUnit looks at the column that says who a row is about.
func (s *snapshot) checkUnit(ctx context.Context, t *table) ([]Finding, error) {
	raw := t.Raw(t.UnitColumn)
	var rows, people, nobody int64
	if err := s.DB.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT "+raw+"), count(*) FILTER (WHERE "+raw+" IS NULL) "+
		"FROM "+t.From).Scan(&rows, &people, &nobody); err != nil {
		return nil, err
	}
	var out []Finding
	if t.UnitKind == policy.Unique && people < rows-nobody {
		out = append(out, Finding{t.Name, t.UnitColumn, true, "the policy says that it is unique, but some people have several rows: THE " +
			"GUARANTEE DOES NOT HOLD. Remove 'unique' and say max_rows and max_groups"})
	}
	if nobody > 0 && t.UnitKind == policy.Many {
		out = append(out, Finding{t.Name, t.UnitColumn, false, share(nobody, rows) +
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
