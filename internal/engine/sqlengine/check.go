package sqlengine

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
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
	// Rounded prints whether a value of a column is rounded to a whole number; or it is nil.
	Rounded func(*policy.Column) string
}

// PlainReading is how columns of a database are read that has types of its own.
func PlainReading(t *sqlgen.Table, different string) Reading {
	declared := func(c *policy.Column) string { return c.Type.String() }
	return Reading{Stored: t.Raw, Declared: declared, Different: different, Many: MinManyKeys}
}

// MinManyKeys is how many different private keys are worth a word. An engine keeps them all; see
// result.
const MinManyKeys = 2_000_000

// CheckColumns compares the values of columns with what the policy says about them.
func (d *Database) CheckColumns(ctx context.Context, t *sqlgen.Table, names []string, how Reading) (out []engine.Finding, err error) {
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
		if how.Rounded != nil && c.Type == policy.Integer {
			counts = append(counts, "count(*) FILTER (WHERE "+how.Rounded(c)+")")
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
		of := values[6*i : 6*i+6]
		different, lost, null, there, moved, rounded := of[0], of[1], of[2], of[3], of[4], of[5]
		if different > how.Many {
			out = append(out, ManyKeysFinding(t.Name, name))
		}
		if lost > 0 {
			text := fmt.Sprintf("%s of the values are not %s; they count as NULL", DescribeShare(lost, there), how.Declared(c))
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
					"as the nearest bound", DescribeShare(moved, there))})
		}
		if rounded > 0 {
			out = append(out, engine.Finding{Table: t.Name, Column: name, Text: fmt.Sprintf("%s of the values have a fraction, and are "+
				"rounded to whole numbers; write type: decimal and a granularity to keep it", DescribeShare(rounded, there))})
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

// ManyKeysFinding is what is said of private keys that are many.
func ManyKeysFinding(table, column string) engine.Finding {
	return engine.Finding{Table: table, Column: column, Text: "its keys are private, and there are millions of them; questions that " +
		"group by it need memory in proportion, so consider whether anybody should"}
}

// NullMarks are texts that stand for a missing value in most files where they are.
var NullMarks = []string{"NA", "N/A", "n/a", "na", "N.A.", "n.a.", "NaN", "nan", "NULL", "null", "Null", "None", "none", "nil", "-", "--",
	"---", ".", "..", "?", "#N/A", "#NV", "#NULL!", "k.A.", "k. A.", "missing", "Missing", `\N`}

// QuotedMarks prints them in SQL, one after the other.
func QuotedMarks() string {
	quoted := make([]string, len(NullMarks))
	for i, mark := range NullMarks {
		quoted[i] = sqlgen.QuoteText(mark)
	}
	return strings.Join(quoted, ", ")
}

// CheckUnit looks at the column that says who a row is about.
func (d *Database) CheckUnit(ctx context.Context, t *sqlgen.Table, csv bool) ([]engine.Finding, error) {
	raw := t.Raw(t.UnitColumn)
	var rows, people, nobody int64
	if err := d.DB.QueryRowContext(ctx, "SELECT count(*), count(DISTINCT "+raw+"), count(*) FILTER (WHERE "+raw+" IS NULL) "+
		"FROM "+t.From).Scan(&rows, &people, &nobody); err != nil {
		return nil, err
	}
	var out []engine.Finding
	if t.UnitKind == policy.Unique && people < rows-nobody {
		out = append(out, engine.Finding{Table: t.Name, Column: t.UnitColumn, Broken: true,
			Text: "the policy says that it is unique, but some people have several rows: THE GUARANTEE DOES NOT HOLD. Remove " +
				"'unique' and add max_rows and max_groups"})
	}
	if nobody > 0 && t.UnitKind == policy.Many {
		out = append(out, engine.Finding{Table: t.Name, Column: t.UnitColumn, Text: fmt.Sprintf("%s of the rows (%d) belong to nobody; "+
			"they are left out of every answer", DescribeShare(nobody, rows), nobody)})
	}
	if nobody > 0 && t.UnitKind == policy.Unique {
		out = append(out, engine.Finding{Table: t.Name, Column: t.UnitColumn, Text: fmt.Sprintf("%s of the rows (%d) do not say whom they "+
			"are about: each counts as one more person, so whoever has several of them is protected less; leave them out of the data, or "+
			"give them ids", DescribeShare(nobody, rows), nobody)})
	}
	missing, err := d.missingIDs(ctx, t, csv)
	return append(out, missing...), err
}

// missingIDs finds rows that are taken for those of one person because their missing ids are
// spelt alike.
func (d *Database) missingIDs(ctx context.Context, t *sqlgen.Table, csv bool) ([]engine.Finding, error) {
	c := t.Stored[t.UnitColumn]
	if kind := strings.ToUpper(c.Type); !strings.HasPrefix(kind, "VARCHAR") && !strings.HasPrefix(kind, "CHAR") {
		return nil, nil
	}
	id := "trim(CAST(" + sqlgen.QuoteName(c.Name) + " AS VARCHAR))"
	rows, err := d.DB.QueryContext(ctx, "SELECT "+id+", count(*) FROM "+t.From+" WHERE "+id+" IN ('', "+QuotedMarks()+") GROUP BY 1 "+
		"HAVING count(*) > 1 ORDER BY 2 DESC, 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var marks, found []string
	for rows.Next() {
		var mark string
		var n int64
		if err := rows.Scan(&mark, &n); err != nil {
			return nil, err
		}
		marks = append(marks, strconv.Quote(mark))
		found = append(found, fmt.Sprintf("%q (%d rows)", mark, n))
	}
	if len(found) == 0 || rows.Err() != nil {
		return nil, rows.Err()
	}
	mend := "store NULL in its place"
	if csv {
		mend = "write nulls: [" + strings.Join(marks, ", ") + "] under the table"
	}
	return []engine.Finding{{Table: t.Name, Column: t.UnitColumn, Text: "all rows with the id " + strings.Join(found, ", and those with ") +
		" count as those of one person, of whom few are kept. If that is how a missing id is spelt, " + mend +
		", so that these rows belong to nobody"}}, nil
}

// CheckDelta says where the budget's delta is not well below 1 in the number of people.
func (d *Database) CheckDelta(ctx context.Context, ds *policy.Dataset) ([]engine.Finding, error) {
	people := int64(0)
	for name, t := range ds.Tables {
		what := "count(*)"
		switch {
		case t.Public || !ds.Unit.Row() && name != ds.Unit.Table:
			continue
		case !ds.Unit.Row():
			what = "count(DISTINCT " + d.Tables[name].Raw(ds.Unit.Column) + ")"
		}
		var n int64
		if err := d.DB.QueryRowContext(ctx, "SELECT "+what+" FROM "+d.Tables[name].From).Scan(&n); err != nil {
			return nil, err
		}
		people += n
	}
	const loose = 0.1
	if ds.Budget.Delta.Float()*float64(people) <= loose {
		return nil, nil
	}
	return []engine.Finding{{Table: ds.Name, Text: fmt.Sprintf("the budget's delta is %v, but there are %d people: it should be well "+
		"below 1 in their number, such as %.0e, or the promise allows that some people's rows are shown as they are", ds.Budget.Delta,
		people, 0.01/float64(people))}}, nil
}

// DescribeShare says roughly how many, which is all that is needed to find the mistake.
func DescribeShare(n, of int64) string {
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

// CheckPaths looks at what paths and joins rely on: that a row leads to somebody, and
// that a key has one row. Keys are the columns that paths lead to.
func (d *Database) CheckPaths(ctx context.Context, t *sqlgen.Table, keys []string) ([]engine.Finding, error) {
	var out []engine.Finding
	if t.UniqueColumn != "" {
		again, err := d.Repeats(ctx, t, t.Declared(t.UniqueColumn))
		if err != nil {
			return nil, err
		}
		if again {
			out = append(out, engine.Finding{Table: t.Name, Column: t.UniqueColumn, Broken: true,
				Text: "the policy says that it is unique, but some values are in several rows, which a join multiplies: THE " +
					"GUARANTEE DOES NOT HOLD. Remove 'unique' and add max_rows, or remove the extra rows"})
		}
	}
	for _, key := range keys {
		again, err := d.Repeats(ctx, t, d.Identity(t, key, tree.IdentityName(t.Name, key)))
		if err != nil {
			return nil, err
		}
		if again {
			out = append(out, engine.Finding{Table: t.Name, Column: key, Broken: true,
				Text: "a path leads to this column as a key, but some values are in several rows, so one row leads to several " +
					"people: THE GUARANTEE DOES NOT HOLD. Lead the path to a column that is different in every row, or remove the " +
					"extra rows"})
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
	what := sqlgen.StepIdentity(step)
	err := d.DB.QueryRowContext(ctx, "SELECT count(*), count(*) FILTER (WHERE r IS NULL) FROM (SELECT "+d.Identity(t,
		step.Column, what)+" AS l FROM "+t.From+
		") LEFT JOIN (SELECT DISTINCT "+d.Identity(to, step.Key, what)+" AS r FROM "+to.From+") ON l = r").Scan(&rows, &lost)
	if err != nil {
		return nil, err
	}
	if lost > 0 {
		out = append(out,
			engine.Finding{Table: t.Name, Column: step.Column, Text: fmt.Sprintf("%s of the rows do not lead to a row of %s, so "+
				"they belong to nobody; they are left out of every answer", DescribeShare(lost, rows), step.Table)})
	}
	return out, nil
}

// checkPeople looks whether anybody of a table is in the unit's own. A text '1' and a text '1.0'
// are two people.
func (d *Database) checkPeople(ctx context.Context, t *sqlgen.Table) ([]engine.Finding, error) {
	step := t.Path[0]
	to, what := d.Tables[step.Table], sqlgen.StepIdentity(step)
	l, r := d.Identity(t, step.Column, what), d.Identity(to, step.Key, what)
	var people, known bool
	err := d.DB.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM (SELECT "+l+" AS l FROM "+t.From+") WHERE l IS NOT NULL), EXISTS "+
		"(SELECT 1 FROM (SELECT "+l+" AS l FROM "+t.From+
		") WHERE l IN (SELECT "+r+" AS r FROM "+to.From+"))").Scan(&people, &known)
	if err != nil || !people || known {
		return nil, err
	}
	return []engine.Finding{{Table: t.Name, Column: step.Column,
		Text: fmt.Sprintf("nobody in %s.%s is in %s.%s: are the ids spelt alike? A person whose id is spelt in two ways counts as "+
			"two people", t.Name, step.Column, step.Table, step.Key)}}, nil
}

// Describe reads the stored columns of a table and compares them with the policy, and their types
// too where they are to be checked. It looks at no row. Its errors tell the owner where the table
// is.
func Describe(ctx context.Context, db *sql.DB, t *sqlgen.Table, where string, checked bool) ([]sqlgen.Column, error) {
	all, err := listColumns(ctx, db, t, where)
	if err != nil {
		return nil, err
	}
	t.Stored = map[string]sqlgen.Column{}
	for _, name := range t.Needed() {
		c, err := FindColumn(all, t, name, where)
		if err != nil {
			return nil, err
		}
		t.Stored[name] = c
		if p := t.Columns[name]; p != nil && checked && !t.Readable(p.Type, c.Type) {
			return nil, fmt.Errorf("table %s: the policy says that column %s is %v, but in %s it is %s; correct the policy or the data",
				t.Name, name, p.Type, where, c.Type)
		}
	}
	return all, nil
}

func listColumns(ctx context.Context, db *sql.DB, t *sqlgen.Table, where string) (all []sqlgen.Column, err error) {
	// What a driver says stays here: analysts see it where the data is looked at anew.
	unread := fmt.Errorf("table %s: cannot read the schema of %s; is it complete, and is it of the kind that its name says?", t.Name, where)
	rows, err := db.QueryContext(ctx, t.Dialect.Describe(t.From))
	if err != nil {
		return nil, unread
	}
	defer rows.Close()
	about, err := rows.Columns()
	if err != nil || len(about) < 2 {
		return nil, unread
	}
	var c sqlgen.Column
	into := []any{&c.Name, &c.Type}
	for range about[2:] { // a database may say more
		into = append(into, new(any))
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, unread
		}
		all = append(all, c)
	}
	if rows.Err() != nil {
		return nil, unread
	}
	return all, nil
}

// FindColumn finds a column by its name, or by one that differs from it in nothing but case.
func FindColumn(all []sqlgen.Column, t *sqlgen.Table, name, where string) (sqlgen.Column, error) {
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		for _, c := range all {
			if same(c.Name, name) {
				return c, nil
			}
		}
	}
	return sqlgen.Column{}, fmt.Errorf("table %s: there is no column %s in %s; correct the policy or the data", t.Name, name, where)
}
