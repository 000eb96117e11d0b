package duckdb

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/audit/neighbours"
	"github.com/discreet-dp/discreet/internal/engine"
	memory "github.com/discreet-dp/discreet/internal/engine/reference"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// buyers joins orders with who they are of.
const buyers = "FROM orders o JOIN customers c ON c.cid = o.cust "

// onceQuestions are grouped by functions of the person, by all kinds of measures.
var onceQuestions = []string{
	"SELECT region, COUNT(*), SUM(amount), COUNT(DISTINCT cust), COUNT(DISTINCT code) " + buyers + "GROUP BY region",
	"SELECT region, MEDIAN(amount) " + buyers + "GROUP BY region",
	"SELECT city, COUNT(*), SUM(amount) " + buyers + "GROUP BY city",
	"SELECT city, region, COUNT(*) " + buyers + "GROUP BY city, region",
	"SELECT label, COUNT(*), SUM(amount) " + buyers + "JOIN products p ON p.code = c.age GROUP BY label",
	"SELECT label, MEDIAN(amount) " + buyers + "LEFT JOIN products p ON p.code = c.age GROUP BY label",
	"SELECT upper(label) AS l, COUNT(DISTINCT o.code), COUNT(*) FROM orders o, customers c, products p " +
		"WHERE c.cid = o.cust AND p.code = c.age GROUP BY l",
	"SELECT n, COUNT(*) FROM (SELECT o.cust, c.region, COUNT(*) AS n " + buyers + "GROUP BY o.cust, c.region) AS t WHERE n < 9 GROUP BY n",
}

// TestOnceIsCut: that a person is in one group of what is a function of the person is a promise of
// the policy, and noise is calibrated to it. Where data breaks it, by a person who is there several
// times in a table that should have one row of each, or by a key of a public table that is there
// several times, the person is cut to one group: by the operator of package bound, by SQL, and by
// the reference.
func TestOnceIsCut(t *testing.T) {
	rows := map[string]string{
		"customers": "1,N,1,Rome\n1,S,2,Oslo\n1,W,3,Bonn\n1,N,2,Kiel\n2,S,1,Oslo\n3,N,2,Rome\n",
		"orders":    "10,1,1,5,x\n11,1,2,7,y\n12,1,3,9,x\n20,2,1,3,x\n30,3,3,40,\n",
		"products":  "1,pen\n1,ink\n1,pad\n2,ink\n2,pad\n3,pad\n3,pen\n",
	}
	without := map[string]string{
		"customers": "2,S,1,Oslo\n3,N,2,Rome\n", "orders": "20,2,1,3,x\n30,3,3,40,\n", "products": rows["products"],
	}
	var engines []*Engine
	var references []*memory.Engine
	for _, all := range []map[string]string{rows, without} {
		folder := t.TempDir()
		ds := shopDataset(t, folder, storeShop(t, folder, "duckdb", nil, all), "add-remove", 4, 3)
		// Opening looks for keys that are there twice: of this table it is told of no key.
		products := *ds.Tables["products"]
		products.UniqueColumn, products.MaxRows = "", 3
		ds.Tables["products"] = &products
		engines = append(engines, open(t, ds))
		references = append(references, memory.New(ds, map[string]memory.Table{
			"customers": inMemory("cid,region,age,city", all["customers"]), "orders": inMemory("oid,cust,code,amount,shop", all["orders"]),
			"products": inMemory("code,label", all["products"]),
		}))
	}
	promised := shopDataset(t, t.TempDir(), ".", "add-remove", 4, 3) // in which products have one
	for _, text := range onceQuestions {
		s, err := plan.Prepare(promised, text, plan.Options{Public: public{t.Context(), engines[0]}})
		if err != nil {
			t.Fatal(text, err)
		}
		q := &s.Plans[0].Query
		if q.MaxGroups() != 1 || !q.Bounded() {
			t.Errorf("%s: a person is in %d groups, cut %v", text, q.MaxGroups(), q.Bounded())
		}
		wide := *q
		wide.GroupLimit = 3
		ways := map[string]func(*tree.Query, int) (*engine.Result, error){
			"bound": func(q *tree.Query, i int) (*engine.Result, error) { return engines[i].Run(t.Context(), q) },
			"SQL": func(q *tree.Query, i int) (*engine.Result, error) {
				return engines[i].now.Run(t.Context(), q, engines[i].now.Statements(q))
			},
			"the reference": func(q *tree.Query, i int) (*engine.Result, error) { return references[i].Run(t.Context(), q) },
		}
		for way, run := range ways {
			distance := func(q, promise *tree.Query) error {
				var results [2]*engine.Result
				for i := range results {
					if results[i], err = run(q, i); err != nil {
						t.Fatal(way, text, err)
					}
				}
				_, err := neighbours.Judge(promise, results[0], results[1])
				return err
			}
			if err := distance(q, q); err != nil {
				t.Errorf("%s: %s: %v", way, text, err)
			}
			if distance(&wide, q) == nil {
				t.Errorf("%s: %s: the data does not break what is promised, or nothing is noticed", way, text)
			}
		}
	}
}

// inMemory reads rows of numbers and texts.
func inMemory(columns, rows string) memory.Table {
	out := memory.Table{Columns: strings.Split(columns, ",")}
	for line := range strings.Lines(rows) {
		var row []any
		for _, v := range strings.Split(strings.TrimSpace(line), ",") {
			var n int64
			if _, err := fmt.Sscan(v, &n); err == nil {
				row = append(row, n)
			} else if v != "" {
				row = append(row, v)
			} else {
				row = append(row, nil)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
