package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

type ledgerRenewCmd struct {
	console.ServerFlags
	Policy  string `help:"The policy file." placeholder:"FILE" short:"p"`
	Key     string `help:"The file with the owner's key; needed for a renewal at a server." placeholder:"KEYFILE"`
	Dataset string `help:"The dataset, if the policy has several." placeholder:"NAME"`
	Due     bool   `help:"Renew only if a window's time has passed since the last renewal, or the first charge; for cron."`
	Reason  string `help:"The reason, for later readers of the ledger." required:"" placeholder:"TEXT"`
	JSON    bool   `help:"Print JSON." name:"json"`
}

func (ledgerRenewCmd) Help() string {
	return `Ends the current window and begins the next one. Windows never begin by themselves: a budget does not depend on a
clock. There are never more windows than the policy says, so the promise over all of them holds however often you
run this. With --due it looks at this machine's clock, in days of UTC; if it is too early, it says so and does
nothing.

  discreet ledger renew --policy hospital.yaml --reason 'February'
  discreet ledger renew --policy hospital.yaml --due --reason cron            for crontab, once a day
  discreet ledger renew --server https://db.example:8432 --token-file owner.token --key owner.key --reason February`
}

func (c *ledgerRenewCmd) Run(ctx context.Context, s console.Screen) error {
	if server, err := c.Open(c.Policy); err != nil || server != nil {
		if err != nil {
			return err
		}
		return c.remote(ctx, s, server)
	}
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
	return c.print(s, r)
}

func (c *ledgerRenewCmd) print(s console.Screen, r api.Renewed) error {
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

// remote does it at a server that runs.
func (c *ledgerRenewCmd) remote(ctx context.Context, s console.Screen, server *console.Client) error {
	if c.Key == "" {
		return console.Misuse(errors.New("a renewal at a server takes the owner's key: name its file with --key"))
	}
	key, err := ownerkey.Load(c.Key)
	if err != nil {
		return err
	}
	dataset, err := server.Dataset(ctx, c.Dataset)
	if err != nil {
		return err
	}
	if c.Due {
		var spending struct {
			Window *struct {
				Due     string
				Overdue bool
			}
		}
		if err := server.Call(ctx, http.MethodGet, "/v1/datasets/"+dataset+"/spending", nil, &spending); err != nil {
			return err
		}
		if w := spending.Window; w != nil && !w.Overdue {
			if c.JSON {
				return console.PrintJSON(s.Out, map[string]any{"renewed": false, "due": w.Due})
			}
			fmt.Fprintln(s.Out, strings.TrimSpace("not due "+render.Clean(w.Due)))
			return nil
		}
	}
	var r struct {
		Sequence, Window, Windows uint64
		Promise                   []string
	}
	if err := server.Sign(ctx, "/v1/datasets/"+dataset+"/renewals", map[string]any{"reason": c.Reason}, ledger.KindRenewal, key,
		&r); err != nil {
		return err
	}
	return c.print(s, api.Renewed{Sequence: r.Sequence, Window: r.Window, Windows: r.Windows, Promise: r.Promise})
}

// isEarly reports whether it is too early to renew, and says so.
func (c *ledgerRenewCmd) isEarly(ctx context.Context, db *discreet.DB, s console.Screen) (bool, error) {
	last, err := c.isLastWindow(ctx, db)
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
		text = "not due: this is the last window that the policy declares"
	case !spent:
		text = "not due: nothing has been spent yet"
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

// isLastWindow reports whether there is no window after the current one.
func (c *ledgerRenewCmd) isLastWindow(ctx context.Context, db *discreet.DB) (bool, error) {
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
