package trinotables

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/source/catalogue"
	"github.com/discreet-dp/discreet/policy"
)

// tableIdentity is a table of a policy, known by its name in a cluster and by its files.
type tableIdentity struct {
	catalogue.TableIdentity
	// behind is the connector of a table that has no files which Trino would name, and where it is:
	// what else has the same rows cannot be seen.
	behind, at string
}

// CheckDistinctTables refuses a policy in which a table has two names. Package policy finds those
// that are spelled alike; here a cluster is known again by the coordinator that its queries are
// named after, under whatever address, and a table by its files, in whatever catalog or cluster.
// What cannot be reached has no other name.
//
// Of tables that are neither in one cluster nor have files it cannot be told. These are the doubts,
// in words for the owner. It reads no row.
func CheckDistinctTables(ctx context.Context, p *policy.Policy) (doubts []string, err error) {
	if !mayOverlap(p) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var all []tableIdentity
	for _, dataset := range p.Names() {
		homes, err := homesOf(ctx, p.Datasets[dataset])
		if err != nil {
			return nil, err
		}
		for _, h := range homes {
			for _, first := range all {
				if err := h.CheckDistinct(first.TableIdentity, "are the same table of one Trino cluster, or have files in "+
					"common"); err != nil {
					return nil, err
				}
				if doubt := h.doubt(first); doubt != "" && !slices.Contains(doubts, doubt) {
					doubts = append(doubts, doubt)
				}
			}
			all = append(all, h)
		}
	}
	return doubts, nil
}

// mayOverlap reports whether there is a table of a cluster, and another one that it could be.
func mayOverlap(p *policy.Policy) bool {
	tables, there := 0, false
	for _, ds := range p.Datasets {
		switch ds.SourceKind() {
		case policy.TrinoDatabase:
			tables, there = tables+len(ds.Tables), true
		case policy.PostgresDatabase:
			tables += len(ds.Tables)
		}
	}
	return there && tables > 1
}

// homesOf finds out what the tables of a dataset are. Tables of a PostgreSQL database can be those
// behind a connector, and are known in no other way.
func homesOf(ctx context.Context, ds *policy.Dataset) (all []tableIdentity, err error) {
	switch ds.SourceKind() {
	case policy.PostgresDatabase:
		for _, name := range ds.TableNames() {
			known := catalogue.TableIdentity{Dataset: ds.Name, Name: name, Public: ds.Tables[name].Public}
			all = append(all, tableIdentity{TableIdentity: known, at: policy.Postgres(ds.Source)})
		}
		return all, nil
	case policy.TrinoDatabase:
	default:
		return nil, nil
	}
	d, err := Of(ds)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	connectors, err := d.cluster.connectors(ctx)
	if err != nil {
		return nil, nil // it is said elsewhere that it cannot be asked
	}
	cluster := d.cluster.at.Coordinator()
	for _, name := range ds.TableNames() {
		t := ds.Tables[name]
		catalog, _, _ := split(t.Relation)
		h := tableIdentity{TableIdentity: catalogue.TableIdentity{Dataset: ds.Name, Name: name, Public: t.Public, Parts: map[string]bool{}}}
		if cluster != "" {
			h.Parts["table "+cluster+" "+t.Relation] = true
		}
		files, known := d.cluster.files(ctx, t.Relation, connectors[catalog])
		for _, f := range files {
			h.Parts["file "+f] = true
		}
		if !known {
			h.behind, h.at = connectors[catalog], cluster+" "+catalog
		}
		all = append(all, h)
	}
	return all, nil
}

// sampledFiles is how many files of a table are looked at: those with the smallest hashes, so that
// two tables with the same files have one of them in common.
const sampledFiles = 20

// files names files of a table, such that no other file has the name; and whether it has any. A
// name is as good where it has a number in it that was drawn for it, and else with the time at
// which it was written.
func (d *connection) files(ctx context.Context, relation, connector string) (all []string, known bool) {
	from := `SELECT DISTINCT "$path" AS p, CAST("$file_modified_time" AT TIME ZONE 'UTC' AS varchar) AS m FROM ` + Quote(relation)
	switch connector {
	case "iceberg":
		from = "SELECT file_path AS p, '' AS m FROM " + beside(relation, "files")
	case "hive", "delta_lake":
	case "tpch", "tpcds":
		return nil, true // there is nobody in them
	default:
		return nil, false
	}
	rows, err := d.rows(ctx, fmt.Sprintf("SELECT p, m FROM (%s) ORDER BY xxhash64(to_utf8(regexp_replace(p, '^s3[an]:', 's3:'))) LIMIT %d",
		from, sampledFiles))
	if err != nil {
		return nil, false // such as a view, which has none
	}
	for _, r := range rows {
		file := schemes.ReplaceAllString(r[0], "s3:")
		switch {
		case drawn.MatchString(path.Base(file)):
			all = append(all, file)
		case r[1] != "":
			all = append(all, file+" "+r[1])
		}
	}
	return all, true
}

// schemes are names of one scheme, and drawn numbers that were drawn for a file.
var (
	schemes = regexp.MustCompile(`^s3[an]:`)
	drawn   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// doubt is what cannot be told of two tables of two datasets: whether they are one, where one is
// behind a connector that names no files, and the other in another database or behind another.
func (h tableIdentity) doubt(first tableIdentity) string {
	if h.Dataset == first.Dataset || h.Public && first.Public || h.at == "" || first.at == "" || h.at == first.at ||
		h.behind == "" && first.behind == "" {
		return ""
	}
	behind := h.behind
	if behind == "" {
		behind = first.behind
	}
	return fmt.Sprintf("the datasets %s and %s: tables are behind the connector %s, and nothing says whether the other dataset has "+
		"the same ones; if it has, their people have two budgets, so put both into one dataset", first.Dataset, h.Dataset,
		strings.TrimSpace(behind))
}
