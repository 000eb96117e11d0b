package lockstep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/planner"
	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/generate"
	"github.com/discreet-dp/discreet/internal/test/storekinds"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/policy"
)

// payable is a world in which every question can be paid for.
func payable(world *policy.Dataset) *policy.Dataset {
	ds := auditorsDataset(world)
	ds.Budget.DefaultEpsilon, ds.Budget.MaxEpsilon = dp.One, ds.Budget.Epsilon
	return ds
}

// hostileQuestions are what attackers ask, but for what private keys are in: which of them are
// shown may differ, with the probability that is paid for.
func hostileQuestions(t *testing.T, ds *policy.Dataset) (all []*tally) {
	t.Helper()
	answered := 0
	for _, a := range generate.Attacks() {
		st, err := planner.Prepare(ds, a.Text, planner.Options{})
		if err == nil && !st.Free() && len(st.Plans[0].Query.PrivateKeys()) > 0 {
			continue
		}
		if err == nil {
			answered++
		}
		all = append(all, &tally{question: a.Text})
	}
	if len(all) < 150 || answered < 40 {
		t.Errorf("%d questions, %d of them answered, are too few", len(all), answered)
	}
	return all
}

// reportFindings reports what there is about questions that were tried on so many pairs.
func reportFindings(t *testing.T, where string, tallies []*tally, answers, moved int) {
	t.Helper()
	a, m := 0, 0
	for _, y := range tallies {
		a, m = a+y.answered, m+y.moved
		if f := y.finding(); !f.Stands {
			t.Errorf("%s: %s: %s", where, f.Subject, f.Detail)
		}
	}
	t.Logf("%s: %d questions, %d answers, %d of them moved by one person", where, len(tallies), a, m)
	if a < answers || m < moved {
		t.Errorf("%s: %d answers, %d of them moved, are too few", where, a, m)
	}
}

// TestHostile sends what attackers would ask through the whole system, on neighbouring databases
// and with the same randomness: outcome, text, shape and charge are the same, and values are no
// farther apart than their noise was made for.
func TestHostile(t *testing.T) {
	pairs := daily.Sample(t, []int{0, 1, 2, 3}, 1)
	for _, world := range daily.Sample(t, generate.Worlds()[:2], 1) { // the clinic, under both relations
		ds := payable(world)
		tallies := hostileQuestions(t, ds)
		for _, i := range pairs {
			p := must(MakePair(t.Context(), ds, t.TempDir(), 5, i))
			for _, y := range tallies {
				y.try(t.Context(), nil, p, uint64(i))
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		reportFindings(t, ds.Name, tallies, len(pairs)*40, len(pairs)*daily.Rounds(4, 10))
	}
}

// TestHostileInStores does the same where the data is in another store.
func TestHostileInStores(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	pairs := daily.Rounds(1, 10)
	for _, s := range storekinds.Stores()[1:] {
		for _, world := range daily.Sample(t, generate.Worlds()[:2], 1) {
			t.Run(s.Name+", "+world.Name, func(t *testing.T) {
				ds := payable(world)
				tallies := storekinds.Some(s, 16, daily.Full(), hostileQuestions(t, ds))
				there := false
				for n := range pairs {
					t.Run(fmt.Sprint("pair ", n), func(t *testing.T) {
						p := storedIn(t, s, ds, n)
						there = true
						for _, y := range tallies {
							y.try(t.Context(), nil, p, uint64(n))
						}
					})
				}
				if !there && !t.Failed() {
					t.Skip("there is no such store here")
				}
				reportFindings(t, ds.Name, tallies, pairs*len(tallies)/5, pairs*len(tallies)/20)
			})
		}
	}
}

// storedIn makes a pair of neighbours in a store.
func storedIn(t *testing.T, s storekinds.Store, ds *policy.Dataset, number int) Pair {
	t.Helper()
	d := generate.NewDice("in "+s.Name, uint64(number))
	var one, other *generate.Database
	for range 50 { // the largest
		made := generate.Make(d, ds)
		if n, ok := made.Neighbour(d); ok && (one == nil || made.Rows() > one.Rows()) {
			one, other = made, n
		}
	}
	return Pair{Name: fmt.Sprintf("pair %d in %s", number, s.Name), A: Database{ds, s.Open(t, one)}, B: Database{ds, s.Open(t, other)}}
}

// everyType has a column of each type that PostgreSQL has and that can be read, and beside them
// some that cannot, which are not in the policy.
var everyType = []string{
	"CREATE TYPE mood AS ENUM ('zeta', 'alpha', 'beta')", "CREATE DOMAIN percent AS integer CHECK (VALUE BETWEEN 0 AND 100)",
	"CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false)",
	"CREATE TABLE people (pid bigint, b boolean, i2 smallint, i4 integer, i8 bigint, f4 real, f8 double precision, d numeric(20,8), " +
		"wide numeric(38,6), neg numeric(5,-2), tiny numeric(3,5), n numeric, t text, v varchar(20), c char(5), l text COLLATE loose, " +
		"u uuid, day date, ts timestamp, tz timestamptz, e mood, dom percent, g integer GENERATED ALWAYS AS (i2 / 2) STORED, " +
		"arr integer[], iv interval, m money, j jsonb, p point, x xml)",
	"CREATE TABLE events (pid bigint, day date, cost numeric(12,2), ward text)",
	"GRANT SELECT (pid, b, i2, i4, i8, f4, f8, d, wide, neg, tiny, n, t, v, c, l, u, day, ts, tz, e, dom, g) ON people TO " +
		testpg.Reader,
	"GRANT SELECT ON events TO " + testpg.Reader,
	"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'a trigger'; END $$",
	"CREATE RULE quiet AS ON DELETE TO people DO INSTEAD NOTHING",
	"INSERT INTO people (pid, b, i2, i4, i8, f4, f8, d, wide, neg, tiny, n, t, v, c, l, u, day, ts, tz, e, dom) SELECT i, i % 2 = 0, i, " +
		"i, i, i, i, i, i, 100 * i, 0.00001 * i, i, 'a', 'b', 'c', 'ä', '00000000-0000-0000-0000-000000000001', '2020-01-01', " +
		"'2020-01-01 10:00', '2020-01-01 10:00+05', 'alpha', i FROM generate_series(1, 5) i",
	"INSERT INTO events SELECT i % 5 + 1, '2020-01-01', i, 'a' FROM generate_series(1, 20) i",
}

// hostilePeople are rows that no other database has, or that are at the end of what there is.
var hostilePeople = map[string][]string{
	"endless and no numbers": {
		"INSERT INTO people VALUES (37, NULL, NULL, NULL, NULL, 'NaN', 'Infinity', 'NaN', 'NaN', 'NaN', NULL, '-Infinity', repeat('x', " +
			"30000000), '', '', 'A', NULL, 'infinity', '-infinity', 'infinity', NULL, NULL, DEFAULT, '{1,NULL}', '1000 years', '-1', " +
			"'{}', NULL, NULL)",
		"INSERT INTO events SELECT 37, 'infinity', 'NaN', repeat('y', 1 << 20) FROM generate_series(1, 40)",
	},
	"as small as can be": {
		"INSERT INTO people VALUES (-9223372036854775808, false, -32768, -2147483648, -9223372036854775808, '-1e-45', '-5e-324', " +
			"-0.00000001, -0.000001, -99900, -0.00999, '-1e-16383', '', ' ', ' ', '', '00000000-0000-0000-0000-000000000000', " +
			"'4714-11-24 BC', '4714-11-24 BC', '4714-11-24 BC', 'zeta', 0)",
		"INSERT INTO events SELECT -9223372036854775808, '0001-12-31 BC', -9999999999.99, chr(1) FROM generate_series(1, 300)",
	},
	"as large as can be": {
		"INSERT INTO people VALUES (9223372036854775807, true, 32767, 2147483647, 9223372036854775807, '3.4028235e38', " +
			"'1.7976931348623157e308', 999999999999.99999999, 99999999999999999999999999999999.999999, 99900, 0.00999, 10::numeric ^ " +
			"131000, repeat(chr(1114111), 262144), repeat('b', 20), 'ccccc', 'ÄÄ' || chr(768), 'ffffffff-ffff-ffff-ffff-ffffffffffff', " +
			"'5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-31 23:59:59.999999+00', 'beta', 100)",
		"INSERT INTO events SELECT 9223372036854775807, '9999-12-31', 9999999999.99, chr(i) FROM generate_series(1, 300) i",
	},
	"minus nothing": {
		"INSERT INTO people (pid, f4, f8, n, t, day, ts, tz) VALUES (0, '-0', '-0', '-0', E'\\x01\\x7f\\u200b\\u202e''\"', '0001-01-01', " +
			"'0001-01-01', '9999-12-31 23:59:59.999999-15:59')",
		"INSERT INTO events (pid) SELECT 0 FROM generate_series(1, 300)",
	},
	"nobody": {"INSERT INTO people (pid, i4) VALUES (NULL, 1)",
		"INSERT INTO events VALUES (NULL, '2020-01-01', 1, 'a'), (99, NULL, 1, 'a')"},
}

// narrowed is what administrators do to make a column another type without writing its rows anew:
// rows of before may have more digits than their type has, and longer texts.
const narrowed = "UPDATE pg_attribute SET atttypmod = CASE attname WHEN 'd' THEN (4 << 16) + 2 + 4 ELSE 5 + 4 END " +
	"WHERE attrelid = 'people'::regclass AND attname IN ('d', 'v')"

const everyTypePolicy = `  clinic:
    source: %s
    unit: people.pid
    neighbours: %s
    budget: {epsilon: 100, delta: 1e-6}
    analysts: {ana: {share: 1}}
    tables:
      people:
        unique: pid
        columns:
          pid: {type: integer}
          b: {type: boolean}
          i2: {type: integer, bounds: [-40000, 40000], granularity: 1000}
          i4: {type: integer, bounds: [0, 10]}
          i8: {type: integer}
          f4: {type: decimal, bounds: [-1, 10], granularity: 0.5}
          f8: {type: decimal, bounds: [-1, 10], granularity: 0.5}
          d: {type: decimal, bounds: [-5, 90], granularity: 0.01}
          wide: {type: decimal, bounds: [-1000, 1000], granularity: 0.5}
          neg: {type: decimal, bounds: [-500, 500], granularity: 100}
          tiny: {type: decimal, bounds: [-0.1, 0.1], granularity: 0.00001}
          n: {type: decimal, bounds: [-10, 10], granularity: 1}
          t: {type: text, keys: [a, b, ""]}
          v: {type: text, keys: [b, " ", ""]}
          c: {type: text, keys: [c, ""]}
          l: {type: text, keys: [ä, A, a]}
          u: {type: text, keys: ["00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff"]}
          day: {type: date, bounds: ["2019-12-30", "2020-01-03"]}
          ts: {type: timestamp, bounds: ["1700-01-01", "2200-12-31"]}
          tz: {type: timestamp, bounds: ["1900-01-01", "2100-01-01"]}
          e: {type: text, keys: [alpha, beta, zeta]}
          dom: {type: integer, bounds: [0, 100], granularity: 10}
          g: {type: integer, bounds: [-20000, 20000], granularity: 1000}
      events:
        path: pid -> people.pid
        max_rows: 3
        max_groups: 2
        columns:
          day: {type: date, bounds: ["2019-12-30", "2020-01-03"]}
          cost: {type: decimal, bounds: [-5, 90], granularity: 0.01}
          ward: {type: text, keys: [a, b]}
`

// expressions are what values at the end of what there is can break.
var expressions = []string{
	"SELECT COUNT(*) FROM people WHERE ts + INTERVAL '1' DAY > TIMESTAMP '2000-01-01'",
	"SELECT COUNT(*) FROM people WHERE day + 1000000 > DATE '2000-01-01'", "SELECT SUM(EXTRACT(year FROM day)) FROM people",
	"SELECT COUNT(*) FROM people WHERE date_trunc('month', tz) = TIMESTAMP '2020-01-01'", "SELECT SUM(length(t)) FROM people",
	"SELECT COUNT(*) FROM people WHERE CAST(n AS INTEGER) > 0", "SELECT SUM(f8 * f8 * f4) FROM people",
	"SELECT COUNT(*) FROM people WHERE 1 / f8 > 0", "SELECT COUNT(*) FROM people WHERE CAST(t AS INTEGER) = 1",
	"SELECT COUNT(*) FROM people WHERE upper(l) = 'Ä' OR l LIKE '%a%'", "SELECT SUM(i8 - i4) FROM people",
	"SELECT COUNT(*) FROM people WHERE sqrt(d) > 1 AND ln(n) > 0", "SELECT COUNT(*) FROM people WHERE CAST(day AS TEXT) > '2'",
	"SELECT COUNT(DISTINCT ward) FROM events", "SELECT MAX(cost), MIN(cost) FROM events",
	"SELECT COUNT(*) FROM people p JOIN events v ON p.pid = v.pid WHERE v.day > p.day",
	"SELECT SUM(n) FROM (SELECT pid, COUNT(*) AS n FROM events GROUP BY pid) AS t",
}

// TestHostilePeople: what somebody has in their rows, in the types of PostgreSQL, decides neither
// whether the data can be read nor what is said, charged and drawn.
func TestHostilePeople(t *testing.T) {
	if testing.Short() {
		t.Skip("one question after the other, which the race detector has nothing to say about")
	}
	server := testpg.Shared(t)
	open := func(name string, people ...string) Database {
		statements := append(append(slices.Clone(everyType), people...), narrowed)
		source := server.Database(t, name, statements...)
		ds := payable(onlyDataset(t, fmt.Sprintf(everyTypePolicy, source, "add-remove")))
		return Database{ds, must(duckdb.OpenWith(t.Context(), ds, duckdb.Limits{Threads: 1, Memory: 1 << 30}))}
	}
	nobody := open("hostile")
	defer nobody.Engine.(*duckdb.Engine).Close()
	pairs, turn := 0, daily.Choices(t).Below(12)
	for _, who := range slices.Sorted(maps.Keys(hostilePeople)) { // so that each has the same questions every time
		pairs++
		t.Run(who, func(t *testing.T) {
			p := Pair{A: open(fmt.Sprint("hostile", pairs), hostilePeople[who]...), B: nobody}
			defer p.A.Engine.(*duckdb.Engine).Close()
			p.Name = who
			var tallies []*tally
			for i, q := range append(Corpus(p.A.Dataset), expressions...) {
				if at := i + pairs + turn; daily.Full() || at%12 == 0 || at%4 == 0 && strings.Contains(q, "events") {
					tallies = append(tallies, &tally{question: q})
				}
			}
			for _, y := range tallies {
				y.try(t.Context(), nil, p, 1)
			}
			moved := daily.Rounds(1, 5)
			if who == "nobody" {
				moved = 0
			}
			reportFindings(t, who, tallies, len(tallies)/2, moved)
		})
	}
}
