package generate

import "github.com/discreet-dp/discreet/internal/detrand"

// called is a table in FROM, and what stands before its columns: mostly another name, and sometimes
// its own with the schema, in quotes and with the dataset, as tools write it.
func (q *question) called(table string) (text, before string) {
	if q.d.One(12) && !q.bare[table] {
		if q.bare == nil {
			q.bare = map[string]bool{}
		}
		q.bare[table] = true
		return detrand.Pick(q.d, []string{`"public"."` + table + `"`, "public." + table, table}), detrand.Pick(q.d, []string{
			`"public"."` + table + `"`, "public." + table, table})
	}
	alias := q.name()
	name := table
	if q.d.One(6) {
		name = detrand.Pick(q.d, []string{"public." + table, `"public"."` + table + `"`, "ONLY " + table, "ONLY public." + table,
			`"` + q.dataset.Name + `".public.` + table})
	}
	return name + " AS " + alias, alias
}
