package trinotables

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/policy"
)

// List reads what the user sees in the schema of an address, or in the schemas that are named, or
// in all of the catalog.
func List(ctx context.Context, address string, schemas []string) (*catalogue.Catalogue, error) {
	d, err := Of(&policy.Dataset{Name: "to be drafted", Source: address})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	at := d.cluster.at
	if len(schemas) == 0 && at.Schema != "" {
		schemas = []string{at.Schema}
	}
	connectors, err := d.cluster.connectors(ctx)
	if err != nil {
		return nil, err
	}
	if connectors[at.Catalog] == "" {
		return nil, fmt.Errorf("there is no catalog %s in the Trino cluster %s, or the user %s may not see it", at.Catalog, at, at.User)
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
	tables, err := d.cluster.rows(ctx, "SELECT table_schema, table_name, table_type FROM "+in+"tables WHERE "+where+" ORDER BY 1, 2")
	if err != nil {
		return nil, d.cluster.failure(ctx, err)
	}
	out := &catalogue.Catalogue{Role: at.User}
	for _, t := range tables {
		l := &catalogue.Table{Schema: at.Catalog + "." + t[0], Name: t[1]}
		if t[2] != "BASE TABLE" {
			l.Kind = "a view"
		}
		l.Unmarked = l.Kind != "" || !slices.Contains([]string{"iceberg", "delta_lake", "hive", "tpch", "tpcds"}, connectors[at.Catalog])
		if connector := connectors[at.Catalog]; !typedConnectors[connector] {
			l.Question = "YOURS TO ANSWER: its connector, " + connector + ", " + partial + ". Are there no such values, and will " +
				"there be none? Then remove the # before trusted: true, without which the table is not read; or store it as Iceberg or " +
				"Delta Lake."
		}
		out.Tables = append(out.Tables, l)
	}
	if err := d.cluster.addColumns(ctx, out.Tables); err != nil {
		return nil, d.cluster.failure(ctx, err)
	}
	return out, nil
}

// addColumns reads the columns and the comments of tables.
func (d *connection) addColumns(ctx context.Context, all []*catalogue.Table) error {
	for _, l := range all {
		catalog, schema, _ := strings.Cut(l.Schema, ".")
		rows, err := d.rows(ctx, "SHOW COLUMNS FROM "+quoted(l))
		if trinoSaid(err) {
			continue // such as a view that is broken: it has no column to read
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			l.Columns = append(l.Columns, listedColumn(r[0], r[1], r[3]))
		}
		nullable, err := d.rows(ctx, "SELECT column_name FROM "+name(catalog)+".information_schema.columns WHERE table_schema = "+
			text(schema)+" AND table_name = "+text(l.Name)+" AND is_nullable = 'NO'")
		if err != nil {
			return err
		}
		for i := range l.Columns {
			l.Columns[i].NotNull = slices.ContainsFunc(nullable, func(r []string) bool { return r[0] == l.Columns[i].Name })
		}
		comment, err := d.rows(ctx, "SELECT comment FROM system.metadata.table_comments WHERE catalog_name = "+text(catalog)+
			" AND schema_name = "+text(schema)+" AND table_name = "+text(l.Name))
		if err != nil && !trinoSaid(err) {
			return err
		}
		if len(comment) > 0 {
			l.Comment = comment[0][0]
		}
	}
	return nil
}

func quoted(t *catalogue.Table) string {
	catalog, schema, _ := strings.Cut(t.Schema, ".")
	return name(catalog) + "." + name(schema) + "." + name(t.Name)
}

// kinds are what values are, by the beginning of their type's name.
var kinds = map[string]catalogue.Kind{"boolean": catalogue.Boolean, "tinyint": catalogue.Int16, "smallint": catalogue.Int16,
	"integer": catalogue.Int32, "bigint": catalogue.Int64, "real": catalogue.Float32, "double": catalogue.Float64,
	"varchar": catalogue.Text, "char": catalogue.Padded, "uuid": catalogue.UUID, "date": catalogue.Date,
	"timestamp": catalogue.Timestamp, "timestamp with time zone": catalogue.TimestampTZ, "decimal": catalogue.Decimal}

var typeForm = regexp.MustCompile(`^([a-z ]+?)(?:\((\d+)(?:, ?(\d+))?\))?((?: with time zone)?)$`)

func listedColumn(name, typ, comment string) catalogue.Column {
	out := catalogue.Column{Name: name, Type: typ, Comment: comment}
	parts := typeForm.FindStringSubmatch(typ)
	if parts == nil {
		return out
	}
	out.Kind = kinds[parts[1]+parts[4]]
	if out.Kind == catalogue.Decimal {
		out.Precision, _ = strconv.Atoi(parts[2])
		out.Scale, _ = strconv.Atoi(parts[3])
	}
	return out
}

// Extremes reads the smallest and the largest values of columns, as texts.
func Extremes(ctx context.Context, address string, t *catalogue.Table, columns []catalogue.Column) ([][2]string, error) {
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
		list = append(list, "CAST(min("+name(c.Name)+") AS varchar)", "CAST(max("+name(c.Name)+") AS varchar)")
	}
	rows, err := d.cluster.rows(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+quoted(t))
	if err != nil {
		return nil, d.cluster.failure(ctx, err)
	}
	out := make([][2]string, len(columns))
	for i := range columns {
		out[i] = [2]string{rows[0][2*i], rows[0][2*i+1]}
	}
	return out, nil
}
