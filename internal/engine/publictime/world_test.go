package publictime_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// clinic is a hospital with texts, in which questions take long if they are made to.
const clinic = `datasets:
  d:
    engine: duckdb
    source: d.duckdb
    unit: people.pid
    budget: {epsilon: 10, delta: 1e-6}
    analysts: {a: {}}
    tables:
      people:
        unique: pid
        columns:
          pid:   {type: integer, nullable: false}
          zip:   {type: text}
          diag:  {type: text, keys: private}
          age:   {type: integer, bounds: [0, 110]}
          cost:  {type: decimal, bounds: [0, 5000], granularity: 0.01}
          code:  {type: text}
          born:  {type: date, bounds: [1910-01-01, 2024-12-31]}
          seen:  {type: timestamp}
          score: {type: decimal}
      visits:
        path: pid -> people.pid
        max_rows: 20
        max_groups: 5
        columns:
          ward: {type: text, keys: [a, b, c, d, e, f, g, h]}
          note: {type: text}
          day:  {type: date, bounds: [2020-01-01, 2024-12-31]}
          cost: {type: decimal, bounds: [0, 1000], granularity: 0.01}
      labs:
        path: pid -> people.pid
        max_rows: 20
        max_groups: 5
        columns:
          kind:  {type: text, keys: private}
          value: {type: integer, bounds: [0, 1000]}
      codes:
        public: true
        unique: code
        columns:
          code:  {type: text}
          label: {type: text}
          low:   {type: integer, bounds: [0, 1000]}
          area:  {type: integer, bounds: [0, 100]}
`

// clinicRows makes so many people. Rows are stored in no order, and some people have many more than
// others. Nobody has the zip z7, the diagnosis HIV and the age of 37, unless somebody is added.
func clinicRows(people int64) []string {
	return []string{
		fmt.Sprintf(`CREATE TABLE people AS SELECT range AS pid, 'z' || (hash(range, 1) %% 50) AS zip,
			['flu', 'HIV', 'asthma', 'fracture', 'diabetes'][1 + CAST(hash(range, 2) %% 5 AS INTEGER)] AS diag,
			CASE WHEN hash(range, 3) %% 111 = 37 THEN 38 ELSE CAST(hash(range, 3) %% 111 AS INTEGER) END AS age,
			CAST(hash(range, 4) %% 500000 / 100 AS DECIMAL(10,2)) AS cost,
			CASE WHEN hash(range, 5) %% 2 = 0 THEN CAST(hash(range, 6) %% 100000 AS VARCHAR) || '.25' ELSE 'c' || hash(range, 6) %% 900 END AS code,
			DATE '1910-01-01' + CAST(hash(range, 7) %% 40000 AS INTEGER) AS born,
			make_timestamp(CAST(1500000000000000 + hash(range, 8) %% 200000000000000 AS BIGINT)) AS seen,
			CAST(hash(range, 9) %% 100000 AS DOUBLE) / 7 AS score FROM range(%d) ORDER BY hash(range, 10)`, people),
		fmt.Sprintf(`CREATE TABLE visits AS SELECT CAST(floor(%[1]d * pow(hash(range, 11) %% 1000003 / 1000003.0, 1.7)) AS BIGINT) AS pid,
			chr(97 + CAST(hash(range, 12) %% 8 AS INTEGER)) AS ward,
			'seen on ' || hash(range, 13) %% 1000 || ' with ' || ['a cough', 'some fever and a headache', 'nothing'][1 + CAST(hash(range, 14) %% 3 AS INTEGER)] || ', ' || hash(range, 15) AS note,
			DATE '2020-01-01' + CAST(hash(range, 16) %% 1800 AS INTEGER) AS day,
			CAST(hash(range, 17) %% 100000 / 100 AS DECIMAL(10,2)) AS cost FROM range(%[2]d) ORDER BY hash(range, 18)`, people, 3*people),
		fmt.Sprintf(`CREATE TABLE labs AS SELECT hash(range, 21) %% %[1]d AS pid, 'k' || hash(range, 22) %% 300 AS kind,
			CAST(hash(range, 23) %% 1001 AS INTEGER) AS value FROM range(%[2]d) ORDER BY hash(range, 24)`, people, 2*people),
		`CREATE TABLE codes AS SELECT 'c' || range AS code, 'label of ' || range AS label, CAST(range AS INTEGER) AS low,
			CAST(range % 100 AS INTEGER) AS area FROM range(900)`,
	}
}

// hospitalRows makes the tables of the planner's tests.
func hospitalRows(people int64) []string {
	return []string{
		fmt.Sprintf(`CREATE TABLE patients AS SELECT range AS pid, CAST(hash(range, 1) %% 111 AS INTEGER) AS age,
			['F', 'M', 'X', NULL][1 + CAST(hash(range, 2) %% 4 AS INTEGER)] AS sex, '1' || lpad(CAST(hash(range, 3) %% 1000 AS VARCHAR), 4, '0') AS zip,
			'diagnosis ' || hash(range, 4) %% 40 AS diagnosis, CAST(hash(range, 5) %% 5000000 / 100 AS DECIMAL(12,2)) AS cost,
			hash(range, 6) %% 3 = 0 AS smoker, DATE '2024-01-01' + CAST(hash(range, 7) %% 3 AS INTEGER) AS admitted,
			DATE '1930-01-01' + CAST(hash(range, 8) %% 30000 AS INTEGER) AS born, CAST(hash(range, 9) %% 1500 AS DOUBLE) / 10 AS weight,
			CAST(hash(range, 10) %% 100000 AS BIGINT) - 50000 AS balance, CAST(hash(range, 11) %% 9 AS BIGINT) * 500 - 1000 AS income,
			CAST(hash(range, 12) %% 1000000000 AS BIGINT) AS wealth FROM range(%d) ORDER BY hash(range, 13)`, people),
		fmt.Sprintf(`CREATE TABLE visits AS SELECT CAST(floor(%[1]d * pow(hash(range, 21) %% 1000003 / 1000003.0, 1.7)) AS BIGINT) AS pid,
			chr(97 + CAST(hash(range, 22) %% 8 AS INTEGER)) AS ward, DATE '2023-01-01' + CAST(hash(range, 23) %% 700 AS INTEGER) AS day,
			CAST(hash(range, 24) %% 500000 / 100 AS DECIMAL(10,2)) AS cost FROM range(%[2]d) ORDER BY hash(range, 25)`, people, 3*people),
		fmt.Sprintf(`CREATE TABLE orders AS SELECT range AS oid, hash(range, 31) %% %[1]d AS customer,
			DATE '2024-01-01' + CAST(hash(range, 32) %% 366 AS INTEGER) AS day, ['meal', 'drug'][1 + CAST(hash(range, 33) %% 2 AS INTEGER)] AS kind
			FROM range(%[2]d) ORDER BY hash(range, 34)`, people, 2*people),
		fmt.Sprintf(`CREATE TABLE items AS SELECT hash(range, 41) %% %[1]d AS oid, CAST(hash(range, 42) %% 100000 / 100 AS DECIMAL(10,2)) AS price,
			CAST(hash(range, 43) %% 21 AS INTEGER) AS quantity, 'region ' || hash(range, 44) %% 30 AS region
			FROM range(%[2]d) ORDER BY hash(range, 45)`, 2*people, 4*people),
		"CREATE TABLE wards AS SELECT chr(CAST(97 + range AS INTEGER)) AS ward, 'region ' || range % 5 AS region, CAST(range * 3 AS " +
			"INTEGER) AS beds FROM range(25)",
		"CREATE TABLE tags AS SELECT chr(CAST(97 + range % 9 AS INTEGER)) AS ward, 't' || range % 5 AS tag, CAST(range * 8 AS " +
			"INTEGER) AS low FROM range(25)",
	}
}

// trialRows makes the tables of the holdout's tests.
func trialRows(people int64) []string {
	row := `CAST(hash(range, 1) % 4 AS VARCHAR) AS predicted, CAST(hash(range, 2) % 4 AS VARCHAR) AS outcome,
		CAST(hash(range, 3) % 111 AS INTEGER) AS age, CAST(hash(range, 4) % 101 / 100 AS DECIMAL(4,2)) AS risk, hash(range, 5) % 2 = 0 AS ill`
	return []string{
		fmt.Sprintf("CREATE TABLE rows AS SELECT range AS pid, %s FROM range(%d)", row, people),
		fmt.Sprintf("CREATE TABLE train AS SELECT %s FROM range(%d)", row, people/10),
		fmt.Sprintf("CREATE TABLE visits AS SELECT hash(range) %% %d AS pid, 'w' || range %% 7 AS ward FROM range(%d)", people, people),
		fmt.Sprintf("CREATE TABLE more AS SELECT range AS pid, CAST(range %% 2 AS INTEGER) AS x FROM range(%d)", people),
	}
}

// store runs statements as the owner of a database.
func store(t testing.TB, path string, statements ...string) {
	t.Helper()
	connector, err := driver.NewConnector(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%v in %.300s", err, s)
		}
	}
}

// parse reads a policy with the dataset d, whose data is in a folder.
func parse(t testing.TB, folder, text string) *policy.Dataset {
	t.Helper()
	p, err := policy.Parse(filepath.Join(folder, "policy.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p.Datasets["d"]
}

// open opens a dataset for questions of one thread: their processor time is how long they take
// alone.
func open(t testing.TB, ds *policy.Dataset, limits duckdb.Limits) *duckdb.Engine {
	t.Helper()
	if limits.Threads == 0 {
		limits.Threads = 1
	}
	e, err := duckdb.OpenWith(t.Context(), ds, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// queries are those of a text; none where it is refused.
func queries(ds *policy.Dataset, e *duckdb.Engine, text string) (out []*tree.Query, err error) {
	s, err := planner.Prepare(ds, text, planner.Options{Public: engine.PublicTables(context.Background(), e)})
	if err != nil {
		return nil, err
	}
	for _, p := range s.Plans {
		out = append(out, &p.Query)
	}
	return out, nil
}

func clipped(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 110 {
		return text[:110] + "..."
	}
	return text
}
