package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/engine/trino"
	"github.com/discreet-dp/discreet/policy"
)

// printSizes prints what to declare of how large the data of each dataset is.
func (c *CheckCmd) printSizes(ctx context.Context, s console.Screen, p *policy.Policy) error {
	if c.NoData {
		return console.Misuse(errors.New("--sizes counts the data, and --no-data does not open it; leave out one of the two"))
	}
	blocks, declared := map[string]string{}, map[string]*policy.Sizes{}
	for _, name := range p.Names() {
		done := console.Waiting(s.Err, "counting "+name)
		sizes, err := proposeSizes(ctx, p.Datasets[name])
		done()
		if err != nil {
			return err
		}
		blocks[name], declared[name] = sizes.Text(p.Datasets[name]), sizes
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"ok": true, "datasets": declared})
	}
	for _, name := range p.Names() {
		fmt.Fprintf(s.Out, "    # Paste this into the dataset %s, in place of its 'sizes' if it has them. Everybody may know\n"+
			"    # it: when answers leave tells it. Write larger numbers where the data will grow.\n%s", name, blocks[name])
	}
	return nil
}

// proposeSizes counts the data of a dataset.
func proposeSizes(ctx context.Context, ds *policy.Dataset) (*policy.Sizes, error) {
	if ds.SourceKind() == policy.TrinoDatabase {
		return trino.ProposeSizes(ctx, ds)
	}
	return duckdb.ProposeSizes(ctx, ds)
}

// withSizes declares the sizes of the files that a draft was made of. The tables are the last thing
// in a draft, so that what belongs to its dataset can stand behind them.
func (c *InitCmd) withSizes(ctx context.Context, text string) (string, error) {
	p, err := policy.Parse(filepath.Join(filepath.Dir(c.Output), "draft"), []byte(text))
	if err != nil {
		return "", err
	}
	for _, ds := range p.Datasets {
		sizes, err := proposeSizes(ctx, ds)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil: // what is wrong with the data is for 'discreet check' to say
			return text + "\n" + sizesUnknown, nil
		}
		text += "\n" + sizesNote + sizes.Text(ds)
	}
	return text, nil
}

// What a draft says where sizes are declared, and where they could not be counted.
const (
	sizesNote = `    # How large the data is at most, counted and rounded up when this was drafted. Deadlines of
    # answers follow from these numbers, so everybody may know them, and no person moves them.
    # Write larger ones before the data outgrows them; 'discreet check' says when it has.
`
	sizesUnknown = `    # Deadlines of answers follow from how large the data is, which one person can move. Declare
    # it: 'discreet check --sizes' with this file counts it, and prints a block to paste here.
`
)
