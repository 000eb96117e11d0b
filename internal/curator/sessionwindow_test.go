package curator

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/ledger"
)

// A budget that is renewed while the engine runs ends what the window before has paid for: it is
// neither noted nor told, and who asks again pays in the new window.
func TestSessionsCrossNoWindow(t *testing.T) {
	streams := build(t, large(),
		streaming(hospital.Dataset("hospital", "data",
			"{epsilon: 5, per_query: {default: 0.5, max: 5}, renewal: {every: month, windows: 3}}"), crowd,
			"        alpha: 0.05\n        queries: 100000\n"), 1)
	holdouts := newHoldouts(t, "{epsilon: 2, per_query: {default: 0.1, max: 2}, renewal: {every: month, windows: 3}}", nil)
	for name, c := range map[string]struct {
		w   *world
		ask func() error
	}{
		"stream": {streams, func() error {
			_, err := streams.Streams.Ask(ctx, api.StreamQuestion{Analyst: "ana", SQL: "sex = 'F'"})
			return err
		}},
		"holdout": {holdouts, func() error {
			_, err := holdouts.score(api.HoldoutQuestion{Holdout: "rows", SQL: "smoker", Training: "0.3"})
			return err
		}},
	} {
		r := c.w.record()
		r.before["run"] = func() error {
			delete(r.before, "run")
			c.w.renew()
			return nil
		}
		var lapsed *ledger.LapsedError
		if err := c.ask(); !errors.As(err, &lapsed) || lapsed.Window != 1 || lapsed.Now != 2 {
			t.Errorf("%s: told in another window: %v", name, err)
		}
		if err := c.ask(); err != nil {
			t.Errorf("%s: asked again: %v", name, err)
		}
		of, err := c.w.Accounts(ctx, "ana")
		c.w.check(err)
		if len(of) == 0 || of[0].Spent.Epsilon == 0 && of[0].Spent.Rho == 0 {
			t.Errorf("%s: the new window has paid nothing: %+v", name, of)
		}
	}
}
