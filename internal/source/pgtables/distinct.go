package pgtables

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/internal/source/pgdial"
	"github.com/discreet-dp/discreet/policy"
)

// CheckDistinctTables refuses a policy in which a table has two names. Package policy finds those
// that are spelled alike; here the servers are asked who they are, so that no other name or address
// of one hides it, nor a standby, nor a partition. What cannot be reached has no other name; what a
// view hides is the owner's to avoid. It reads no row.
func CheckDistinctTables(ctx context.Context, p *policy.Policy) error {
	var databases []*Database
	for _, name := range p.Names() {
		if ds := p.Datasets[name]; ds.SourceKind() == policy.PostgresDatabase {
			d, err := Of(ds)
			if err != nil {
				return err
			}
			databases = append(databases, d)
		}
	}
	if len(databases) == 0 || len(databases) == 1 && len(databases[0].dataset.Tables) == 1 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var all []catalogue.TableIdentity
	for _, d := range databases {
		homes, err := d.homes(ctx)
		if err != nil {
			continue
		}
		for _, h := range homes {
			for _, first := range all {
				if err := h.CheckDistinct(first, "are the same table of one PostgreSQL database, or one is part of the other"); err != nil {
					return err
				}
			}
			all = append(all, h)
		}
	}
	return nil
}

// homes finds out what the tables of a dataset are in whatever database: the cluster, the database,
// and the table or one of its partitions.
func (d *Database) homes(ctx context.Context) (all []catalogue.TableIdentity, err error) {
	c, tx, err := d.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer pgdial.HangUp(c)
	cluster, number := d.String(), int64(0)
	var may bool
	const ask = "SELECT has_function_privilege('pg_control_system()', 'EXECUTE')"
	if err := tx.QueryRow(ctx, ask).Scan(&may); err != nil {
		return nil, err
	}
	if may {
		const who = "SELECT system_identifier::text FROM pg_control_system()"
		if err := tx.QueryRow(ctx, who).Scan(&cluster); err != nil {
			return nil, err
		}
	}
	const which = "SELECT oid::bigint FROM pg_database WHERE datname = current_database()"
	if err := tx.QueryRow(ctx, which).Scan(&number); err != nil {
		return nil, err
	}
	for _, name := range d.dataset.TableNames() {
		t := d.dataset.Tables[name]
		h := catalogue.TableIdentity{Dataset: d.dataset.Name, Name: name, Public: t.Public, Parts: map[string]bool{}}
		schema, table, _ := strings.Cut(t.Relation, ".")
		const find = "SELECT c.oid::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND " +
			"c.relname = $2"
		var oid int64
		if err := tx.QueryRow(ctx, find, schema, table).Scan(&oid); err != nil {
			continue // it is said elsewhere that there is none
		}
		rows, err := tx.Query(ctx, parts+"SELECT oid::bigint FROM part", []int64{oid})
		if err != nil {
			return nil, err
		}
		oids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return nil, err
		}
		for _, part := range oids {
			h.Parts[fmt.Sprint(cluster, " ", number, " ", part)] = true
		}
		all = append(all, h)
	}
	return all, nil
}

// bearer is a column that says whose a row is, or which row of another table it belongs to.
type bearer struct{ table, column string }

// checkBlanks refuses two columns that say who somebody is where blanks at the end are a part of
// the one and not of the other: PostgreSQL takes 'ann' and 'ann ' for one person or for two as it
// comes, and in the copy they are two, who are protected as two.
func (d *Database) checkBlanks(all []*Relation) error {
	kinds := map[bearer]Column{}
	for _, r := range all {
		for i, name := range Needed(d.dataset, r.Table) { // as the policy spells it
			kinds[bearer{r.Name, name}] = r.Columns[i]
		}
	}
	pair := func(a, b bearer) error {
		x, y := kinds[a], kinds[b]
		padded := x.Kind == catalogue.Padded || y.Kind == catalogue.Padded
		if x.Kind == y.Kind || !padded || x.Kind != catalogue.Text && y.Kind != catalogue.Text {
			return nil
		}
		return fmt.Errorf("the columns %s.%s and %s.%s identify a person, but they are a %s and a %s, and only one of these keeps "+
			"blanks at the end: one person would be two; make both a text, or cast one of them in a view, and write trusted: true", a.table,
			a.column, b.table, b.column, x.Type, y.Type)
	}
	for _, r := range all {
		if r.UnitColumn != "" {
			if err := pair(bearer{d.dataset.Unit.Table, d.dataset.Unit.Column}, bearer{r.Name, r.UnitColumn}); err != nil {
				return err
			}
		}
		if len(r.Path) > 0 {
			step := r.Path[0]
			if err := pair(bearer{step.Table, step.Key}, bearer{r.Name, step.Column}); err != nil {
				return err
			}
		}
	}
	return nil
}
