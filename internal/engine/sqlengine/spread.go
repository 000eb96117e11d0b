package sqlengine

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/policy"
)

// Spread is how the rows of a table are spread over people. It is for the owner alone.
type Spread struct {
	rows   []tally            // people, by how many rows they have
	groups map[string][]tally // rows, by how many different values of a column their person has
}

// tally is how many there are of something for which a number is n.
type tally struct{ n, count int64 }

// Spread counts the rows of people who can have many, and in how many groups of some columns they
// are. Rows about nobody are left out.
func (d *Database) Spread(ctx context.Context, ds *policy.Dataset, t *sqlgen.Table, columns []string) (Spread, error) {
	out := Spread{groups: map[string][]tally{}}
	from := d.persons(ds, t, columns)
	var err error
	if out.rows, err = d.tallies(ctx, "SELECT n, count(*) FROM (SELECT count(*) AS n FROM "+from+" GROUP BY p) GROUP BY n"); err != nil {
		return out, err
	}
	for i, name := range columns {
		c := "c" + strconv.Itoa(i)
		out.groups[name], err = d.tallies(ctx, "SELECT g, CAST(sum(n) AS BIGINT) FROM (SELECT count(*) AS n, count(DISTINCT "+c+
			") + max(CASE WHEN "+c+" IS NULL THEN 1 ELSE 0 END) AS g FROM "+from+" GROUP BY p) GROUP BY g")
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// persons prints a table of whose each row is, and of its columns.
func (d *Database) persons(ds *policy.Dataset, t *sqlgen.Table, columns []string) string {
	own := tree.IdentityName(ds.Unit.Table, ds.Unit.Column)
	column, what := ds.Unit.Column, own
	if len(t.Path) > 0 {
		column, what = t.Path[0].Column, sqlgen.StepIdentity(t.Path[0])
	}
	list, names := d.Identity(t, column, what)+" AS p", ""
	for i, name := range columns {
		list += ", " + t.Declared(name) + " AS c" + strconv.Itoa(i)
		names += ", c" + strconv.Itoa(i)
	}
	out := "(SELECT " + list + " FROM " + t.From + ")"
	for i := 1; i < len(t.Path); i++ {
		before, step := t.Path[i-1], t.Path[i]
		to := d.Tables[before.Table]
		out = "(SELECT f.p" + names + " FROM " + out + " e JOIN (SELECT " + d.Identity(to, before.Key, sqlgen.StepIdentity(before)) +
			" AS k, " + d.Identity(to, step.Column, sqlgen.StepIdentity(step)) + " AS p FROM " + to.From + ") f ON e.p = f.k)"
	}
	return "(SELECT p" + names + " FROM " + out + " WHERE p IS NOT NULL)"
}

func (d *Database) tallies(ctx context.Context, query string) ([]tally, error) {
	rows, err := d.DB.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []tally
	for rows.Next() {
		var one tally
		if err := rows.Scan(&one.n, &one.count); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, rows.Err()
}

// Few returns the columns of a table with at least two and not very many different values: what
// people are likely to group by.
func (d *Database) Few(ctx context.Context, t *sqlgen.Table) (out []string, err error) {
	const most = 100
	for _, name := range t.ColumnNames() {
		if c := t.Columns[name]; c.Type != policy.Text && c.Type != policy.Boolean {
			continue
		}
		var n int64
		if err := d.DB.QueryRowContext(ctx, "SELECT count(DISTINCT "+t.Declared(name)+") FROM "+t.From).Scan(&n); err != nil {
			return nil, err
		}
		if n >= 2 && n <= most {
			out = append(out, name)
		}
	}
	return out, nil
}

// keptRows is what part of the rows counts where at most so many of a person do.
func (s Spread) keptRows(most int64) float64 {
	var kept, all float64
	for _, t := range s.rows {
		kept += float64(min(t.n, most)) * float64(t.count)
		all += float64(t.n) * float64(t.count)
	}
	return part(kept, all)
}

// keptPeople is what part of the people have no more rows.
func (s Spread) keptPeople(most int64) float64 {
	var kept, all float64
	for _, t := range s.rows {
		if t.n <= most {
			kept += float64(t.count)
		}
		all += float64(t.count)
	}
	return part(kept, all)
}

// keptGroups is what part of the rows counts where a person counts in at most so many groups of a
// column, which are chosen without looking at how many rows are in them.
func (s Spread) keptGroups(column string, most int64) float64 {
	var kept, all float64
	for _, t := range s.groups[column] {
		kept += float64(t.count) * min(1, float64(most)/float64(max(t.n, 1)))
		all += float64(t.count)
	}
	return part(kept, all)
}

func part(kept, all float64) float64 {
	if all == 0 {
		return 1
	}
	return kept / all
}

// worst returns the column by which the fewest rows are kept, or nothing where there is none.
func (s Spread) worst(most int64) (column string) {
	names := make([]string, 0, len(s.groups))
	for name := range s.groups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if column == "" || s.keptGroups(name, most) < s.keptGroups(column, most) {
			column = name
		}
	}
	return column
}

// nearlyAll is the part of the rows that a proposal keeps, if any number that is allowed does.
const nearlyAll = 0.95

// steps are the numbers that are proposed: 1, 2, 5, 10 and so on.
func steps() []int64 {
	out := []int64{}
	for n := int64(1); n < 1_000_000; n *= 10 {
		out = append(out, n, 2*n, 5*n)
	}
	return append(out, 1_000_000)
}

// Limits are numbers to propose for max_rows and max_groups. Groups is 0 where there is nothing to
// go by. What they keep exactly is no part of it: a policy is read by more people than its owner.
type Limits struct{ Rows, Groups int }

// Propose proposes the least numbers that keep nearly all rows. It reports false where there are
// none to go by.
func (s Spread) Propose() (out Limits, ok bool) {
	if len(s.rows) == 0 {
		return out, false
	}
	out.Rows = least(s.keptRows)
	if len(s.groups) > 0 {
		out.Groups = least(func(n int64) float64 { return s.keptGroups(s.worst(n), n) })
	}
	return out, true
}

// least returns the least number that keeps nearly all rows, or the largest that can be proposed.
func least(kept func(int64) float64) int {
	all := steps()
	at := slices.IndexFunc(all, func(n int64) bool { return kept(n) >= nearlyAll })
	if at < 0 {
		at = len(all) - 1
	}
	return int(all[at])
}

// Describe says what limits keep.
func (s Spread) Describe(maxRows, maxGroups int64) string {
	text := fmt.Sprintf("max_rows: %d keeps %s of the rows, and all rows of %s of the people", maxRows, percent(s.keptRows(maxRows)),
		percent(s.keptPeople(maxRows)))
	if column := s.worst(maxGroups); column != "" && s.keptGroups(column, maxGroups) < 1 {
		text += fmt.Sprintf("; grouped by %s, max_groups: %d keeps %s of the rows", column, maxGroups,
			percent(s.keptGroups(column, maxGroups)))
	}
	return text
}

// percent prints a part, rounded down.
func percent(of float64) string {
	switch {
	case of >= 1:
		return "all"
	case of < 0.01:
		return "less than 1 %"
	}
	return strconv.Itoa(int(100*of+1e-9)) + " %"
}
