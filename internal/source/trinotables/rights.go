package trinotables

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Whether the user may change something cannot be asked of every Trino: rules in a file, or of a
// server of their own, are in no table. So it is tried, by statements that change nothing
// whatever the answer is: their access is decided when they are analysed, and they are explained
// and not run; or they are about something that is not there, or is there already, which is
// looked at only when access is decided. Access that is denied has an error of its own.
//
// What is tried is of the kind of what would be done. Trino decides over the rest by the same
// rules.

// attempt is one statement, and what whoever may run it may do.
type attempt struct{ may, sql string }

const unusedName = "discreet asks whether it may"

// attempts are what is tried with a table, and with its schema.
func attempts(r *Relation) []attempt {
	catalog, schema, _ := split(r.Relation)
	in, t, column := name(catalog)+"."+name(schema), Quote(r.Relation), name(r.column())
	const explain = "EXPLAIN (TYPE VALIDATE) "
	table := []attempt{
		{"insert into " + r.Relation, explain + "INSERT INTO " + t + " (" + column + ") VALUES (NULL)"},
		{"delete from " + r.Relation, explain + "DELETE FROM " + t},
		{"update " + r.Relation, explain + "UPDATE " + t + " SET " + column + " = NULL"},
		{"alter " + r.Relation, "ALTER TABLE " + t + " DROP COLUMN " + name(unusedName)},
	}
	if r.View { // into which nothing is written
		table = nil
	}
	return append(table, []attempt{
		{"create tables in " + catalog + "." + schema, explain + "CREATE TABLE " + in + "." + name(unusedName) + " AS SELECT 1 AS a"},
		{"create views in " + catalog + "." + schema, explain + "CREATE VIEW " + in + "." + name(unusedName) + " AS SELECT 1 AS a"},
		{"create schemas in " + catalog, "CREATE SCHEMA " + in},
		{"create catalogs", "CREATE CATALOG " + name(catalog) + " USING memory"},
		{"act as other users", "SET SESSION AUTHORIZATION " + name(unusedName)},
	}...)
}

type rightsChecker struct{ *connection }

// checkRights refuses a user who may do more than read the tables of the policy.
func (d rightsChecker) checkRights(ctx context.Context, all []*Relation) error {
	var tries []attempt
	for _, r := range all {
		for _, a := range attempts(r) {
			if !slices.Contains(tries, a) {
				tries = append(tries, a)
			}
		}
	}
	found, err := d.tryAll(ctx, tries)
	if err != nil {
		return err
	}
	if err := d.checkProperties(ctx); err != nil {
		return err
	}
	if d.dataset.VersionQuery == "" { // which may read other tables
		more, err := d.findOthers(ctx, all)
		if err != nil {
			return err
		}
		found = append(found, more...)
	}
	if len(found) == 0 {
		return nil
	}
	return &Rights{Dataset: d.dataset.Name, User: d.at.User, May: found, relations: all}
}

// checkProperties refuses a user who may not set the properties that statements set for themselves:
// otherwise that would be found out by a question, when it has been paid for. Those that are set
// for every statement were set for this one too.
func (d rightsChecker) checkProperties(ctx context.Context) error {
	_, err := d.rows(ctx, "WITH SESSION "+ByPerson+" SELECT 1")
	switch {
	case err == nil:
		return nil
	case Name(err) != "PERMISSION_DENIED":
		return d.failure(ctx, err)
	}
	return &Refused{"the user that reads the dataset " + d.dataset.Name + " is not allowed to do all that is needed; ask the owner " +
		"to run " +
		"'discreet check', which says what", fmt.Sprintf("the user %s, which reads the dataset %s, may not set the "+
		"session properties that statements need: %s. With access control by a file, put this before the other rules of "+
		"system_session_properties:\n\n"+
		"  {\"user\": %s, \"property\": %s, \"allow\": true}", d.at.User, d.dataset.Name, strings.Join(Properties(), ", "),
		jsonText(regexp.QuoteMeta(d.at.User)), jsonText(strings.Join(Properties(), "|")))}
}

// tryAll returns what the user may do of it, in order. Several are tried at once.
func (d rightsChecker) tryAll(ctx context.Context, tries []attempt) ([]string, error) {
	may := make([]bool, len(tries))
	errs := make([]error, len(tries))
	next := make(chan int)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for i := range next {
				may[i], errs[i] = d.isAllowed(ctx, tries[i].sql)
			}
		})
	}
	for i := range tries {
		next <- i
	}
	close(next)
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, d.failure(ctx, firstOf(errs))
	}
	var found []string
	for i, a := range tries {
		if may[i] {
			found = append(found, a.may)
		}
	}
	return found, nil
}

func firstOf(errs []error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	return errs[i]
}

// isAllowed reports whether access to a statement is not denied. What the store or this version of
// Trino cannot do at all nobody may do.
func (d rightsChecker) isAllowed(ctx context.Context, text string) (bool, error) {
	_, err := d.rows(ctx, text)
	switch said := Name(err); {
	case err == nil:
		return true, nil
	case !trinoSaid(err):
		return false, err
	case said == "PERMISSION_DENIED" || said == "NOT_SUPPORTED" || said == "SYNTAX_ERROR":
		return false, nil
	case slices.Contains([]string{"COLUMN_NOT_FOUND", "SCHEMA_ALREADY_EXISTS", "ALREADY_EXISTS", "CATALOG_NOT_AVAILABLE",
		"TABLE_ALREADY_EXISTS", "TYPE_MISMATCH"}, said):
		return true, nil
	}
	return false, err
}

// trinoSaid reports whether a statement came to an end of its own.
func trinoSaid(err error) bool { return Name(err) != "" }

// maxListedTables is how many tables beyond the policy's are looked at in a catalog.
const maxListedTables = 20

// findOthers finds tables that the user may read and the policy does not name.
func (d rightsChecker) findOthers(ctx context.Context, all []*Relation) ([]string, error) {
	connectors, err := d.connectors(ctx)
	if err != nil {
		return nil, err
	}
	var tries []attempt
	for catalog := range connectors {
		if catalog == "system" {
			continue // it has no data
		}
		named := []string{"table_schema <> 'information_schema'"}
		for _, r := range all {
			if c, schema, table := split(r.Relation); c == catalog {
				named = append(named, "NOT (table_schema = "+text(schema)+" AND table_name = "+text(table)+")")
			}
		}
		rows, err := d.rows(ctx, "SELECT table_schema, table_name FROM "+name(catalog)+".information_schema.tables WHERE "+
			strings.Join(named, " AND ")+fmt.Sprintf(" LIMIT %d", maxListedTables))
		if err != nil {
			return nil, d.failure(ctx, err)
		}
		for _, r := range rows {
			relation := catalog + "." + r[0] + "." + r[1]
			tries = append(tries, attempt{"read " + relation + ", which the policy does not name",
				"EXPLAIN (TYPE VALIDATE) SELECT 1 FROM " + name(catalog) + "." + name(r[0]) + "." + name(r[1])})
		}
	}
	slices.SortFunc(tries, func(a, b attempt) int { return strings.Compare(a.sql, b.sql) })
	return d.tryToRead(ctx, tries)
}

// tryToRead is try for tables of which some cannot be read by anybody.
func (d rightsChecker) tryToRead(ctx context.Context, tries []attempt) ([]string, error) {
	var found []string
	for _, a := range tries {
		switch _, err := d.rows(ctx, a.sql); {
		case err == nil:
			if found = append(found, a.may); len(found) == 3 {
				return append(found, "read more of them"), nil
			}
		case !trinoSaid(err):
			return nil, d.failure(ctx, err)
		}
	}
	return found, nil
}

// Rights says that the user may do more than it should.
type Rights struct {
	Dataset, User string
	May           []string
	relations     []*Relation
}

func (e *Rights) Error() string {
	return "the user that reads the dataset " + e.Dataset + " may do more than read it; ask the owner to run 'discreet check', which " +
		"says what"
}

// Explain says what it may do, and what to write so that it may not.
func (e *Rights) Explain() string {
	return fmt.Sprintf("the user %s, which reads the dataset %s, must be able to read the tables of the policy and nothing else, "+
		"but it may %s. %s", e.User, e.Dataset, strings.Join(e.May, "; it may "), Advice(e.User, relationsOf(e.relations)))
}

func relationsOf(all []*Relation) []string {
	var out []string
	for _, r := range all {
		out = append(out, r.Relation)
	}
	return out
}

// Advice says which rules let a user read tables and nothing else, for access control by a file;
// and which grants, for one that has them.
func Advice(user string, relations []string) string {
	type schemaName struct{ catalog, schema string }
	var schemas []schemaName
	tables := map[schemaName][]string{}
	var catalogs, grants []string
	for _, r := range relations {
		catalog, schema, table := split(r)
		p := schemaName{catalog, schema}
		if !slices.Contains(schemas, p) {
			schemas = append(schemas, p)
		}
		tables[p] = append(tables[p], regexp.QuoteMeta(table))
		if !slices.Contains(catalogs, regexp.QuoteMeta(catalog)) {
			catalogs = append(catalogs, regexp.QuoteMeta(catalog))
		}
		grants = append(grants, fmt.Sprintf("  GRANT SELECT ON %s TO USER %s;", Quote(r), name(user)))
	}
	who := jsonText(regexp.QuoteMeta(user))
	var b strings.Builder
	b.WriteString("With access control by a file (access-control.name=file), put these before the other rules of each list, and " +
		"leave none out; Trino reads them when it starts, or every security.refresh-period if that is set:\n\n")
	fmt.Fprintf(&b, "  \"catalogs\": [{\"user\": %s, \"catalog\": %s, \"allow\": \"read-only\"}, {\"user\": %s, \"allow\": "+
		"\"none\"}],\n", who,
		jsonText("system|"+strings.Join(catalogs, "|")), who)
	fmt.Fprintf(&b, "  \"schemas\": [{\"user\": %s, \"owner\": false}],\n  \"tables\": [\n", who)
	for _, p := range schemas {
		fmt.Fprintf(&b, "    {\"user\": %s, \"catalog\": %s, \"schema\": %s, \"table\": %s, \"privileges\": [\"SELECT\"]},\n", who,
			jsonText(regexp.QuoteMeta(p.catalog)), jsonText(regexp.QuoteMeta(p.schema)),
			jsonText("("+strings.Join(tables[p], "|")+`)(\$.*)?`))
	}
	fmt.Fprintf(&b, "    {\"user\": %s, \"catalog\": \"system\", \"schema\": \"metadata\", \"privileges\": [\"SELECT\"]},\n", who)
	fmt.Fprintf(&b, "    {\"user\": %s, \"privileges\": []}],\n", who)
	fmt.Fprintf(&b, "  \"functions\": [{\"user\": %s, \"privileges\": []}],\n  \"procedures\": [{\"user\": %s, \"privileges\": []}],\n",
		who, who)
	fmt.Fprintf(&b, "  \"queries\": [{\"user\": %s, \"allow\": [\"execute\"]}],\n", who)
	fmt.Fprintf(&b, "  \"impersonation\": [{\"original_user\": %s, \"new_user\": \".*\", \"allow\": false}]\n\n", who)
	b.WriteString("If the catalog has its own grants, take away the existing ones and run\n\n" + strings.Join(grants, "\n"))
	return b.String()
}

func jsonText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
