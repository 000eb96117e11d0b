package duckdb

import (
	"context"
	"database/sql"
	"runtime"
	"sync"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/publictime"
)

// counting is how DuckDB counts what is public about the data.
var counting = sqlengine.Counting{Bytes: "strlen", Different: "approx_count_distinct"}

// countThreads is how many threads one question can use.
func countThreads(ctx context.Context, db *sql.DB) int {
	n := 0
	if err := db.QueryRowContext(ctx, "SELECT CAST(current_setting('threads') AS INTEGER)").Scan(&n); err != nil || n < 1 {
		return runtime.NumCPU()
	}
	return n
}

// measureStore is what runs the questions of a database that somebody else has opened: as SQL.
func measureStore(ctx context.Context, db *sql.DB) publictime.Machine {
	return publictime.Machine{Threads: countThreads(ctx, db), Factor: measureSpeed(), SQL: true}
}

// trial is work of many kinds on rows that nobody has: numbers, texts, groups. usualTrial is how
// long it takes on the machine that the constants of package publictime were measured on.
const (
	trial = "SELECT sum(n), sum(l) FROM (SELECT x * 7919 % 20011 AS k, count(*) AS n, sum(strlen(upper(CAST(x * 31 AS VARCHAR)))) AS l " +
		"FROM (SELECT range AS x FROM range(150000)) WHERE CAST(x AS VARCHAR) NOT LIKE '%99999%' GROUP BY k)"
	usualTrial = 15 * time.Millisecond
	trials     = 15
)

// measureSpeed is how many times as slow this machine is as that one. What counts is what a
// processor works, where the system says it, and the best of some runs: others may work at the same
// time.
var measureSpeed = sync.OnceValue(func() float64 {
	best, err := bestTrial()
	if err != nil {
		return 1
	}
	return max(0.5, float64(best)/float64(usualTrial))
})

func bestTrial() (time.Duration, error) {
	connector, err := driver.NewConnector("", nil)
	if err != nil {
		return 0, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if _, err := db.Exec("SET threads = 1"); err != nil {
		return 0, err
	}
	runtime.LockOSThread() // without threads of its own DuckDB works on ours
	defer runtime.UnlockOSThread()
	best := time.Duration(0)
	for range trials {
		var n, l sql.NullFloat64
		began := worked()
		if err := db.QueryRow(trial).Scan(&n, &l); err != nil {
			return 0, err
		}
		if took := worked() - began; best == 0 || took < best {
			best = took
		}
	}
	return best, nil
}
