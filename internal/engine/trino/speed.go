package trino

import (
	"context"
	"database/sql"
	"time"

	"github.com/discreet-dp/discreet/internal/engine/sqlengine"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/publictime"
)

// counting is how Trino counts what is public about the data. Characters are counted, which are
// bytes in most texts.
var counting = sqlengine.Counting{Bytes: "length", Different: "approx_distinct"}

// trial is work on rows that nobody has, and usualTrial how long processors work for it on the
// cluster that the constants of package publictime were measured on.
const (
	trial = "SELECT count(*), sum(length(upper(CAST(a * 1000 + b AS varchar)))) FROM UNNEST(sequence(1, 1000)) AS t(a) " +
		"CROSS JOIN UNNEST(sequence(1, 300)) AS u(b)"
	usualTrial = 70 * time.Millisecond
	trials     = 3
)

// measure says how fast a cluster is: the best of some runs, by what its processors worked. Others
// may work at the same time.
func measure(ctx context.Context, db *sql.DB) publictime.Machine {
	best := usualTrial
	for i := range trials {
		var n, l sql.NullFloat64
		ctx, work := pace.Count(ctx)
		if err := db.QueryRowContext(ctx, trial).Scan(&n, &l); err != nil {
			break
		}
		if worked := work.Done(); worked > 0 && (i == 0 || worked < best) {
			best = worked
		}
	}
	return publictime.Machine{Threads: 1, Factor: max(0.5, float64(best)/float64(usualTrial)), Cluster: true, SQL: true}
}
