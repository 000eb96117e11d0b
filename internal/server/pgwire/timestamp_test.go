package pgwire

import (
	"fmt"
	"testing"
	"time"
)

// TestTimestamps: the quantiles of a timestamp are timestamps in text and in binary, for the
// client and for the question around them, and the same ones each time.
func TestTimestamps(t *testing.T) {
	p := open(t, nil)
	const inner = "SELECT min(seen) AS a, max(seen) AS b, median(seen) AS c, percentile_disc(0.25) WITHIN GROUP (ORDER BY seen) AS d " +
		"FROM (SELECT least(greatest(day, '2015-01-01'), '2030-01-01') + INTERVAL '90 minutes 0.000001 seconds' AS seen " +
		"FROM visits) AS v"
	for _, q := range []string{inner, "SELECT * FROM (" + inner + ") AS t"} {
		first := ""
		for _, mode := range modes {
			c := p.config(t, "ana", "hospital")
			c.DefaultQueryExecMode = mode
			var at [4]time.Time
			if err := p.connect(t, c).QueryRow(background, q).Scan(&at[0], &at[1], &at[2], &at[3]); err != nil {
				t.Fatal(mode, err)
			}
			got := fmt.Sprint(at)
			if first == "" {
				first = got
			}
			if got != first || at[0].Year() < 2000 || at[1].Before(at[2]) || at[2].Before(at[0]) {
				t.Errorf("%v: %v, and before %v", mode, got, first)
			}
		}
	}
}
