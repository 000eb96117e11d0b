package holdoutcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/table"
)

type holdoutBoardCmd struct {
	holdoutFlags `embed:""`
}

func (holdoutBoardCmd) Help() string {
	return `Prints the scores that analysts have put on the board of a holdout with --name, the best first. Of several scores ` +
		`under one name the last stands.
A score that is confirmed is what its analyst claimed, and the holdout does not contradict it by more than the error beside it says; one that comes from the
holdout has noise. The board is public among the analysts of the dataset, and is that of the data as it is now.

  discreet holdout board --policy trial.yaml
  discreet holdout board --policy trial.yaml --holdout rows --json`
}

var boardKeys = []string{"rank", "name", "analyst", "score", "spent", "error", "time"}

func (c *holdoutBoardCmd) Run(ctx context.Context, s console.Screen) error {
	db, err := discreet.Open(ctx, c.Policy)
	if err != nil {
		return err
	}
	defer db.Close()
	info, err := c.info(db)
	if err != nil {
		return err
	}
	lines, err := db.Board(ctx, c.Dataset, info.Name)
	if err != nil {
		return err
	}
	if c.JSON {
		board := []console.Ordered{}
		for _, l := range lines {
			board = append(board, console.Ordered{Object: l, Keys: boardKeys})
		}
		return console.PrintJSON(s.Out, map[string]any{"dataset": info.Dataset, "holdout": info.Name, "board": board})
	}
	if len(lines) == 0 {
		fmt.Fprintln(s.Out, "no score is on the board yet; put one there with discreet holdout score --name")
		return nil
	}
	t := &table.Table{Header: []string{"", "name", "analyst", "score", render.PlusMinus(0), "", "time"},
		Right: []bool{true, false, false, true, true}}
	for _, l := range lines {
		what := "confirmed"
		if l.Spent {
			what = "from the holdout"
		}
		t.Add(fmt.Sprint(l.Rank), l.Name, l.Analyst, l.Score, fmt.Sprintf("%.4f", l.Error), what, l.Time.Format(time.DateTime))
	}
	t.Write(s.Out)
	return nil
}
