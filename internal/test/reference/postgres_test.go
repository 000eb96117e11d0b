package reference

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/expr"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// world is the shop with data that is as its policy says, here and in PostgreSQL.
func world(t *testing.T) (*policy.Dataset, *Engine, *pgx.Conn) {
	t.Helper()
	server := testpg.Shared(t)
	ds, tables := shop()
	for _, table := range ds.Tables {
		table.MaxRows, table.MaxGroups = 50, 50
	}
	ds.Tables["people"].MaxRows, ds.Tables["people"].MaxGroups = 1, 1
	ds.Tables["people"].Columns["age"].Nullable = false
	ds.Tables["orders"].Columns["city"].Keys = policy.PublicKeys
	for _, city := range []string{"x", "y", "F-M"} {
		ds.Tables["orders"].Columns["city"].KeyValues = append(ds.Tables["orders"].Columns["city"].KeyValues,
			policy.Value{Type: policy.Text, Text: city})
	}
	tables["people"] = Table{[]string{"pid", "age", "sex"}, [][]any{{int64(1), int64(30), "F"}, {int64(2), int64(90), "M"},
		{int64(3), int64(0), nil}, {int64(4), int64(50), "F"}}}
	tables["orders"] = Table{[]string{"pid", "oid", "total", "city"}, [][]any{
		{int64(1), int64(10), int64(20), "x"}, {int64(1), int64(11), int64(50), "x"}, {int64(1), int64(12), int64(1), "y"},
		{int64(2), int64(20), int64(4), nil}, {int64(4), int64(40), nil, "F-M"}}}
	tables["items"] = Table{[]string{"oid", "price", "kind"}, [][]any{{int64(10), int64(4), int64(1)}, {int64(10), int64(4), int64(2)},
		{int64(11), int64(-5), int64(1)}, {int64(20), int64(9), nil}, {int64(40), nil, int64(1)}}}
	tables["kinds"] = Table{[]string{"kind", "name"}, [][]any{{int64(1), "pen"}, {int64(2), "ink"}, {int64(3), "cap"},
		{int64(4), nil}, {nil, "gap"}}}
	statements := []string{"CREATE TABLE people (pid bigint, age bigint NOT NULL, sex text)",
		"CREATE TABLE orders (pid bigint, oid bigint, total bigint, city text)",
		"CREATE TABLE items (oid bigint, price bigint, kind bigint)", "CREATE TABLE kinds (kind bigint, name text)",
		"GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + testpg.Reader}
	for name, table := range tables {
		for _, row := range table.Rows {
			values := make([]string, len(row))
			for i, v := range row {
				switch v := v.(type) {
				case nil:
					values[i] = "NULL"
				case string:
					values[i] = tree.Quote(v)
				default:
					values[i] = fmt.Sprint(v)
				}
			}
			statements = append(statements, "INSERT INTO "+name+" VALUES ("+strings.Join(values, ", ")+")")
		}
	}
	c, err := pgx.Connect(context.Background(), server.Database(t, "meaning", statements...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return ds, New(ds, tables), c
}

// exact are the rows of an answer without noise, of keys, counts and sums.
func exact(t *testing.T, ds *policy.Dataset, e *Engine, text string) []string {
	t.Helper()
	s, err := planner.Prepare(ds, text, planner.Options{Public: e.Public()})
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	p := s.Plans[0]
	r, err := e.Run(t.Context(), &p.Query)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for g := range p.Query.Groups() {
		var row []string
		for _, o := range p.Columns {
			v := expr.Eval(o.Expr, func(x tree.Expr) tree.Value {
				stat := p.Stats[x.(*tree.Released).Stat]
				if stat.Kind == tree.KeyStat {
					return expr.FromKey(p.Query.Group(g)[stat.Key], stat.Typ)
				}
				return big.NewInt(r.Measures[stat.Measure].Open()[g])
			})
			row = append(row, strings.ReplaceAll(fmt.Sprint(v), "<nil>", "NULL"))
		}
		out = append(out, strings.Join(row, "|"))
	}
	return out
}

// asked is the same from PostgreSQL.
func asked(t *testing.T, c *pgx.Conn, text string) (out []string) {
	t.Helper()
	results, err := c.PgConn().Exec(context.Background(), text).ReadAll()
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	for _, row := range results[0].Rows {
		var values []string
		for _, v := range row {
			if v == nil {
				values = append(values, "NULL")
				continue
			}
			values = append(values, string(v))
		}
		out = append(out, strings.Join(values, "|"))
	}
	return out
}

// TestSpellingsMean: however a question is spelled, it means what it means in PostgreSQL. Groups of
// public keys that the data does not have are there with zeros; where whole says so, PostgreSQL has
// all of them too.
func TestSpellingsMean(t *testing.T) {
	ds, e, c := world(t)
	for _, q := range []struct {
		text  string
		whole bool
	}{
		{text: "SELECT COUNT(CASE WHEN age > 30 THEN pid END), COUNT(DISTINCT CASE WHEN age < 60 THEN pid END) FROM people"},
		{text: "SELECT COUNT(CASE WHEN total > 3 THEN pid ELSE NULL END), COUNT(DISTINCT CASE city WHEN 'x' THEN pid END) FROM orders"},
		{text: "SELECT COUNT(CASE WHEN total > 3 THEN NULL ELSE pid END), COUNT(CASE WHEN city = 'x' THEN total END) FROM orders"},
		{text: "SELECT COUNT(CASE WHEN total > 3 THEN 1 END) FILTER (WHERE city ~~ 'x%'), COUNT(DISTINCT CASE " +
			"WHEN total > 3 THEN city END) FROM orders"},
		{text: "SELECT COUNT(*) FROM orders WHERE city ~~ 'F%' OR city ~~* 'X'"},
		{text: "SELECT COUNT(*) FROM orders WHERE city !~~ 'F%' AND city OPERATOR(pg_catalog.!~~*) 'Y' AND " +
			"total OPERATOR(pg_catalog.<=) 20"},
		{text: "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.pid = p.pid AND total > 2 LIMIT 1)"},
		{text: "SELECT COUNT(*) FROM people p WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.pid = p.pid LIMIT 3 OFFSET 0)"},
		{text: "SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.pid = p.pid ORDER " +
			"BY total FETCH FIRST ROW ONLY)"},
		{text: "SELECT COUNT(*) FROM people WHERE pid = ANY (SELECT pid FROM orders WHERE total > 2)"},
		{text: "SELECT COUNT(*) FROM people WHERE pid <> ALL (SELECT pid FROM orders)"},
		{text: "SELECT COUNT(*) FROM people WHERE NOT (pid = SOME (SELECT pid FROM orders GROUP BY pid HAVING COUNT(*) > 1))"},
		{text: "SELECT COUNT(*) FROM items WHERE kind = ANY (ARRAY(SELECT kind FROM kinds WHERE name > 'j'))"},
		{text: "SELECT COUNT(*) FROM items WHERE kind <> ALL (SELECT kind FROM kinds WHERE name > 'j') AND kind IS NOT NULL"},
		{text: "SELECT COUNT(*), SUM(b) FROM (SELECT pid, total FROM orders) AS t(a, b) WHERE b > (SELECT 3)"},
		{text: "SELECT COUNT(*), SUM(n) FROM (SELECT pid, COUNT(*) FROM orders GROUP BY pid) AS t(p, n) WHERE n > 1"},
		{text: "SELECT SUM((SELECT COUNT(*) FROM orders o WHERE o.pid = p.pid GROUP BY o.pid)) FROM people p"},
		{text: "SELECT COUNT((SELECT COUNT(*) FROM orders o WHERE o.pid = p.pid GROUP BY o.pid)) FROM people p"},
		{text: "SELECT COUNT((SELECT COUNT(*) FROM orders o WHERE o.pid = p.pid)) FROM people p"},
		{text: "SELECT COUNT((SELECT coalesce(SUM(total), 7) FROM orders o WHERE o.pid = p.pid GROUP BY p.pid)) FROM people p"},
		{text: "SELECT SUM((SELECT CASE WHEN COUNT(*) > 2 THEN 1 ELSE 5 END FROM orders o WHERE o.pid = p.pid " +
			"GROUP BY o.pid)) FROM people p"},
		{text: "SELECT COUNT(*) FROM people p WHERE (SELECT COUNT(*) FROM orders o WHERE o.pid = p.pid LIMIT 1) = 0"},
		{text: "SELECT COUNT(*) FROM people WHERE DATE '2024-01-31' - (30 || ' DAY')::interval = '2024-01-01' AND age > 3"},
		{text: "SELECT COUNT(*), SUM(0) FROM people"},
		{text: "SELECT COUNT(*) FROM people WHERE age IS NULL"},
		{text: "SELECT COUNT(*) FROM people WHERE age > 20 AND age < 10 OR sex = 'F' AND sex = 'M'"},
		{text: "SELECT COUNT(*) FROM orders WHERE city > 'x' AND city <= 'x'"},
		{text: "SELECT COUNT(NULL), COUNT(*) FILTER (WHERE false) FROM people"},
		{text: "SELECT k.name, COUNT(*) FROM items i JOIN kinds k ON i.kind = k.kind GROUP BY k.name"},
		{text: "SELECT k.name, COUNT(i.price) FROM kinds k LEFT JOIN items i ON i.kind = k.kind GROUP BY k.name", whole: true},
		{text: "SELECT k.name, COUNT(i.kind) FROM items i RIGHT JOIN kinds k ON i.kind = k.kind GROUP BY k.name", whole: true},
		{text: "SELECT k.kind, COUNT(i.price) FROM kinds k LEFT JOIN items i ON i.kind = k.kind AND i.price > " +
			"0 GROUP BY k.kind", whole: true},
		{text: "SELECT kind, COUNT(price), SUM(coalesce(price, 0)) FROM kinds LEFT JOIN items USING (kind) GROUP BY kind", whole: true},
		{text: "SELECT name, COUNT(*) FILTER (WHERE price < 0), SUM(CASE WHEN price > 0 THEN 1 ELSE 0 END) " +
			"FROM kinds NATURAL LEFT JOIN items GROUP BY name", whole: true},
		{text: "SELECT k.name, COUNT(i.price) FROM kinds k LEFT JOIN items i ON i.kind = k.kind WHERE k.kind " +
			"<> 2 GROUP BY k.name", whole: true},
		{text: "SELECT k.kind, COUNT(i.price) FROM kinds k LEFT JOIN items i ON i.kind = k.kind GROUP BY k.kind", whole: true},
		{text: "SELECT k.name, COUNT(i.price) FROM kinds k LEFT JOIN items i ON i.kind = k.kind WHERE k.kind IN (1, 2, 3) " +
			"GROUP BY k.name", whole: true},
		{text: "SELECT kind, COUNT(price) FROM items RIGHT JOIN kinds USING (kind) GROUP BY kind", whole: true},
		{text: "SELECT kind, COUNT(price) FROM items NATURAL RIGHT JOIN kinds GROUP BY kind", whole: true},
		{text: "SELECT COUNT(i.kind), COUNT(DISTINCT i.price) FROM kinds k LEFT JOIN items i ON i.kind = k.kind WHERE i.price IS NULL"},
		{text: "SELECT sex || '-' || city AS k, COUNT(*) FROM people JOIN orders USING (pid) GROUP BY k"},
		{text: "SELECT concat(sex, city) AS k, COUNT(*) FROM people JOIN orders USING (pid) WHERE city IS NOT " +
			"NULL AND sex IS NOT NULL GROUP BY k"},
		{text: "SELECT sex || '-M' || sex || '-' AS k, COUNT(*) FROM people WHERE sex IS NOT NULL GROUP BY k"},
	} {
		ours, theirs := exact(t, ds, e, q.text), asked(t, c, q.text)
		if !q.whole {
			ours = slices.DeleteFunc(ours, func(row string) bool {
				_, counts, grouped := strings.Cut(row, "|")
				return grouped && strings.Contains(q.text, "GROUP BY k") && strings.Trim(counts, "0|") == "" &&
					!slices.Contains(theirs, row)
			})
			theirs = slices.DeleteFunc(theirs, func(row string) bool { return strings.HasPrefix(row, "NULL|") }) // no listed key
		}
		for _, rows := range [][]string{ours, theirs} {
			for i, row := range rows {
				rows[i] = strings.ReplaceAll(row, "NULL", "0") // a sum of nothing
			}
		}
		slices.Sort(ours)
		slices.Sort(theirs)
		if !slices.Equal(ours, theirs) {
			t.Errorf("%s\n%q here\n%q in PostgreSQL", q.text, ours, theirs)
		}
	}
}
