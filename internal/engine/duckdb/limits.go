package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine/publictime"
	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/source/pgtables"
)

// Limits are what one dataset's DuckDB may use of the machine. Zero is DuckDB's default: four
// fifths of the memory, and every core.
type Limits struct {
	// Memory is in bytes. What does not fit is spilled to disk. Package contribution takes a
	// quarter of it at most, beside it.
	Memory int64
	// Threads is how many cores one question can use. Results are exact integers, so they do not
	// depend on it.
	Threads int
	// Tell, where it is not nil, is told often how many bytes of a file were read, of how many.
	Tell func(file string, done, of int64)

	// doubts are what is looked at of a PostgreSQL database to see whether it fits the policy;
	// everything, where it is nil.
	doubts pgtables.Doubts
}

// telling tells of one file, or is nil.
func (l Limits) telling(file string) func(done, of int64) {
	if l.Tell == nil {
		return nil
	}
	return func(done, of int64) { l.Tell(file, done, of) }
}

// The least and the most that can be asked for. With less memory DuckDB fails on data that is not
// even large, and a question that fails has been paid for.
const (
	MinMemory  = 64_000_000
	maxMemory  = 1 << 50
	maxThreads = 1024
)

// Check says what is wrong with limits.
func (l Limits) Check() error {
	switch {
	case l.Memory != 0 && l.Memory < MinMemory:
		return fmt.Errorf("a memory limit of %d bytes is too small for DuckDB to work with; give it 64MB or more", l.Memory)
	case l.Memory > maxMemory:
		return fmt.Errorf("a memory limit of %d bytes is more than any machine has; write for example 4GB", l.Memory)
	case l.Threads < 0 || l.Threads > maxThreads:
		return fmt.Errorf("%d threads cannot be used; write a number from 1 to %d, or 0 for one per core", l.Threads, maxThreads)
	}
	return nil
}

// settings are the limits as DuckDB reads them.
func (l Limits) settings() []string {
	var out []string
	if l.Memory > 0 {
		out = append(out, fmt.Sprintf("SET memory_limit = '%dKiB'", l.Memory>>10))
	}
	if l.Threads > 0 {
		out = append(out, fmt.Sprintf("SET threads = %d", l.Threads))
	}
	return out
}

var memoryText = regexp.MustCompile(`\A([0-9]{1,15})(?:\.([0-9]{1,3}))? ?(B|[KMGT]i?B)\z`)

// ParseMemory reads a size of memory, such as 512MB, 4GB or 1.5GiB; nothing is 0. As in DuckDB, a
// KB has 1000 bytes and a KiB 1024.
func ParseMemory(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	bad := fmt.Errorf("%q is not an amount of memory; write for example 512MB, 4GB or 1.5GiB", text)
	m := memoryText.FindStringSubmatch(text)
	if m == nil {
		return 0, bad
	}
	base, power := int64(1000), strings.IndexByte("BKMGT", m[3][0])
	if strings.Contains(m[3], "i") {
		base = 1024
	}
	thousandths, err := strconv.ParseInt(m[1]+(m[2] + "000")[:3], 10, 64)
	if err != nil {
		return 0, bad
	}
	bytes := thousandths
	for range power {
		if bytes > maxMemory*1000/base {
			return 0, fmt.Errorf("%s of memory is more than any machine has; write for example 4GB", text)
		}
		bytes *= base
	}
	return bytes / 1000, nil
}

// countFunctions is how DuckDB counts what is public about the data.
var countFunctions = sqlengine.CountFunctions{Bytes: "strlen", Different: "approx_count_distinct"}

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

// trialSQL is work of many kinds on rows that nobody has: numbers, texts, groups. usualTrialTime is
// how long it takes on the machine that the constants of package publictime were measured on.
const (
	trialSQL = "SELECT sum(n), sum(l) FROM (SELECT x * 7919 % 20011 AS k, count(*) AS n, " +
		"sum(strlen(upper(CAST(x * 31 AS VARCHAR)))) AS l " +
		"FROM (SELECT range AS x FROM range(150000)) WHERE CAST(x AS VARCHAR) NOT LIKE '%99999%' GROUP BY k)"
	usualTrialTime = 15 * time.Millisecond
	trialRuns      = 15 // at most
)

// measureSpeed is how many times as slow this machine is as that one. What counts is what a
// processor works, where the system says it, and the best of some runs: others may work at the same
// time.
var measureSpeed = sync.OnceValue(func() float64 {
	best, err := bestTrial()
	if err != nil {
		return 1
	}
	return max(0.5, float64(best)/float64(usualTrialTime))
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
	var trials []time.Duration
	for range trialRuns {
		var n, l sql.NullFloat64
		began := threadTime()
		if err := db.QueryRow(trialSQL).Scan(&n, &l); err != nil {
			return 0, err
		}
		trials = append(trials, threadTime()-began)
		if settled(trials) {
			break
		}
	}
	return slices.Min(trials), nil
}

// settled reports whether the best of some runs is known: three of them took hardly longer.
func settled(trials []time.Duration) bool {
	best, near := slices.Min(trials), 0
	for _, t := range trials {
		if t <= best+best/25 {
			near++
		}
	}
	return near >= 3
}
