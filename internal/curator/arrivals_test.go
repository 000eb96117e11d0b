package curator

import (
	"testing"
	"time"

	"github.com/discreet-dp/discreet/api"
)

// What was kept after a tick does not exist for who prices a question before the next one: in the
// process that kept it, and in another one on the same ledger, which was not there.
func TestArrivalsElsewhere(t *testing.T) {
	w := newWorld(t, plenty)
	before := time.Now()
	const text, total = "SELECT sex, COUNT(*) FROM patients GROUP BY sex", "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	w.charged("ana", text, amount("0.5"))
	after := time.Now()
	for _, where := range []string{"here", "elsewhere"} {
		for _, q := range []api.Question{{SQL: text, Epsilon: amount("0.5")}, {SQL: text, Epsilon: amount("0.4")},
			{SQL: total, Epsilon: amount("0.4")}} {
			for _, c := range []struct {
				at   time.Time
				free bool
			}{{before, false}, {after, true}} {
				q.Analyst, q.AsOf = "ben", c.at
				e, err := w.Explain(ctx, q)
				w.check(err)
				if free := e.Pay.Epsilon == 0; free != c.free {
					t.Errorf("%s: %s at %v as of %v: free is %v", where, q.SQL, q.Epsilon, c.at.Sub(before), free)
				}
			}
		}
		w.reopen()
	}
}
