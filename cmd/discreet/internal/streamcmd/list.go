package streamcmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
)

type streamListCmd struct{ streamFlags }

func (streamListCmd) Help() string {
	return `Prints what the policy says about its streams: what conditions can be about, how many cells that makes, how exact answers
are and with which probability, and what is paid where a prediction is wrong. Nothing is read from the data.

  discreet stream list --policy clinic.yaml`
}

func (c *streamListCmd) Run(ctx context.Context, s console.Screen) error {
	db, all, err := c.openAll(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"streams": all})
	}
	for i, info := range all {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		printStream(s.Out, info)
	}
	return nil
}

// maxShownValues is how many values of an attribute are shown.
const maxShownValues = 12

func printStream(w io.Writer, s api.StreamInfo) {
	fmt.Fprintf(w, "%s of %s, over the table %s\n", s.Name, s.Dataset, s.Table)
	for _, a := range s.Attributes {
		fmt.Fprintf(w, "  %s: %s\n", a.Name, console.CleanLines(valueWords(a.Values)))
	}
	fmt.Fprintf(w, "  %d cells. Answers are off by at most %d (alpha %v of %d people), all of %d different ones with probability %v\n",
		s.Cells, s.Error, s.Alpha, s.Size, s.Queries, 1-s.Beta)
	fmt.Fprintf(w, "  predicted by %s. A round of tests, up to the first that does not agree, costs %s, and there can be %d; an answer "+
		"without a test %s, and there can be %d\n", s.Predictor, render.Cost(s.Round), s.MostPaid, render.Cost(s.Plain), s.MostPlain)
}

// valueWords leaves out the middle of a long list.
func valueWords(all []string) string {
	if len(all) <= maxShownValues {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:maxShownValues-2], ", ") + ", ..., " + all[len(all)-1] + fmt.Sprintf(" (%d)", len(all))
}
