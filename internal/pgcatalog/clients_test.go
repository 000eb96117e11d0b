package pgcatalog

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/interpret"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// recorded is a query that a client sends.
type recorded struct {
	name string // folder/file#number
	sql  string
}

// clients reads testdata/clients. In a file, queries are separated by lines of ;; and lines of --
// at the beginning say where they are from.
func clients(t testing.TB) []recorded {
	t.Helper()
	folder := "testdata/clients"
	if other := os.Getenv("DISCREET_CATALOG_QUERIES"); other != "" {
		folder = other // of somebody who has recorded more
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recorded queries: %v", err)
	}
	var out []recorded
	for _, f := range files {
		text, err := os.ReadFile(f)
		must(t, err)
		n := 0
		for part := range strings.SplitSeq(string(text), "\n;;") {
			if sql := strings.TrimSpace(withoutComments(part)); sql != "" {
				n++
				name := strings.TrimSuffix(strings.TrimPrefix(f, folder+"/"), ".sql")
				out = append(out, recorded{name + "#" + oid.Format(uint32(n)), sql})
			}
		}
	}
	return out
}

func withoutComments(s string) string {
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if len(lines) == 0 && (strings.HasPrefix(line, "--") || strings.TrimSpace(line) == "") {
			continue
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

var placeholder = regexp.MustCompile(`@([A-Za-z_ ]+)@`)

// fill puts OIDs for @table@.
func fill(sql string, oid func(name string) string) string {
	return placeholder.ReplaceAllStringFunc(sql, func(s string) string { return oid(strings.Trim(s, "@")) })
}

func ourOID(t testing.TB, c *Catalog) func(string) string {
	return func(name string) string {
		o, ok := c.db.relationOID([]string{name})
		if !ok {
			t.Fatalf("no relation %s", name)
		}
		return oid.Format(o)
	}
}

// arguments are the values for the parameters of recorded queries.
func arguments(types []uint32) []datum.Value {
	var out []datum.Value
	for _, p := range types {
		switch {
		case oid.Elem(p) != 0:
			out = append(out, datum.Texts("public"))
		case oid.KindOf(p) == oid.KindInt:
			out = append(out, datum.Int(firstTable))
		case oid.KindOf(p) == oid.KindBool:
			out = append(out, datum.True)
		default:
			out = append(out, datum.Text("public"))
		}
	}
	return out
}

var rewrite = flag.Bool("rewrite", false, "write testdata/clients.sum anew")

// TestClients runs everything that clients are known to ask, and describes it first. A quarter of
// what a query may take is enough. The answers are those that testdata/clients.sum has the sums of.
func TestClients(t *testing.T) {
	const file = "testdata/clients.sum"
	before, err := os.ReadFile(file)
	must(t, err)
	var sums strings.Builder
	defer func() {
		if *rewrite {
			if err := os.WriteFile(file, []byte(sums.String()), 0o644); err != nil {
				t.Error(err)
			}
		}
	}()
	for _, q := range clients(t) {
		t.Run(q.name, func(t *testing.T) {
			c := testCatalog(t)
			c.limits = interpret.Limits{Steps: maxSteps / 4, Bytes: maxBytes / 4}
			sql := fill(q.sql, ourOID(t, c))
			if !about(c, sql) {
				t.Errorf("is not about the catalogue:\n%s", sql)
			}
			params, cols, err := c.Describe(sql, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, sql)
			}
			res, err := c.Query(context.Background(), sql, nil, arguments(params))
			if err != nil {
				t.Fatalf("%v\n%s", err, sql)
			}
			if !slices.Equal(cols, res.Columns) {
				t.Errorf("described %v, got %v", cols, res.Columns)
			}
			h := sha256.New()
			fmt.Fprintf(h, "%v %v\n%v\n", params, cols, res.Columns)
			for _, row := range res.Rows {
				fmt.Fprintf(h, "%#v\n", row)
			}
			sum := fmt.Sprintf("%s %x\n", q.name, h.Sum(nil)[:8])
			sums.WriteString(sum)
			if !*rewrite && !strings.Contains(string(before), sum) && os.Getenv("DISCREET_CATALOG_QUERIES") == "" {
				t.Errorf("another answer than %s has the sum of (go test -rewrite writes it anew)", file)
			}
		})
	}
}

func about(c *Catalog, sql string) bool {
	s, err := interpret.Parse(sql)
	return err == nil && c.About(s)
}

// Tables of the policy, alone or beside the catalogue's, are for questions.
func TestNotAboutTheCatalogue(t *testing.T) {
	c := testCatalog(t)
	for sql, want := range map[string]bool{
		"SELECT 1": true, "SELECT * FROM pg_class": true, "SELECT * FROM pg_catalog.nothing": true,
		"SELECT count(*) FROM patients": false, "SELECT count(*) FROM pg_class, patients": false,
		"SELECT (SELECT count(*) FROM patients) FROM pg_class": false,
		"SELECT 1 WHERE EXISTS (SELECT 1 FROM patients)":       false, "WITH p AS (SELECT 1) SELECT * FROM p": true,
		"WITH p AS (SELECT * FROM patients) SELECT * FROM p": false, "SELECT * FROM nothing": false,
	} {
		if about(c, sql) != want {
			t.Errorf("%s: %v", sql, !want)
		}
	}
}
