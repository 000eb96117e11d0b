package pgwire

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/discreet-dp/discreet/api"
)

// What the wire adds to a question: the same one, which is free after the first time.
func BenchmarkAsk(b *testing.B) {
	p := open(b, nil)
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.db.Ask(background, api.Question{Dataset: "hospital", Analyst: "ana", SQL: counting}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, mode := range map[string]pgx.QueryExecMode{"simple": pgx.QueryExecModeSimpleProtocol,
		"prepared": pgx.QueryExecModeCacheStatement} {
		b.Run(name, func(b *testing.B) {
			c := p.config(b, "ana", "hospital")
			c.DefaultQueryExecMode = mode
			conn := p.connect(b, c)
			for b.Loop() {
				var n int64
				if err := conn.QueryRow(background, counting).Scan(&n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
