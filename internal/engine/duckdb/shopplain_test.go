package duckdb

import (
	"database/sql"
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// honest is a shop as its policy says: nothing is beyond its bounds, nothing leads nowhere, and
// nobody has more than counts.
func honest(r *rand.Rand) map[string]string {
	var c crowd
	for person := range 9 {
		fmt.Fprintf(&c.customers, "%d,%s,%d,%s\n", person, pick(r, "N", "S", "W"), r.IntN(101), pick(r, "Rome", "Oslo", ""))
		for range r.IntN(5) {
			c.order++
			fmt.Fprintf(&c.orders, "%d,%d,%d,%d,%s\n", c.order, person, pick(r, 1, 2, 3, 7), r.IntN(51), pick(r, "x", "y", ""))
			for range r.IntN(4) {
				c.item++
				fmt.Fprintf(&c.items, "%d,%d,%d\n", c.item, c.order, r.IntN(11))
				for range r.IntN(3) {
					fmt.Fprintf(&c.parts, "%d,%d\n", c.item, r.IntN(21)-10)
				}
			}
		}
	}
	return map[string]string{"customers": c.customers.String(), "orders": c.orders.String(), "items": c.items.String(),
		"parts": c.parts.String()}
}

// generous is the shop's policy with limits that cut nothing of it.
func generous(t testing.TB, folder string) *policy.Dataset {
	text := fmt.Sprintf(shopPolicy, "shop.duckdb", "add-remove", 90, 1000)
	text = regexp.MustCompile(`max_(rows|groups): \d+`).ReplaceAllString(text, "max_$1: 90")
	p, err := policy.Parse(filepath.Join(folder, "policy.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["d"]
}

var median = regexp.MustCompile(`MEDIAN\((.*?)\)`)

// plainRows asks DuckDB itself, and returns one line for each group that has something, sorted.
// Public keys are never NULL but where a table on the right side of a LEFT JOIN is public too.
func plainRows(t testing.TB, db *sql.DB, text string) (out []string, ok bool) {
	text = median.ReplaceAllString(text, "list_sort(list($1) FILTER ($1 IS NOT NULL))")
	if at := strings.LastIndex(text, " GROUP BY "); at >= 0 {
		keys := text[at+len(" GROUP BY "):]
		if strings.Contains(keys, ")") {
			keys = ".shop" // the last GROUP BY is a subquery's
		}
		var public []string
		for _, k := range strings.Split(keys, ", ") {
			if !strings.HasSuffix(k, ".shop") && !strings.HasSuffix(k, ".city") && !strings.HasSuffix(k, ".tag") {
				public = append(public, k+" IS NOT NULL")
			}
		}
		if len(public) > 0 {
			text += " HAVING " + strings.Join(public, " AND ")
		}
	}
	rows, err := db.Query(text)
	if err != nil && strings.Contains(err.Error(), "non-inner join on subquery") {
		return nil, false // DuckDB cannot, and the engine writes it differently
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	cells, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range cells {
		into[i] = &cells[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, c := range cells {
			switch c := c.(type) {
			case nil:
				line = append(line, "0")
			case *big.Int:
				line = append(line, c.String())
			default:
				line = append(line, fmt.Sprint(c))
			}
		}
		out = append(out, strings.Join(line, " "))
	}
	return something(out), true
}

// something sorts lines and leaves out those of nothing but zeros.
func something(lines []string) []string {
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.Trim(l, "0 []") == "" })
	slices.Sort(lines)
	return lines
}

// ownRows is the same from the engine.
func ownRows(t testing.TB, e *Engine, p *tree.Plan, mutate func(string) string) ([]string, bool) {
	q := &p.Query
	changed, different := mutant(e.now.Statements(q), mutate)
	r, err := e.now.Run(t.Context(), q, changed)
	if err != nil {
		return nil, different
	}
	groups := q.Groups()
	if len(q.PrivateKeys()) > 0 {
		groups *= r.Persons.Len()
	}
	var out []string
	for g := range groups {
		var line []string
		for _, c := range p.Columns {
			s := p.Stats[c.Expr.(*tree.Released).Stat]
			if s.Kind == tree.QuantileStat {
				if v := r.Values[s.Measure][g].Open(); len(v) > 0 {
					line = append(line, fmt.Sprint(v))
				} else {
					line = append(line, "0")
				}
				continue
			}
			line = append(line, fmt.Sprint(r.Measures[s.Measure].Open()[g]))
		}
		out = append(out, strings.Join(line, " "))
	}
	return something(out), different
}

// TestShopAgainstPlain: where nothing has to be cut an answer is what SQL says, for questions that
// nobody thought of.
func TestShopAgainstPlain(t *testing.T) {
	planted := map[string][2]string{
		"inner for left":     {" LEFT JOIN ", " JOIN "},
		"not for exists":     {"EXISTS (", "NOT EXISTS ("},
		"one part of unions": {" UNION ALL SELECT", " EXCEPT ALL SELECT"},
		"min for max":        {"min(", "max("},
		"all for distinct":   {"count(DISTINCT v)", "count(v)"},
		"other keys":         {"GROUP BY u, k0", "GROUP BY u, k0, k0"}, // the same: must not be found
	}
	found := map[string]bool{}
	asked, some := 0, 0
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 11))
		folder := t.TempDir()
		storeShop(t, folder, "duckdb", nil, honest(r))
		e := open(t, generous(t, folder))
		connector, err := driver.NewConnector(filepath.Join(folder, "shop.duckdb")+"?access_mode=read_only", nil)
		if err != nil {
			t.Fatal(err)
		}
		db := sql.OpenDB(connector)
		defer db.Close()
		for range usually(60, 150) {
			text := drawShopQuestion(r)
			s, err := plan.Prepare(e.dataset, text, plan.Options{Public: public{t.Context(), e}})
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			want, ok := plainRows(t, db, text)
			if !ok {
				continue
			}
			asked++
			got, _ := ownRows(t, e, s.Plans[0], unchanged)
			if !slices.Equal(got, want) {
				t.Errorf("%s\n%v, want\n%v", text, got, want)
			}
			if len(want) > 0 {
				some++
			}
			for name, change := range planted {
				if found[name] {
					continue
				}
				got, different := ownRows(t, e, s.Plans[0], func(text string) string {
					return strings.ReplaceAll(text, change[0],
						change[1])
				})
				found[name] = different && got != nil && !slices.Equal(got, want)
			}
		}
	}
	if asked < usually(120, 300) || some < usually(60, 150) {
		t.Error("too few questions for a test")
	}
	t.Logf("%d questions, %d with something in the answer", asked, some)
	for name := range planted {
		if found[name] != (name != "other keys") {
			t.Errorf("%s: found is %v", name, found[name])
		}
	}
}
