package duckdb

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
	"github.com/discreet-dp/discreet/policy"
)

// Inspect reads all rows and compares them with what the policy says about them. It also says how
// large the data is, as [Engine.Magnitude] does.
func Inspect(ctx context.Context, ds *policy.Dataset) (out []engine.Finding, magnitude int, err error) {
	out, _, magnitude, err = inspect(ctx, ds, nil)
	return out, magnitude, err
}

// InspectKept is Inspect that says too how much max_rows and max_groups keep, in a finding for
// every table of which a person can have many rows.
func InspectKept(ctx context.Context, ds *policy.Dataset) (out, kept []engine.Finding, magnitude int, err error) {
	return inspect(ctx, ds, nil)
}

// InspectDoubts is Inspect of a PostgreSQL database of which only what is in doubt is read. How
// large it is is then what PostgreSQL estimates, which does not know people and lengths.
func InspectDoubts(ctx context.Context, ds *policy.Dataset, doubts pgtables.Doubts) (out []engine.Finding, magnitude int, err error) {
	out, _, magnitude, err = inspect(ctx, ds, doubts)
	return out, magnitude, err
}

func inspect(ctx context.Context, ds *policy.Dataset, doubts pgtables.Doubts) (out, kept []engine.Finding, magnitude int, err error) {
	s, err := openSnapshot(ctx, ds, asText, Limits{doubts: doubts})
	if err != nil {
		return nil, nil, 0, catalogue.ForOwner(err)
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
		found, err := inspector{s, ds}.checkTable(ctx, s.tables[name], doubt)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("table %s: its rows cannot be read", name)
		}
		out = append(out, found...)
	}
	if doubts != nil {
		about := publictime.Sizes{Tables: s.state.origin.estimated}
		out = append(append(out, s.state.origin.many...), sqlengine.FindOutgrown(ds, about)...)
		rows := map[string]int64{}
		for name, t := range about.Tables {
			rows[name] = t.Rows
		}
		return out, nil, sqlengine.MagnitudeOf(ds, rows), nil
	}
	found, err := s.CheckSizes(ctx, ds, countFunctions)
	if err != nil {
		return nil, nil, 0, err
	}
	loose, err := s.CheckDelta(ctx, ds)
	if err != nil {
		return nil, nil, 0, err
	}
	found = append(found, loose...)
	if kept, err = s.kept(ctx, ds); err != nil {
		return nil, nil, 0, err
	}
	magnitude, err = s.Magnitude(ctx, ds)
	return append(out, found...), kept, magnitude, err
}

// kept says how much the limits of tables keep.
func (s *snapshot) kept(ctx context.Context, ds *policy.Dataset) (out []engine.Finding, err error) {
	for _, name := range ds.TableNames() {
		t := &s.tables[name].Table
		if t.UnitKind != policy.Many {
			continue
		}
		var keyed []string
		for _, column := range t.ColumnNames() {
			if t.Columns[column].Keys != policy.NoKeys {
				keyed = append(keyed, column)
			}
		}
		spread, err := s.Spread(ctx, ds, t, keyed)
		if err != nil {
			return nil, fmt.Errorf("table %s: the rows of people cannot be counted", name)
		}
		out = append(out, engine.Finding{Table: name, Text: spread.Describe(t.MaxRows, t.MaxGroups)})
	}
	return out, nil
}

// ProposeLimits is ProposeSizes that proposes max_rows and max_groups as well, by table, for those
// of which a person can have many rows.
func ProposeLimits(ctx context.Context, ds *policy.Dataset, tell func(file string, done, of int64)) (
	*policy.Sizes, map[string]sqlengine.Limits, error,
) {
	s, err := openSnapshot(ctx, ds, asDeclared, Limits{Tell: tell})
	if err != nil {
		return nil, nil, catalogue.ForOwner(err)
	}
	defer s.close()
	limits := map[string]sqlengine.Limits{}
	for _, name := range ds.TableNames() {
		t := &s.tables[name].Table
		if t.UnitKind != policy.Many {
			continue
		}
		columns, err := s.Few(ctx, t)
		if err != nil {
			return nil, nil, err
		}
		spread, err := s.Spread(ctx, ds, t, columns)
		if err != nil {
			return nil, nil, err
		}
		if proposed, ok := spread.Propose(); ok {
			limits[name] = proposed
		}
	}
	sizes, err := s.ProposeSizes(ctx, ds, countFunctions)
	return sizes, limits, err
}

// ProposeSizes counts how large the tables of a dataset are, and proposes what to declare of it.
// Tell is told how far files are read; it may be nil.
func ProposeSizes(ctx context.Context, ds *policy.Dataset, tell func(file string, done, of int64)) (*policy.Sizes, error) {
	s, err := openSnapshot(ctx, ds, asDeclared, Limits{Tell: tell})
	if err != nil {
		return nil, catalogue.ForOwner(err)
	}
	defer s.close()
	return s.ProposeSizes(ctx, ds, countFunctions)
}

// inspector compares rows with what the policy says about them.
type inspector struct {
	data *snapshot
	ds   *policy.Dataset
}

func (i inspector) checkTable(ctx context.Context, t *table, doubt *pgtables.Doubt) (out []engine.Finding, err error) {
	if doubt.Paths {
		if out, err = i.data.CheckPaths(ctx, &t.Table, i.ds.PathKeys(i.ds.Tables[t.Name])); err != nil {
			return nil, err
		}
	}
	if doubt.Unit {
		found, err := i.data.CheckUnit(ctx, &t.Table, t.csv)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if t.csv {
		out = append(out, t.checkLines()...)
	}
	found, err := i.checkColumns(ctx, t, doubt.Columns)
	return append(out, found...), err
}

// checkLines says which lines of a CSV file are no rows.
func (t *table) checkLines() []engine.Finding {
	if t.lines.Bad == 0 {
		return nil
	}
	f := engine.Finding{Table: t.Name, Text: describeLines(t.lines)}
	if mostBad(t.lines) {
		f.Unread, f.Text = true, "MOST LINES ARE LEFT OUT: "+f.Text
	}
	if t.CSV.RefuseBadLines {
		f.Unread, f.Text = true, f.Text+". The policy says bad_lines: refuse, so the data is not opened"
	} else {
		f.Text += ". These lines are not rows, and are left out of every answer"
	}
	if 2*t.lines.Undecoded >= t.lines.Bad {
		f.Text += ". If the file is not in UTF-8, say so, as with encoding: windows-1252"
	}
	return []engine.Finding{f}
}

// checkColumns compares the values of columns with what the policy says about them.
func (i inspector) checkColumns(ctx context.Context, t *table, names []string) ([]engine.Finding, error) {
	how := sqlengine.Reading{Stored: t.asStored, Declared: t.declared, Different: "approx_count_distinct", Many: sqlengine.MinManyKeys}
	if i.data.limits.doubts != nil {
		how.Different = "" // it was asked of PostgreSQL
	}
	if t.csv {
		how.Hint = func(c *policy.Column) (string, error) { return i.hint(ctx, t, c) }
		how.Rounded = func(c *policy.Column) string {
			if t.CSV.Column(c.Name).Format != "" {
				return "false" // it says that there is no fraction
			}
			value := "TRY_CAST(" + asSpelt(c.Name) + " AS DOUBLE)"
			return value + " <> floor(" + value + ")"
		}
	}
	return i.data.CheckColumns(ctx, &t.Table, names, how)
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
func (i inspector) hint(ctx context.Context, t *table, c *policy.Column) (string, error) {
	g, err := guesser{i.data.DB, t.From, asSpelt(c.Name)}.look(ctx)
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
