package ledgercmd

import (
	"context"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

type renewCmd struct {
	Policy  string `help:"The policy file." required:"" placeholder:"FILE" short:"p"`
	Dataset string `help:"The dataset, where the policy has several." placeholder:"NAME"`
	Due     bool   `help:"Only where a window's time has passed since the last renewal, or the first charge; for cron."`
	Reason  string `help:"Why, for whoever reads the ledger later." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (renewCmd) Help() string {
	return `Ends the current window and begins the next one. Windows never begin by themselves: a budget depends on no clock. There
are never more windows than the policy says, so that the promise over all of them holds however often this is run.
With --due this machine's clock is looked at, by days of UTC, and where it is too early that is said and nothing is done.

  discreet ledger renew --policy hospital.yaml --reason 'February'
  discreet ledger renew --policy hospital.yaml --due --reason cron            for crontab, once a day`
}

func (c *renewCmd) Run(ctx context.Context, s console.Screen) error {
	db, err := discreet.Open(ctx, c.Policy, discreet.AsOwner())
	if err != nil {
		return err
	}
	defer db.Close()
	if c.Due {
		if done, err := c.isEarly(ctx, db, s); done || err != nil {
			return err
		}
	}
	r, err := db.Renew(ctx, c.Dataset, c.Reason)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"renewed": true, "sequence": r.Sequence, "window": r.Window, "windows": r.Windows,
			"promise": r.Promise})
	}
	fmt.Fprintf(s.Out, "window %d of %d has begun\n", r.Window, r.Windows)
	for _, line := range r.Promise {
		fmt.Fprintln(s.Out, line)
	}
	return nil
}

// isEarly reports whether it is too early to renew, and says so.
func (c *renewCmd) isEarly(ctx context.Context, db *discreet.DB, s console.Screen) (bool, error) {
	last, err := c.last(ctx, db)
	if err != nil {
		return false, err
	}
	var next time.Time
	spent := false
	if !last {
		if next, spent, err = db.Due(ctx, c.Dataset); err != nil {
			return false, err
		}
	}
	text, day := "", ""
	switch {
	case last:
		text = "not due: this window is the last that the policy declares"
	case !spent:
		text = "not due: nothing was spent yet"
	case s.Now().Before(next):
		day = next.Format(time.DateOnly)
		text = "not due before " + day
	default:
		return false, nil
	}
	if c.JSON {
		return true, console.PrintJSON(s.Out, map[string]any{"renewed": false, "due": day})
	}
	fmt.Fprintln(s.Out, text)
	return true, nil
}

// last reports whether there is no window after the current one.
func (c *renewCmd) last(ctx context.Context, db *discreet.DB) (bool, error) {
	accounts, err := db.Budget(ctx, c.Dataset)
	if err != nil {
		return false, err
	}
	for _, a := range accounts {
		if a.Kind == "window" {
			return a.Window >= a.Windows, nil
		}
	}
	return false, nil // and the renewal is refused, with the reason
}
