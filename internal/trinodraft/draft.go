// Package trinodraft drafts a policy from what a Trino cluster says about its tables: types,
// columns that are never NULL, and comments. Trino knows neither keys nor references nor checks,
// so whose rows are is guessed by the names of columns, with a question mark; bounds and keys are
// the owner's to say. No row is read, unless the owner asks for bounds that are taken from the
// data.
package trinodraft

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/address"
	"github.com/discreet-dp/discreet/internal/pgdraft"
	"github.com/discreet-dp/discreet/internal/pgtables"
	"github.com/discreet-dp/discreet/internal/trinotables"
	"github.com/discreet-dp/discreet/policy"
)

// Draft drafts a policy from the catalogue of an address.
func Draft(ctx context.Context, text string, opt pgdraft.Options) (*pgdraft.Drafted, error) {
	at, err := address.ParseTrino(text)
	if err != nil {
		return nil, fmt.Errorf("the address %w", err)
	}
	user, all, err := trinotables.List(ctx, text, opt.Schemas)
	if err != nil {
		return nil, trinotables.Explained(err)
	}
	found := &pgtables.Catalogue{Role: user}
	listed := map[string]*trinotables.Listed{}
	for _, l := range all {
		t := told(l)
		listed[t.Relation()] = l
		found.Tables = append(found.Tables, t)
	}
	from := &pgdraft.Store{Address: text, Where: at.Where(), Dataset: at.Schema, Home: at.Catalog + "." + at.Schema, Unreferenced: true,
		Unmarked: func(relation string) bool { return listed[relation].Unmarked },
		Question: func(relation string) string { return listed[relation].Question },
		Spelt: func(schema, table string) string {
			catalog, name, _ := strings.Cut(schema, ".")
			return policy.CheckTrinoRelation(catalog, name, table)
		},
		Extremes: func(ctx context.Context, l *pgtables.Listed, columns []pgtables.ListedColumn) ([][2]string, error) {
			var names []string
			for _, c := range columns {
				names = append(names, c.Name)
			}
			return trinotables.Extremes(ctx, text, listed[l.Relation()], names)
		},
		Rights: func(line func(string, ...any), ds *policy.Dataset) {
			line("TO DO ON THE CLUSTER: the user %s may read these tables, and nothing else. A user that may do", user)
			line("more is refused; 'discreet check' says what.")
			line("")
			var relations []string
			for _, name := range ds.TableNames() {
				relations = append(relations, ds.Tables[name].Relation)
			}
			for _, text := range strings.Split(trinotables.Advice(user, relations), "\n") {
				line("%s", text)
			}
		}}
	return pgdraft.From(ctx, found, from, opt)
}

// told is a table in the words of a catalogue that is drafted from.
func told(l *trinotables.Listed) *pgtables.Listed {
	t := &pgtables.Listed{Schema: l.Catalog + "." + l.Schema, Name: l.Name, Comment: l.Comment}
	if l.View {
		t.Kind = "a view"
	}
	for _, c := range l.Columns {
		t.Columns = append(t.Columns, pgtables.ListedColumn{Column: column(c), Comment: c.Comment})
	}
	return t
}

// kinds are what values are, by the beginning of their type's name.
var kinds = map[string]pgtables.Kind{"boolean": pgtables.Boolean, "tinyint": pgtables.Int16, "smallint": pgtables.Int16,
	"integer": pgtables.Int32, "bigint": pgtables.Int64, "real": pgtables.Float32, "double": pgtables.Float64, "varchar": pgtables.Text,
	"char": pgtables.Padded, "uuid": pgtables.UUID, "date": pgtables.Date, "timestamp": pgtables.Timestamp,
	"timestamp with time zone": pgtables.TimestampTZ, "decimal": pgtables.Decimal}

var spelt = regexp.MustCompile(`^([a-z ]+?)(?:\((\d+)(?:, ?(\d+))?\))?((?: with time zone)?)$`)

// column is a column in the words of a catalogue that is drafted from.
func column(c trinotables.Column) pgtables.Column {
	out := pgtables.Column{Name: c.Name, Type: c.Type, NotNull: c.NotNull}
	parts := spelt.FindStringSubmatch(c.Type)
	if parts == nil {
		return out
	}
	out.Kind = kinds[parts[1]+parts[4]]
	if out.Kind == pgtables.Decimal {
		out.Precision, _ = strconv.Atoi(parts[2])
		out.Scale, _ = strconv.Atoi(parts[3])
	}
	return out
}
