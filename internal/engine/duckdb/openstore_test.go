package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	bundled "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/internal/sealed"
	"github.com/discreet-dp/discreet/store"
	"github.com/discreet-dp/discreet/store/testdata/thirdparty"
)

// strange are tables in somebody else's database.
var strange = []string{
	"CREATE TABLE people AS SELECT range AS pid, CAST(range % 90 AS INTEGER) AS age, chr(CAST(97 + range % 4 AS INTEGER)) AS k, " +
		"range % 3 = 0 AS b, DATE '2024-01-01' + CAST(range % 5 AS INTEGER) AS day, range * 0.25 AS cost FROM range(300)",
	"CREATE TABLE visits AS SELECT range % 200 AS pid, chr(CAST(97 + range % 7 AS INTEGER)) AS ward, range % 11 AS n FROM range(2000)",
	"CREATE TABLE wards AS SELECT chr(CAST(97 + range AS INTEGER)) AS ward, chr(CAST(65 + range % 2 AS INTEGER)) AS wing FROM range(7)",
}

const strangeKeys = `
source: none.duckdb
unit: people.pid
tables:
  people:
    unique: pid
    columns:
      age:  {type: integer, bounds: [0, 80]}
      k:    {type: text, keys: [a, b, z]}
      b:    {type: boolean, keys: [true, false]}
      day:  {type: date, bounds: [2024-01-01, 2024-01-03]}
      cost: {type: decimal, bounds: [0, 50], granularity: 0.5}
  visits:
    path: pid -> people.pid
    max_rows: 12
    max_groups: 9
    columns:
      ward: {type: text, keys: [a, b, c, d, e, f, g]}
      n:    {type: integer, bounds: [0, 10]}
  wards:
    public: true
    unique: ward
    columns: {ward: {type: text}, wing: {type: text}}
`

// TestThirdParty asks a database that a stranger brings along, who imports nothing internal, and
// DuckDB itself.
func TestThirdParty(t *testing.T) {
	folder := t.TempDir()
	owner(t, folder+"/none.duckdb", strange...)
	ds := dataset(t, folder, strangeKeys)
	s := must(thirdparty.Open(t.Context(), strange...))(t)
	theirs := must(OpenStore(t.Context(), ds, s))(t)
	defer theirs.Close()
	ours := open(t, ds)
	if v, err := theirs.Version(t.Context()); err != nil || v != (store.Version{Name: "monday", State: "1"}) {
		t.Error(v, err)
	}
	options := planner.Options{Public: engine.PublicTables(t.Context(), theirs)}
	for _, text := range []string{
		"SELECT COUNT(*), SUM(age), AVG(cost), COUNT(DISTINCT age) FROM people",
		"SELECT k, b, COUNT(*), SUM(cost) FROM people GROUP BY k, b", "SELECT MEDIAN(age) FROM people WHERE day > '2024-01-01'",
		"SELECT ward, COUNT(*), SUM(n), COUNT(DISTINCT n), MEDIAN(n) FROM visits GROUP BY ward",
		"SELECT COUNT(DISTINCT pid) FROM visits WHERE n / 0 IS NULL",
		"SELECT wing, COUNT(*) FROM visits v JOIN wards w ON v.ward = w.ward GROUP BY wing",
		"SELECT COUNT(*) FROM people p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.pid = p.pid AND v.n > 9)",
	} {
		st, err := planner.Prepare(ds, text, options)
		if err != nil {
			t.Fatal(text, err)
		}
		for _, p := range st.Plans {
			got, err := theirs.Run(t.Context(), &p.Query)
			if err != nil {
				t.Fatal(text, err)
			}
			want, err := ours.Run(t.Context(), &p.Query)
			if err != nil {
				t.Fatal(text, err)
			}
			if a, b := revealed(got), revealed(want); a != b {
				t.Errorf("%s:\n%s\n%s", text, a, b)
			}
		}
	}
	table := must(planner.PrepareTable(ds, "SELECT age, k, b, day, cost FROM people WHERE age > 3", "b", options))(t)
	if a, b := collected(t, theirs, table), collected(t, ours, table); a != b || len(a) < 1000 {
		t.Errorf("rows to train on:\n%s\n%s", a, b)
	}
	if n, err := theirs.Magnitude(t.Context()); n != 4 || err != nil {
		t.Error(n, err)
	}
	must(s.DB.Exec("DROP TABLE visits"))(t)
	if _, err := theirs.Run(t.Context(), &prepare(t, ds, "SELECT COUNT(*) FROM visits").Query); !errors.Is(err, engine.ErrRun) {
		t.Error(err)
	}
	s.Dialect = "klingon"
	if _, err := OpenStore(t.Context(), ds, s); err == nil {
		t.Error("a dialect that nobody speaks")
	}
}

// TestThirdPartyVersions: a table is looked at anew when the version is another, and what goes
// wrong with a version is not told.
func TestThirdPartyVersions(t *testing.T) {
	s := must(thirdparty.Open(t.Context(), strange...))(t)
	now, broken := store.Version{State: "1"}, error(nil)
	s.Version = func(context.Context) (store.Version, error) { return now, broken }
	e := must(OpenStore(t.Context(), dataset(t, t.TempDir(), strangeKeys), s))(t)
	defer e.Close()
	wings := func() string {
		values, err := e.Values(t.Context(), "wards", "wing", 9)
		return fmt.Sprint(values, err)
	}
	first := wings()
	if _, err := s.DB.Exec("INSERT INTO wards VALUES ('x', 'Z')"); err != nil || wings() != first {
		t.Error(wings(), err)
	}
	now.State = "2"
	if _, err := e.Version(t.Context()); err != nil || wings() == first {
		t.Error(wings(), err)
	}
	for _, bad := range []struct {
		version store.Version
		err     error
	}{{now, errors.New("row 7 of Ana")}, {store.Version{Name: "a\nb", State: "3"}, nil}} {
		now, broken = bad.version, bad.err
		if v, err := e.Version(t.Context()); err == nil || strings.Contains(err.Error(), "Ana") || v != (store.Version{}) {
			t.Error(v, err)
		}
	}
}

// talkative is a driver whose errors tell what nobody should know: at once, or where the columns of
// a table are listed.
type talkative struct{ late bool }

var errTalkative = errors.New("the password of Ana is 4711")

func (d talkative) Connect(context.Context) (driver.Conn, error) {
	if d.late {
		return d, nil
	}
	return nil, errTalkative
}

func (d talkative) Driver() driver.Driver                      { return nil }
func (d talkative) Prepare(string) (driver.Stmt, error)        { return d, nil }
func (d talkative) Begin() (driver.Tx, error)                  { return nil, errTalkative }
func (d talkative) Close() error                               { return nil }
func (d talkative) NumInput() int                              { return -1 }
func (d talkative) Exec([]driver.Value) (driver.Result, error) { return driver.ResultNoRows, nil }

func (d talkative) Query([]driver.Value) (driver.Rows, error) { return &talkativeRows{}, nil }

// talkativeRows fails when the first row is read.
type talkativeRows struct{}

func (r *talkativeRows) Columns() []string { return []string{"name"} }
func (r *talkativeRows) Close() error      { return nil }
func (r *talkativeRows) Next([]driver.Value) error {
	return errTalkative
}

// TestThirdPartyErrors: what a driver says when a database is opened is told to nobody.
func TestThirdPartyErrors(t *testing.T) {
	for _, late := range []bool{false, true} {
		s := store.Store{DB: sql.OpenDB(talkative{late}), Dialect: store.DuckDB,
			Version: func(context.Context) (store.Version, error) { return store.Version{State: "1"}, nil }}
		defer s.DB.Close()
		ds := dataset(t, t.TempDir(), strangeKeys)
		_, opened := OpenStore(t.Context(), ds, s)
		_, looked := sqlengine.Open(t.Context(), ds, s, sqlDialect, sqlengine.Options{})
		for _, err := range []error{opened, looked} {
			if err == nil || strings.Contains(err.Error(), "4711") || errors.Is(err, errTalkative) {
				t.Errorf("late %v: %v", late, err)
			}
		}
	}
}

// perConnectionDriver is a driver that opens a DuckDB for each connection.
type perConnectionDriver struct{}

func (perConnectionDriver) Driver() driver.Driver { return nil }

func (perConnectionDriver) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := bundled.NewConnector("", func(c driver.ExecerContext) error {
		for _, text := range strange {
			if _, err := c.ExecContext(ctx, text, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return c.Connect(ctx)
}

// TestThirdPartyConnections: rules of the optimizer are off in every connection of a pool, or the
// store is refused.
func TestThirdPartyConnections(t *testing.T) {
	s := store.Store{DB: sql.OpenDB(perConnectionDriver{}), Dialect: store.DuckDB,
		Version: func(context.Context) (store.Version, error) { return store.Version{State: "1"}, nil }}
	defer s.DB.Close()
	if _, err := OpenStore(t.Context(), dataset(t, t.TempDir(), strangeKeys), s); err == nil {
		t.Error("rules are off in one connection and on in another")
	}
	good := must(thirdparty.Open(t.Context(), strange...))(t)
	defer good.DB.Close()
	for _, most := range []int{1, 2, 0} {
		good.DB.SetMaxOpenConns(most)
		if _, err := OpenStore(t.Context(), dataset(t, t.TempDir(), strangeKeys), good); err != nil {
			t.Error(most, err)
		}
	}
}

func revealed(r *engine.Result) string {
	var out []any
	for _, v := range slices.Concat([][]sealed.Vector{r.Measures}, r.Values) {
		for _, v := range v {
			out = append(out, v.Open())
		}
	}
	return fmt.Sprint(out...)
}

// collected spells the rows of a table, in order.
func collected(t *testing.T, e engine.Engine, table *tree.Table) string {
	var rows []string
	collect := sealed.NewCollector(func(codes []int64) { rows = append(rows, fmt.Sprint(codes)) })
	must(e.Fetch(t.Context(), table, collect))(t)
	slices.Sort(rows)
	return fmt.Sprint(rows)
}
