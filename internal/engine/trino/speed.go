package trino

import (
	"context"
	"database/sql"
	"time"

	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/publictime"
)

// counting is how Trino counts what is public about the data. Characters are counted, which are
// bytes in most texts.
var counting = sqlengine.Counting{Bytes: "length", Different: "approx_distinct"}

// trial is work on rows that nobody has, and usualTrial how long it takes on a small cluster.
const (
	trial = "SELECT count(*), sum(length(upper(CAST(a * 1000 + b AS varchar)))) FROM UNNEST(sequence(1, 1000)) AS t(a) " +
		"CROSS JOIN UNNEST(sequence(1, 300)) AS u(b)"
	usualTrial = time.Second
	trials     = 3
)

// measure says how fast a cluster is: the best of some runs.
func measure(ctx context.Context, db *sql.DB) publictime.Machine {
	best := usualTrial
	for i := range trials {
		var n, l sql.NullFloat64
		began := time.Now()
		if err := db.QueryRowContext(ctx, trial).Scan(&n, &l); err != nil {
			break
		}
		if took := time.Since(began); i == 0 || took < best {
			best = took
		}
	}
	return publictime.Machine{Threads: 1, Factor: max(0.5, float64(best)/float64(usualTrial)), Cluster: true, SQL: true}
}
