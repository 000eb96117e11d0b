package policydraft

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/policy"
)

// TestDoubts: what the database's own constraints say is not looked for in its rows, what they do
// not say is, and what is found is what reading everything finds.
func TestDoubts(t *testing.T) {
	server := shared(t)
	address := fresh(t, server, "hospital", "reader", `
CREATE TYPE sex AS ENUM ('F', 'M');
CREATE DOMAIN percent AS numeric(5,2) CHECK (VALUE BETWEEN 0 AND 100);
CREATE TABLE people (pid bigint PRIMARY KEY, sex sex NOT NULL, age integer CHECK (age >= 0 AND age < 120), born date
  CHECK (born BETWEEN '1900-01-01' AND '2030-12-31'), fat percent, tall numeric(4,1), town text NOT NULL, code uuid,
  seen timestamptz CHECK (seen >= '2000-01-01 00:00:00+00' AND seen < '2040-01-01 00:00:00+00'));
CREATE TABLE visits (vid bigint PRIMARY KEY, pid bigint NOT NULL REFERENCES people, cost double precision CHECK (cost >= 0 AND cost <= 500),
  day date) PARTITION BY RANGE (vid);
CREATE TABLE visits_1 PARTITION OF visits FOR VALUES FROM (0) TO (1000);
CREATE TABLE labs (vid bigint NOT NULL REFERENCES visits, value real);
CREATE TABLE loose (pid bigint, age integer CHECK (age >= 0), n numeric, word text, born date);
CREATE TABLE unsure (vid bigint NOT NULL);
ALTER TABLE unsure ADD FOREIGN KEY (vid) REFERENCES visits NOT VALID;
CREATE TABLE parent (pid bigint PRIMARY KEY);
CREATE TABLE child () INHERITS (parent);
CREATE TABLE codes (code text PRIMARY KEY, name text);
CREATE TABLE twice (code text, name text);
INSERT INTO people SELECT i, 'F', i, '2000-01-01', 5, 1, 'a', NULL, '2020-01-01' FROM generate_series(1, 50) i;
INSERT INTO visits SELECT i, i, 5, CASE WHEN i < 40 THEN date '2025-01-01' ELSE 'infinity' END FROM generate_series(1, 50) i;
INSERT INTO labs SELECT i, CASE WHEN i < 9 THEN 'NaN'::real ELSE i END FROM generate_series(1, 50) i;
INSERT INTO loose SELECT CASE WHEN i < 45 THEN i % 30 END, i, i * 1e30, NULL, '0001-01-01 BC' FROM generate_series(1, 50) i;
INSERT INTO child SELECT i / 2 FROM generate_series(1, 50) i;
INSERT INTO codes SELECT i, i FROM generate_series(1, 50) i;
INSERT INTO twice SELECT i / 2, i FROM generate_series(1, 50) i;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader; REVOKE ALL ON child, visits_1 FROM reader;
ANALYZE;`)
	const text = `datasets: {d: {source: 'SOURCE', unit: people.pid, budget: {epsilon: 1}, analysts: {ana: }, tables: {
people: {unique: pid, columns: {pid: {type: integer}, sex: {type: text, nullable: false, keys: [F, M]}, age: {type: integer, bounds: AGE},
  born: {type: date, bounds: [1900-01-01, 2040-12-31]}, fat: {type: decimal, bounds: [0, 100], granularity: 0.01},
  tall: {type: decimal, granularity: 0.1}, town: {type: text, nullable: false, keys: private}, code: {type: text},
  seen: {type: timestamp, bounds: [2000-01-01 00:00:00, 2040-01-01 00:00:00]}}},
visits: {path: pid -> people.pid, max_rows: 3, max_groups: 3, columns: {vid: {type: integer}, pid: {type: integer},
  cost: {type: decimal, granularity: 0.01, bounds: [0, 500]}, day: {type: date}}},
labs: {path: vid -> visits.vid, max_rows: 3, max_groups: 3, columns: {vid: {type: integer},
  value: {type: decimal, granularity: 0.1, bounds: [20, 30]}}},
loose: {path: pid -> people.pid, max_rows: 3, max_groups: 3, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 20]},
  n: {type: decimal, granularity: 0.01}, word: {type: text, nullable: false}, born: {type: date}}},
unsure: {path: vid -> visits.vid, max_rows: 3, max_groups: 3, columns: {vid: {type: integer}}},
parent: {path: pid -> people.pid, unique: pid, columns: {pid: {type: integer}}},
codes: {public: true, unique: code, columns: {code: {type: text}, name: {type: text}}},
twice: {public: true, unique: code, columns: {code: {type: text}, name: {type: text}}}}}}`
	read := func(age string) (map[string][]string, []engine.Finding, []engine.Finding) {
		t.Helper()
		p, err := policy.Parse("p.yaml", []byte(strings.NewReplacer("SOURCE", address, "AGE", age).Replace(text)))
		if err != nil {
			t.Fatal(err)
		}
		ds := p.Datasets["d"]
		doubts, err := Doubts(t.Context(), ds)
		if err != nil {
			t.Fatal(err)
		}
		some, few, err := duckdb.InspectDoubts(t.Context(), ds, doubts)
		if err != nil {
			t.Fatal(err)
		}
		all, many, err := duckdb.Inspect(t.Context(), ds)
		if err != nil || few != many {
			t.Fatalf("%v, and 10^%d rows of 10^%d", err, few, many)
		}
		return doubts.Read(ds), some, all
	}
	want := map[string][]string{"visits": {"day", "vid"}, "labs": {"value"}, "loose": {"age", "n", "word", "born", "pid"},
		"unsure": {"vid"}, "parent": {"pid"}, "twice": {"code"}, "people": {"pid"}}
	got, some, all := read("[0, 120]")
	for _, columns := range []map[string][]string{got, want} {
		for _, c := range columns {
			slices.Sort(c)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read %v\nwant %v", got, want)
	}
	said := func(all []engine.Finding) string { return fmt.Sprintf("%+v", all) }
	if said(some) != said(all) || len(all) != 9 {
		t.Errorf("of what is in doubt: %+v\nof everything: %+v", some, all)
	}
	// Bounds that are narrower than the database's.
	if got, _, _ = read("[0, 100]"); !slices.Contains(got["people"], "age") {
		t.Errorf("read %v", got)
	}
}

// TestDoubtsReadNothing: of tables that are not in doubt no row is read, by PostgreSQL's own count.
func TestDoubtsReadNothing(t *testing.T) {
	server := shared(t)
	address := fresh(t, server, "unread", "reader", `
CREATE TABLE people (pid bigint PRIMARY KEY, age integer CHECK (age BETWEEN 0 AND 120));
CREATE TABLE visits (pid bigint NOT NULL REFERENCES people, day date);
INSERT INTO people SELECT i, 5 FROM generate_series(1, 1000) i; INSERT INTO visits SELECT i FROM generate_series(1, 1000) i;
REVOKE CREATE ON SCHEMA public FROM PUBLIC; GRANT SELECT ON people, visits TO reader;
SELECT pg_stat_reset();`)
	count := func(table string) (n int) {
		conn, err := pgx.Connect(context.Background(), strings.Replace(address, "reader@", "postgres@", 1))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		const ask = "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = $1"
		if err := conn.QueryRow(context.Background(), ask, table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	p, err := policy.Parse("p.yaml", []byte(`datasets: {d: {source: '`+address+`', unit: people.pid, budget: {epsilon: 1}, analysts: {ana: },
tables: {people: {unique: pid, columns: {pid: {type: integer}, age: {type: integer, bounds: [0, 120]}}},
visits: {path: pid -> people.pid, max_rows: 3, max_groups: 3, columns: {pid: {type: integer}, day: {type: date}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	doubts, err := Doubts(t.Context(), p.Datasets["d"])
	if err != nil {
		t.Fatal(err)
	}
	before := count("people")
	if _, _, err := duckdb.InspectDoubts(t.Context(), p.Datasets["d"], doubts); err != nil {
		t.Fatal(err)
	}
	for n := 0; count("visits") < 1000 && n < 100; n++ { // it counts when who read has gone
		time.Sleep(20 * time.Millisecond)
	}
	if people, visits := count("people"), count("visits"); people != before || visits < 1000 {
		t.Errorf("%d rows of people were read, and %d of visits", people-before, visits)
	}
}
