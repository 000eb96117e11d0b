package duckdb

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sqlgen"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/golden"
	"github.com/discreet-dp/discreet/internal/test/neighbours"
	memory "github.com/discreet-dp/discreet/internal/test/reference"
	"github.com/discreet-dp/discreet/policy"
)

// storedTypes are types in which a column of a policy's type may be stored.
var storedTypes = generate.Types{Who: [2]string{"BIGINT", "INTEGER"}, Of: map[policy.Type][2][]string{
	policy.Text:      {{"VARCHAR"}, {"VARCHAR", "ENUM('a', 'b')", "UUID"}},
	policy.Boolean:   {{"BOOLEAN"}, {"BOOLEAN"}},
	policy.Integer:   {{"BIGINT"}, {"INTEGER", "HUGEINT", "UTINYINT", "BIGINT"}},
	policy.Decimal:   {{"DOUBLE"}, {"DECIMAL(18,3)", "BIGINT", "INTEGER"}},
	policy.Date:      {{"DATE"}, {"TIMESTAMP", "TIMESTAMP_S"}},
	policy.Timestamp: {{"TIMESTAMP"}, {"TIMESTAMP WITH TIME ZONE", "TIMESTAMP_NS"}},
}}

// madeUp is a snapshot of tables that nobody has, stored in one of two ways.
func madeUp(t *testing.T, ds *policy.Dataset, way int) *snapshot {
	s := &snapshot{}
	s.Schema = generate.Stored(sqlDialect, ds, storedTypes, way, func(name string) string { return "source." + sqlgen.QuoteName(name) })
	for name, tb := range s.Tables {
		if ds.Unit.Row() {
			tb.RowID = "rowid"
		}
		for _, c := range tb.Columns {
			if c.Keys == policy.PublicKeys {
				s.Keys[c] = "(FROM " + sqlgen.QuoteName("keys "+name+`"`+c.Name) + ")"
				if c.Type == policy.Text && way == 0 {
					s.Listed[c] = "discreet_key(0::BIGINT, %s) >= 0"
				}
			}
		}
	}
	mustDo(t, s.FindKinds(ds))
	return s
}

var keyNumber = regexp.MustCompile(`discreet_key\(\d+`)

func spelled(t *testing.T, s *snapshot, q *tree.Query) string {
	var b strings.Builder
	for _, st := range s.Statements(q) {
		fmt.Fprintf(&b, "%s\n%v private %v summed %v measures %v persons %v values %d\n", st.Text, st.Args, st.Private, st.Summed,
			st.Measures, st.Persons, st.Values)
		if !st.Summed {
			continue
		}
		bulk, err := s.newBounded(q, st.Measures)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		fmt.Fprintf(&b, "bulk %s FROM %s\n%v\n", strings.Join(bulk.query.Columns, ", "), bulk.query.From, bulk.query.Args)
		bulk.close()
	}
	return b.String()
}

// TestStatements holds the SQL of all questions of plan's test data fixed, by a hash for each.
func TestStatements(t *testing.T) {
	var lines golden.Lines
	rows := generate.NewCorpus(t, "testdata/rows.yaml", "d", "")
	rows.Ask(t, "rows", "testdata/rows.txt")
	all := append(generate.Corpora(t, "../../planner/testdata", ""), rows)
	for way, how := range []string{"plain", "other types"} {
		for _, c := range all {
			s := madeUp(t, c.Dataset, way)
			for _, a := range c.Asked {
				text := ""
				if a.Table != nil {
					f := s.newFetch(a.Table)
					text = fmt.Sprintf("bulk %s FROM %s\n%v\n", strings.Join(f.query.Columns, ", "), f.query.From, f.query.Args)
					f.close()
				} else {
					text = spelled(t, s, a.Query)
				}
				lines.Add(fmt.Sprintf("%s %d, %s", a.Of, a.Number, how), keyNumber.ReplaceAllString(text, "discreet_key(0"))
			}
		}
	}
	lines.Hold(t, "testdata/statements.txt")
}

// TestCompareAtBounds compares a column with every number around its bounds, from both sides and in
// every type of an integer. What is outside counts as the bound, whether the clamp is printed or
// not.
func TestCompareAtBounds(t *testing.T) {
	const lo, hi = 3, 6
	types, columns, keys := []string{"BIGINT", "INTEGER", "UTINYINT", "HUGEINT"}, "", ""
	for i, typ := range types {
		columns += fmt.Sprintf(", CAST(nullif(range, 10) AS %s) AS x%d", typ, i)
		keys += fmt.Sprintf("x%d: {type: integer, bounds: [%d, %d]}, ", i, lo, hi)
	}
	folder := t.TempDir()
	owner(t, filepath.Join(folder, "t.duckdb"), "CREATE TABLE t AS SELECT range AS u"+columns+" FROM range(11)")
	e := open(t, dataset(t, folder, "source: t.duckdb\nunit: t.u\ntables: {t: {unique: u, columns: {"+keys+"}}}"))
	turn := turnOf(t, 2)
	for i, typ := range types {
		loose := 0
		for n := lo - 3; n <= hi+3; n++ {
			for op, holds := range map[string]func(x int) bool{
				"=": func(x int) bool { return x == n }, "<>": func(x int) bool { return x != n },
				"<": func(x int) bool { return x < n }, "<=": func(x int) bool { return x <= n },
				">": func(x int) bool { return x > n }, ">=": func(x int) bool { return x >= n },
			} {
				turned := strings.NewReplacer("<>", "<>", "<", ">", ">", "<").Replace(op)
				for side, where := range []string{fmt.Sprintf("x%d %s %d", i, op, n), fmt.Sprintf("%d %s x%d", n, turned, i)} {
					if !daily.Full() && (strings.Index("= <> <= >=", op)+i+n+side+turn)%2 != 0 {
						continue // from one side or the other, by turns
					}
					var want int64
					for x := range 10 { // the eleventh is NULL
						if holds(min(max(x, lo), hi)) {
							want++
						}
					}
					q := &prepare(t, e.dataset, "SELECT COUNT(*) FROM t WHERE "+where).Query
					if len(q.Measures) == 0 { // the bounds say that no row can be there
						if want != 0 {
							t.Errorf("%s: %s is known to hold for nobody, and should hold for %d", typ, where, want)
						}
						continue
					}
					if strings.Contains(e.now.Statements(q)[0].Text, ".r") {
						loose++
					}
					r, err := e.Run(t.Context(), q)
					if err != nil {
						t.Fatal(runAgain(t, e, q))
					}
					if got := r.Measures[0].Open()[0]; got != want {
						t.Errorf("%s: %s holds for %d rows, and should for %d", typ, where, got, want)
					}
				}
			}
		}
		if loose == 0 {
			t.Error("no comparison was printed without the clamp")
		}
	}
}

// TestDialectIsWhole: what a dialect says nothing about would be printed as nothing, or not at all.
// DuckDB's transactions need no options and see one state, its constants are parameters, its sums
// have 128 bits, what is written twice is computed once, and its groups have no places.
func TestDialectIsWhole(t *testing.T) {
	for _, v := range []reflect.Value{reflect.ValueOf(*sqlDialect), reflect.ValueOf(sqlDialect.Types)} {
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			none := []string{"Snapshot", "Unpinned", "Constant", "SmallSum", "Let", "Place", "ByPerson", "Compare"}
			if v.Field(i).IsZero() && !slices.Contains(none, name) {
				t.Errorf("%s is missing", name)
			}
		}
	}
}

// TestPrintsNoText prints questions and texts near them: no name and no text of the analyst is in
// the SQL. All that a question brings itself begins with a mark.
func TestPrintsNoText(t *testing.T) {
	turn := uint64(turnOf(t, 50))
	for _, ds := range generate.Worlds() {
		db := generate.Make(generate.NewDice("marks", 1), ds)
		source := filepath.Join(t.TempDir(), "made.duckdb")
		owner(t, source, db.SQL()...)
		ds.Source = source
		e := open(t, ds)
		o := planner.Options{Public: memory.New(ds, db.Tables).Public()}
		m := generate.NewMaker(ds, o)
		printed := 0
		for i := range rounds[uint64](30, 3000) {
			i += 30 * turn
			d := generate.NewDice("marks", i)
			text := m.Question(d)
			if i%2 == 1 {
				text = m.Text(d)
			}
			s, err := generate.Prepare(ds, text, o)
			if err != nil {
				continue
			}
			for _, p := range s.Plans {
				for _, st := range e.now.Statements(&p.Query) {
					printed++
					if strings.Contains(strings.ToLower(st.Text), generate.Mark) {
						t.Errorf("%s\nis printed as\n%s", text, st.Text)
					}
				}
			}
		}
		if printed < rounds(2, 500) {
			t.Errorf("only %d statements were printed", printed)
		}
	}
}

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
// several times, the person is cut to one group: by the operator of package contribution, by SQL,
// and by the reference.
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
	for _, text := range daily.Sample(t, onceQuestions, 3) {
		s, err := planner.Prepare(promised, text, planner.Options{Public: engine.PublicTables(t.Context(), engines[0])})
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
