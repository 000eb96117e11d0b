package democmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/hospital"
)

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
	return `Makes up a clinic whose policy has a stream over four columns, and a file of random questions to it. The same seed makes
the same clinic. What can be done with them stands behind it.

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
