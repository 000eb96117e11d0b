package querycmd

import (
	"context"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

// ExplainCmd is discreet explain.
type ExplainCmd struct {
	askFlags `embed:""`
	SQL      string `arg:"" help:"One SELECT with aggregates; - reads it from standard input."`
}

func (ExplainCmd) Help() string {
	return `Prints, for each noisy number of a question, the mechanism, how far one person can move it and why, the noise and
the expected error; which keys are shown; then the price, how it is divided and what it leaves. It costs nothing, and
nothing is computed from the data.

  discreet explain --policy hospital.yaml --as ana 'SELECT sex, AVG(age) FROM patients GROUP BY sex'`
}

func (c *ExplainCmd) Run(ctx context.Context, s console.Screen) error {
	start, err := c.initialSettings()
	if err != nil {
		return err
	}
	text := c.SQL
	if text == "-" {
		if text, err = readAll(s.In); err != nil {
			return err
		}
	}
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	return c.newConsole(db, s, start).explain(ctx, text)
}
