package trinotables

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Listed is a table of the cluster's catalogues. No row is read for it.
type Listed struct {
	Catalog, Schema, Name, Comment string
	View                           bool
	// Unmarked says that its store does not tell whether it has changed.
	Unmarked bool
	// Question is what the owner has to answer for before the table is read, or nothing.
	Question string
	Columns  []Column
}

// List reads what the user sees in the schema of an address, or in the schemas that are named, or
// in all of the catalog.
func List(ctx context.Context, address string, schemas []string) (user string, _ []*Listed, err error) {
	d, err := Of(&policy.Dataset{Name: "to be drafted", Source: address})
	if err != nil {
		return "", nil, err
	}
	defer d.Close()
	at := d.place
	if len(schemas) == 0 && at.Schema != "" {
		schemas = []string{at.Schema}
	}
	connectors, err := d.connectors(ctx)
	if err != nil {
		return "", nil, err
	}
	if connectors[at.Catalog] == "" {
		return "", nil, fmt.Errorf("there is no catalog %s in the Trino cluster %s, or the user %s may not see it", at.Catalog, at, at.User)
	}
	where := "table_schema <> 'information_schema'"
	if len(schemas) > 0 {
		quoted := make([]string, len(schemas))
		for i, s := range schemas {
			quoted[i] = text(strings.ToLower(s))
		}
		where = "table_schema IN (" + strings.Join(quoted, ", ") + ")"
	}
	in := name(at.Catalog) + ".information_schema."
	tables, err := d.rows(ctx, "SELECT table_schema, table_name, table_type FROM "+in+"tables WHERE "+where+" ORDER BY 1, 2")
	if err != nil {
		return "", nil, d.failed(ctx, err)
	}
	var all []*Listed
	for _, t := range tables {
		l := &Listed{Catalog: at.Catalog, Schema: t[0], Name: t[1], View: t[2] != "BASE TABLE"}
		l.Unmarked = l.View || !slices.Contains([]string{"iceberg", "delta_lake", "hive", "tpch", "tpcds"}, connectors[at.Catalog])
		if connector := connectors[at.Catalog]; !total[connector] {
			l.Question = "YOURS TO ANSWER: its connector, " + connector + ", " + partial + ". Are there no such values, and will " +
				"there be none? Then remove the # before trusted: true, without which the table is not read; or store it as Iceberg or " +
				"Delta Lake."
		}
		all = append(all, l)
	}
	if err := d.columns(ctx, all); err != nil {
		return "", nil, d.failed(ctx, err)
	}
	return at.User, all, nil
}

// columns reads the columns and the comments of tables.
func (d *Database) columns(ctx context.Context, all []*Listed) error {
	for _, l := range all {
		rows, err := d.rows(ctx, "SHOW COLUMNS FROM "+l.quoted())
		if trinoSaid(err) {
			continue // such as a view that is broken: it has no column to read
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			l.Columns = append(l.Columns, Column{Name: r[0], Type: r[1], Comment: r[3]})
		}
		nullable, err := d.rows(ctx, "SELECT column_name FROM "+name(l.Catalog)+".information_schema.columns WHERE table_schema = "+
			text(l.Schema)+" AND table_name = "+text(l.Name)+" AND is_nullable = 'NO'")
		if err != nil {
			return err
		}
		for i := range l.Columns {
			l.Columns[i].NotNull = slices.ContainsFunc(nullable, func(r []string) bool { return r[0] == l.Columns[i].Name })
		}
		comment, err := d.rows(ctx, "SELECT comment FROM system.metadata.table_comments WHERE catalog_name = "+text(l.Catalog)+
			" AND schema_name = "+text(l.Schema)+" AND table_name = "+text(l.Name))
		if err != nil && !trinoSaid(err) {
			return err
		}
		if len(comment) > 0 {
			l.Comment = comment[0][0]
		}
	}
	return nil
}

func (l *Listed) quoted() string { return name(l.Catalog) + "." + name(l.Schema) + "." + name(l.Name) }

// Extremes reads the smallest and the largest values of columns, as texts.
func Extremes(ctx context.Context, address string, l *Listed, columns []string) ([][2]string, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	d, err := Of(&policy.Dataset{Name: "to be drafted", Source: address})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var list []string
	for _, c := range columns {
		list = append(list, "CAST(min("+name(c)+") AS varchar)", "CAST(max("+name(c)+") AS varchar)")
	}
	rows, err := d.rows(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+l.quoted())
	if err != nil {
		return nil, d.failed(ctx, err)
	}
	out := make([][2]string, len(columns))
	for i := range columns {
		out[i] = [2]string{rows[0][2*i], rows[0][2*i+1]}
	}
	return out, nil
}
