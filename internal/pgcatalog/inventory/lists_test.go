package inventory

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/discreet-dp/discreet/internal/test/testpg"
)

// The lists are made of two servers, the oldest and the newest PostgreSQL that they are about:
//
//	go test ./internal/pgcatalog/inventory -run TestLists -rewrite -oldest URL -newest URL
var (
	rewrite = flag.Bool("rewrite", false, "write the lists anew, from -oldest and -newest")
	oldest  = flag.String("oldest", "", "the address of a PostgreSQL 15")
	newest  = flag.String("newest", "", "the address of a PostgreSQL 18")
)

const typeName = `CASE WHEN t.typcategory = 'A' AND t.typname LIKE '\_%'
  THEN (SELECT typname FROM pg_type e WHERE e.oid = t.typelem) || '[]' ELSE t.typname END`

// queries make the lines of each list, without the versions.
var queries = map[string]string{
	"functions.tsv": `SELECT p.proname, coalesce((SELECT string_agg(
    CASE WHEN p.provariadic <> 0 AND u.i = p.pronargs
      THEN '...' || (SELECT ` + typeName + ` FROM pg_type t WHERE t.oid = p.provariadic) ELSE ` + typeName + ` END
      || CASE WHEN u.i > p.pronargs - p.pronargdefaults THEN '=' ELSE '' END, ',' ORDER BY u.i)
    FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY u(t, i) JOIN pg_type t ON t.oid = u.t), ''),
  (SELECT ` + typeName + ` FROM pg_type t WHERE t.oid = p.prorettype),
  p.prokind::text || p.provolatile::text || CASE WHEN p.proisstrict THEN '!' ELSE '' END || CASE WHEN p.proretset THEN '*' ELSE '' END
  FROM pg_proc p WHERE p.pronamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`,
	"operators.tsv": `SELECT o.oprname,
  coalesce((SELECT ` + typeName + ` FROM pg_type t WHERE t.oid = o.oprleft), ''),
  (SELECT ` + typeName + ` FROM pg_type t WHERE t.oid = o.oprright),
  (SELECT ` + typeName + ` FROM pg_type t WHERE t.oid = o.oprresult), p.proname
  FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode`,
	"settings.tsv": `SELECT name, coalesce(boot_val, ''), coalesce(unit, ''), vartype, context, coalesce(min_val, ''), coalesce(max_val, ''),
  coalesce(array_to_string(enumvals, ','), ''), category, short_desc FROM pg_settings WHERE name NOT LIKE '%.%'`,
}

// lines asks a server for the lines of a list.
func lines(t *testing.T, url, query string) []string {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	results, err := conn.Exec(t.Context(), query).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, row := range results[0].Rows {
		var fields []string
		for _, v := range row {
			fields = append(fields, string(v))
		}
		out = append(out, strings.Join(fields, "\t"))
	}
	return out
}

// merge says of each line which servers have it: both, or one of them. Two lines are of the same
// thing where they have the same key; the older one is kept.
func merge(old, latest []string, key func(line string) string) []string {
	kept, in := map[string]string{}, map[string]int{}
	for i, lines := range [][]string{latest, old} {
		for _, line := range lines {
			kept[key(line)] = line
			in[key(line)] |= 2 >> i
		}
	}
	var out []string
	for k, line := range kept {
		out = append(out, line+"\t"+[]string{1: "15", 2: "18", 3: "15-18"}[in[k]])
	}
	slices.Sort(out)
	return out
}

// made are the servers that the lists were made of. Later minor versions may have more.
var made = map[string]string{"15": "150020", "18": "180004"}

// TestLists: what a PostgreSQL has is in the lists, and what they say that it has it has.
func TestLists(t *testing.T) {
	if *rewrite {
		for name, query := range queries {
			key := func(line string) string { return line }
			if name == "settings.tsv" {
				key = firstField
			}
			all := merge(lines(t, *oldest, query), lines(t, *newest, query), key)
			if err := os.WriteFile(name, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	url := testpg.Shared(t).URL()
	number := lines(t, url, "SHOW server_version_num")[0]
	version := number[:2]
	if made[version] == "" {
		t.Skipf("the lists are of PostgreSQL 15 and 18, and %s is installed", version)
	}
	for name, query := range queries {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var listed []string
		for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
			fields, versions := cutLast(line)
			if strings.Contains(versions, version) {
				listed = append(listed, fields)
			}
		}
		there := lines(t, url, query)
		if name == "settings.tsv" { // their values depend on how a server was built
			listed, there = firstFields(listed), firstFields(there)
		}
		for _, line := range there {
			if !slices.Contains(listed, line) && number <= made[version] {
				t.Errorf("%s has no %s", name, line)
			}
		}
		for _, line := range listed {
			if !slices.Contains(there, line) && number >= made[version] {
				t.Errorf("%s has %s, and PostgreSQL %s has not", name, line, version)
			}
		}
	}
}

func cutLast(line string) (rest, last string) {
	i := strings.LastIndexByte(line, '\t')
	return line[:i], line[i+1:]
}

func firstField(line string) string {
	first, _, _ := strings.Cut(line, "\t")
	return first
}

func firstFields(all []string) (out []string) {
	for _, line := range all {
		out = append(out, firstField(line))
	}
	return out
}
