package duckdb

import (
	"database/sql"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/daily"
)

// ownFunctions are what is computed of a person's own orders, over W, and the rest of OVER. Orders
// of rows are total but for rows that are equal in everything.
var ownFunctions = []string{"row_number()", "rank()", "dense_rank()", "ntile(2)", "lag(amount)", "lag(amount, 2, 7)", "lead(code)",
	"first_value(amount)", "last_value(amount)", "nth_value(amount, 2)", "sum(amount)", "count(*)", "count(shop)", "min(code)",
	"max(amount)", "count(*) FILTER (WHERE code = 1)"}

var ownWindows = []string{
	"PARTITION BY cust ORDER BY amount, code, shop", "PARTITION BY cust ORDER BY shop DESC, code, amount DESC",
	"PARTITION BY cust, code ORDER BY shop NULLS FIRST, amount", "PARTITION BY cust ORDER BY code DESC, amount, shop DESC NULLS LAST",
}

var ownFrames = []string{"", "", " ROWS UNBOUNDED PRECEDING", " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
	" ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
	" RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
	" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"}

// ownQuestions are all functions over all windows, with one frame or another, and groups.
func ownQuestions(r *rand.Rand) []string {
	out := []string{
		"SELECT COUNT(*) FROM (SELECT cust, MAX(amount) - MIN(amount) AS span FROM orders GROUP BY cust) t WHERE span > 15",
		"SELECT COUNT(*), SUM(n) FROM (SELECT cust, COUNT(DISTINCT code) AS n FROM orders GROUP BY cust HAVING bool_or(shop = 'x')) t",
		"SELECT COUNT(*), SUM(n) FROM (SELECT cust, code, COUNT(*) FILTER (WHERE amount > 9) AS n FROM orders GROUP BY cust, code) t",
		"SELECT COUNT(*) FROM (SELECT DISTINCT cust, shop FROM orders) t",
		"SELECT SUM(amount) FROM (SELECT DISTINCT ON (cust) cust, amount FROM orders ORDER BY cust, amount DESC, code) t",
		"SELECT COUNT(*) FROM (SELECT cust, round(AVG(amount), 1) AS a FROM orders GROUP BY cust) t WHERE a > 20.5",
		"SELECT COUNT(DISTINCT cust) FROM (SELECT cust, bool_or(shop = 'x') OVER (PARTITION BY cust) AS b, " +
			"bool_and(amount > 5) OVER (PARTITION BY cust) AS c FROM orders) t WHERE b AND NOT c",
		"SELECT COUNT(*) FROM customers WHERE cid IN (SELECT cust FROM orders GROUP BY cust HAVING COUNT(*) > 2)",
		"SELECT COUNT(*) FROM (SELECT cust FROM orders WHERE code = 1 GROUP BY cust) a JOIN (SELECT cust FROM orders WHERE code = 2 " +
			"GROUP BY cust) b ON a.cust = b.cust",
	}
	for _, f := range ownFunctions {
		for _, w := range ownWindows {
			out = append(out, "SELECT COUNT(w), SUM(w) FROM (SELECT cust, "+f+" OVER ("+w+pick(r, ownFrames...)+") AS w FROM orders) t")
		}
		out = append(out, "SELECT COUNT(w), SUM(w) FROM (SELECT "+f+" OVER (PARTITION BY cust ORDER BY code, amount, shop) AS w "+
			"FROM orders WHERE amount > 4) t")
	}
	return out
}

// TestOwnRowsAgainstPlain holds subqueries about a person's own rows against what SQL says, with
// NULLs where PostgreSQL has them.
func TestOwnRowsAgainstPlain(t *testing.T) {
	some := 0
	for _, seed := range seeds(t, 1, 2) {
		r := rand.New(rand.NewPCG(seed, 18))
		folder := t.TempDir()
		storeShop(t, folder, "duckdb", nil, honest(r))
		e := open(t, generous(t, folder))
		connector := must(driver.NewConnector(filepath.Join(folder, "shop.duckdb")+"?access_mode=read_only", nil))(t)
		db := sql.OpenDB(connector)
		db.SetMaxOpenConns(1)
		must(db.Exec("SET default_null_order = 'NULLS_LAST_ON_ASC_FIRST_ON_DESC'"))(t)
		for _, text := range daily.Sample(t, ownQuestions(r), 18) {
			s, err := planner.Prepare(e.dataset, text, planner.Options{Public: engine.PublicTables(t.Context(), e)})
			if err != nil {
				if !strings.Contains(err.Error(), "needs a frame in rows") {
					t.Errorf("%s: %v", text, err)
				}
				continue
			}
			want, ok := plainRows(t, db, text)
			if !ok {
				continue
			}
			if got, _ := ownRows(t, e, s.Plans[0], unchanged); !slices.Equal(got, want) {
				t.Errorf("%s\n%v, want\n%v", text, got, want)
			}
			if len(want) > 0 {
				some++
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if some < rounds(5, 100) {
		t.Errorf("only %d questions have something in them", some)
	}
}
