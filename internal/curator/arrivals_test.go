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
		if where == "elsewhere" { // where it may have taken a while, by another clock, until it was there
			after = after.Add(2 * time.Second)
			before = before.Add(time.Second)
		}
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

// The same for models of another server: priced and listed.
func TestModelsElsewhere(t *testing.T) {
	w := newWorld(t, plenty)
	servers := w.servers(2)
	before := time.Now()
	q := smokers("0.5")
	first, err := servers[0].Trainings.Train(ctx, q, nil)
	w.check(err)
	after := time.Now()
	r := w.chargesOf(servers[1].ledger)[0]
	for _, c := range []struct {
		at    time.Time
		shown bool
	}{{before.Add(time.Second), false}, {after.Add(2 * time.Second), true}} {
		q.AsOf, q.Request = c.at, freshID()
		quote, err := servers[1].Trainings.Quote(ctx, q)
		w.check(err)
		if quote.Known != c.shown {
			t.Errorf("as of %v it is known: %v", c.at.Sub(before), quote.Known)
		}
		if _, err := servers[1].Trainings.Model(ctx, r, c.at); (err == nil) != c.shown {
			t.Errorf("as of %v: %v", c.at.Sub(before), err)
		}
	}
	q.AsOf, q.Request = before, r.Request // and who asks has it
	got, err := servers[1].Trainings.Train(ctx, q, nil)
	w.check(err)
	if got.ID != first.ID || got.Cost.Epsilon != 0 {
		t.Errorf("%s cost %v; it was %s", got.ID, got.Cost, first.ID)
	}
}
