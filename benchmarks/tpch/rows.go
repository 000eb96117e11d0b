package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

const events = `datasets:
  rows:
    engine: duckdb
    source: %s
    unit: t.pid
    budget: {epsilon: 100}
    analysts: {ana: }
    tables:
      t:
        max_rows: 10
        max_groups: 5
        columns:
          k: {type: text, keys: [%s]}
          v: {type: integer, bounds: [0, 100000]}
`

// rows prints the lines of the table of people with ten rows each, in no order, and 1000 groups.
func rows(ctx context.Context, host, database string, millions int) error {
	plain, err := dial(ctx, host, database)
	if err != nil {
		return err
	}
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprintf("key%d", i)
	}
	source := strconv.Quote(address(host, "discreet", database))
	p, err := open(ctx, fmt.Sprintf(events, source, strings.Join(keys, ", ")))
	if err != nil {
		return err
	}
	defer p.close(nil)
	for i, text := range []string{"SELECT k, COUNT(*), SUM(v) FROM t GROUP BY k", "SELECT k, COUNT(*) FROM t GROUP BY k"} {
		var plains, privates []time.Duration
		// Another price each time, or it would be free.
		for j := range times {
			_, took, err := plain.query(ctx, text)
			if err != nil {
				return err
			}
			plains = append(plains, took)
			if _, took, err = p.ask(ctx, text, api.Settings{}, dp.One+dp.Amount(10*i+2*j)); err != nil {
				return err
			}
			privates = append(privates, took)
		}
		fmt.Printf("| %d million | `%s` | %.1f s | %s ms | %s ms | %s |\n", millions, text, p.opened.Seconds(), ms(median(plains)),
			ms(median(privates)), ratio(median(privates), median(plains)))
	}
	return nil
}
