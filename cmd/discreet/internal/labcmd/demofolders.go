package labcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/sessioncmd"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	town "github.com/discreet-dp/discreet/internal/lab/traindemo"
	"github.com/discreet-dp/discreet/internal/render"
)

type demoShopCmd struct {
	Folder string  `arg:"" help:"Make the shop in this new folder." type:"path"`
	Scale  float64 `help:"The scale: 1 is 150,000 customers with 6 million items, 330 MB." default:"0.01"`
	Seed   uint64  `help:"Which shop to make up." default:"1"`
	JSON   bool    `help:"Print JSON." name:"json"`
}

const shopExample = `
  discreet demo shop shop          writes the data and the policy of a made-up wholesaler, to try joins on`

func (demoShopCmd) Help() string {
	return `Makes up a wholesaler in the shape of the TPC-H benchmark: customers, their orders, the items of the orders,
and two public tables, nations and parts. The same seed makes the same shop. shop.yaml is its policy.

  discreet demo shop shop
  discreet demo shop --scale 1 --seed 7 large`
}

func (c *demoShopCmd) Run(ctx context.Context, s console.Screen) error {
	made, err := hospital.NewShop(c.Scale, c.Seed)
	if err != nil {
		return console.Misuse(fmt.Errorf("--scale: %w", err))
	}
	if err := refuseFilledFolder(c.Folder); err != nil {
		return err
	}
	done := console.Waiting(s.Err, "writing")
	counts, err := made.Write(ctx, c.Folder)
	done()
	if err != nil {
		return err
	}
	policy := filepath.Join(c.Folder, "shop.yaml")
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"folder": c.Folder, "policy": policy, "rows": counts})
	}
	fmt.Fprintf(s.Out, "The shop is in %s: %d customers, %d orders, %d items. %d nations and %d parts are public. Ask it with:\n  "+
		"discreet query --policy %s --as ana\n",
		c.Folder, counts.Customers, counts.Orders, counts.Items, counts.Nations, counts.Parts, console.ShellQuote(policy))
	return nil
}

type demoStreamCmd struct {
	Folder    string `arg:"" help:"Make the clinic in this new folder." type:"path"`
	People    int    `help:"How many patients it has." default:"50000"`
	Questions int    `help:"How many questions the workload has." default:"5000"`
	Seed      uint64 `help:"Which clinic to make up." default:"1"`
	JSON      bool   `help:"Print JSON." name:"json"`
}

const streamDemoExample = `
  discreet demo stream clinic      writes a clinic whose policy has a stream, and thousands of questions to it`

func (demoStreamCmd) Help() string {
	return `Makes up a clinic whose policy has a stream over four columns, and a file of random questions to it. The same
seed makes the same clinic. Then prints commands to try.

  discreet demo stream clinic
  discreet demo stream --people 200000 --questions 20000 large`
}

const streamDemoBudget = "{epsilon: 4, per_query: {default: 0.1, max: 1}}"

func (c *demoStreamCmd) Run(s console.Screen) error {
	switch {
	case c.People < 1000 || c.People > 5_000_000:
		return console.Misuse(fmt.Errorf("--people %d: make up 1000 to 5000000", c.People))
	case c.Questions < 1 || c.Questions > 1_000_000:
		return console.Misuse(fmt.Errorf("--questions %d: make up 1 to 1000000", c.Questions))
	}
	if err := refuseFilledFolder(c.Folder); err != nil {
		return err
	}
	done := console.Waiting(s.Err, "writing")
	err := c.write()
	done()
	if err != nil {
		return err
	}
	policy, questions := filepath.Join(c.Folder, "clinic.yaml"), filepath.Join(c.Folder, "questions.txt")
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"folder": c.Folder, "policy": policy, "workload": questions, "people": c.People,
			"questions": c.Questions})
	}
	fmt.Fprintf(s.Out, "The clinic is in %s: %d patients, a policy with a stream, and %d questions. Try:\n",
		c.Folder, c.People, c.Questions)
	p, q := console.ShellQuote(policy), console.ShellQuote(questions)
	fmt.Fprintf(s.Out, "  discreet stream list --policy %s\n  discreet stream --policy %s --workload %s\n  discreet stream ask --policy "+
		"%s --as ana \"sex = 'F' AND age >= 30\"\n  discreet stream ask --policy %s --as ana - < %s\n  discreet stream synthetic "+
		"--policy %s --as ana -o people.csv\n",
		p, p, q, p, p, q, p)
	return nil
}

func (c *demoStreamCmd) write() error {
	if err := hospital.New(c.People, c.Seed).Write(filepath.Join(c.Folder, "data")); err != nil {
		return err
	}
	policy := "datasets:\n" + hospital.Dataset("clinic", "data", streamDemoBudget) + hospital.Stream(c.People, "0.01", "3.5")
	if err := os.WriteFile(filepath.Join(c.Folder, "clinic.yaml"), []byte(policy), 0o644); err != nil {
		return err
	}
	text := "# Made-up questions: how many patients meet each condition?\n" + strings.Join(hospital.Workload(c.Questions, c.Seed), "\n") +
		"\n"
	return os.WriteFile(filepath.Join(c.Folder, "questions.txt"), []byte(text), 0o644)
}

type demoTrainCmd struct {
	Dir      string   `help:"Write the town into this new folder, with a policy, to train on it yourself." placeholder:"DIR" type:"path"`
	Rows     int      `help:"How many inhabitants it has." default:"20000" placeholder:"N"`
	Epsilons []string `help:"The prices to compare; 0.1, 1 and 10 if left out." placeholder:"E,E"`
	Draws    int      `help:"How many models are trained for each." default:"10" placeholder:"N"`
	Seed     uint64   `help:"Which town to make up." default:"1"`
	JSON     bool     `help:"Print JSON." name:"json"`
}

const trainDemoExample = `
  discreet demo train              trains models on a made-up town, and compares promises with observations`

func (demoTrainCmd) Help() string {
	return `Makes up a town, trains classifiers of high earners with every method, and compares what the theorems promise
with what was observed: how far the mean of loss and regulariser is above its minimum, on the rows of the
training; and how often models are wrong about others. The same seed gives the same numbers.

  discreet demo train
  discreet demo train --dir town     writes the town and a policy instead, and says what to try`
}

const trainDemoBudget = "{epsilon: 4, delta: 0, per_query: {default: 0.1, max: 2}}"

func (c *demoTrainCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Dir != "" {
		return c.write(s)
	}
	if len(c.Epsilons) == 0 {
		c.Epsilons = []string{"0.1", "1", "10"}
	}
	what := town.Sweep{Ways: town.Ways, Splits: 1, Draws: c.Draws, Seed: c.Seed}
	var err error
	if what.Epsilons, err = sessioncmd.ReadEpsilons(c.Epsilons); err != nil {
		return err
	}
	d, err := town.MakeTown(c.Rows, c.Seed)
	if err != nil {
		return console.Misuse(err)
	}
	tell, done := console.Progress(s.Err, "training")
	promises, err := what.Promises(ctx, d, tell)
	done()
	if errors.Is(err, town.ErrDemo) {
		return console.Misuse(err)
	} else if err != nil {
		return err
	}
	if c.JSON {
		return c.printJSON(s, promises)
	}
	train, test := d.Split(c.Seed)
	fmt.Fprintf(s.Out, "%s: %s rows to train on, %s to test with; %d weights; logistic loss; %d trainings each\n", d.Name,
		console.Thousands(float64(len(train.Rows))), console.Thousands(float64(len(test.Rows))), d.Weights(), c.Draws)
	fmt.Fprintf(s.Out, "excess: how far the mean of loss and regulariser is above its minimum. It exceeds the promise with "+
		"probability at most %v.\n\n", town.Beta)
	t := &render.Table{
		Header: []string{"method", "epsilon", "Lambda", "promised excess", "observed", "largest", "wrong", "wrong without noise"},
		Right:  []bool{false, true, true, true, true, true, true, true},
	}
	broken := 0
	for _, p := range promises {
		t.Add(p.Way, p.Epsilon.Short(), fmt.Sprintf("%.3g", p.Regulariser), fmt.Sprintf("%.3g", p.Promised),
			fmt.Sprintf("%.3g", p.Observed), fmt.Sprintf("%.3g", p.Largest), fmt.Sprintf("%.4f", p.Wrong), fmt.Sprintf("%.4f", p.Least))
		broken += p.Broken
	}
	t.Write(s.Out)
	fmt.Fprintf(s.Out, "\nOf %d models, %d exceed the promise. The theorems know nothing about the rows, so they promise far less "+
		"than you observe.\n", len(promises)*c.Draws, broken)
	return nil
}

func (c *demoTrainCmd) printJSON(s console.Screen, promises []town.Promise) error {
	type line struct {
		Epsilon float64 `json:"epsilon"`
		town.Promise
	}
	list := []line{}
	for _, p := range promises {
		list = append(list, line{console.Decimal(p.Epsilon), p})
	}
	return console.PrintJSON(s.Out, map[string]any{"rows": c.Rows, "draws": c.Draws, "seed": c.Seed, "beta": town.Beta, "promises": list})
}

// write writes rows to train on, some to predict, and a policy.
func (c *demoTrainCmd) write(s console.Screen) error {
	d, err := town.MakeTown(c.Rows, c.Seed)
	if err != nil {
		return console.Misuse(err)
	}
	if err := refuseFilledFolder(c.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(c.Dir, "data"), 0o755); err != nil {
		return err
	}
	train, test := d.Split(c.Seed)
	policy, rows := filepath.Join(c.Dir, "town.yaml"), filepath.Join(c.Dir, "new.csv")
	err = errors.Join(
		console.WriteFile(nil, filepath.Join(c.Dir, "data", "town.csv"), func(w io.Writer) error { return train.CSV(w, "id", true) }),
		console.WriteFile(nil, rows, func(w io.Writer) error { return test.CSV(w, "id", true) }),
		os.WriteFile(policy, []byte(d.Policy("town", "id", "data", trainDemoBudget)), 0o644),
	)
	if err != nil {
		return err
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]any{"folder": c.Dir, "policy": policy, "new": rows, "people": len(train.Rows),
			"new_people": len(test.Rows)})
	}
	p, model := console.ShellQuote(policy), console.ShellQuote(filepath.Join(c.Dir, "model.json"))
	fmt.Fprintf(s.Out, "The town is in %s: %d inhabitants to train on, with a policy, and %d others. Try:\n",
		c.Dir, len(train.Rows), len(test.Rows))
	fmt.Fprintf(s.Out, "  discreet train --policy %s --as ana --features 'SELECT * FROM town' --target earns --epsilon 1 --explain\n  "+
		"discreet train --policy %s --as ana --features 'SELECT * FROM town' --target earns --epsilon 1 -o %s\n  "+
		"discreet predict -m %s %s > %s\n",
		p, p, model, model, console.ShellQuote(rows), console.ShellQuote(filepath.Join(c.Dir, "predicted.csv")))
	return nil
}
