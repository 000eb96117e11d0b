package trinotables

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Rights says that the user may do more than it should.
type Rights struct {
	Dataset, User string
	May           []string
	relations     []*Relation
}

func (e *Rights) Error() string {
	return "the user with whom the dataset " + e.Dataset + " is read may do more than that; ask the owner to run 'discreet check', which " +
		"says what"
}

// Explain says what it may do, and what to write so that it may not.
func (e *Rights) Explain() string {
	return fmt.Sprintf("the user %s, with which the dataset %s is read, has to read the tables of the policy and nothing else, and it may "+
		"%s. %s", e.User, e.Dataset, strings.Join(e.May, "; it may "), Advice(e.User, relationsOf(e.relations)))
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
	type place struct{ catalog, schema string }
	var places []place
	tables := map[place][]string{}
	var catalogs, grants []string
	for _, r := range relations {
		catalog, schema, table := split(r)
		p := place{catalog, schema}
		if !slices.Contains(places, p) {
			places = append(places, p)
		}
		tables[p] = append(tables[p], regexp.QuoteMeta(table))
		if !slices.Contains(catalogs, regexp.QuoteMeta(catalog)) {
			catalogs = append(catalogs, regexp.QuoteMeta(catalog))
		}
		grants = append(grants, fmt.Sprintf("  GRANT SELECT ON %s TO USER %s;", Quote(r), name(user)))
	}
	who := jsonText(regexp.QuoteMeta(user))
	var b strings.Builder
	b.WriteString("With access control by a file (access-control.name=file) put these before the other rules of each list, where none " +
		"may be missing; Trino reads them when it starts, or every security.refresh-period where that is set:\n\n")
	fmt.Fprintf(&b, "  \"catalogs\": [{\"user\": %s, \"catalog\": %s, \"allow\": \"read-only\"}, {\"user\": %s, \"allow\": "+
		"\"none\"}],\n", who,
		jsonText("system|"+strings.Join(catalogs, "|")), who)
	fmt.Fprintf(&b, "  \"schemas\": [{\"user\": %s, \"owner\": false}],\n  \"tables\": [\n", who)
	for _, p := range places {
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
	b.WriteString("Where the catalog has grants of its own, take away what there is and run\n\n" + strings.Join(grants, "\n"))
	return b.String()
}

func jsonText(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
