package labcmd

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/lab/audit"
	"github.com/discreet-dp/discreet/internal/lab/enumerate"
	"github.com/discreet-dp/discreet/internal/lab/lockstep"
	"github.com/discreet-dp/discreet/internal/render"
)

type AuditCmd struct {
	Mechanism []string `arg:"" optional:"" help:"What to audit; everything if you name nothing."`
	Policy    *string  `help:"Audit the questions of a policy instead, on made-up data for its tables." placeholder:"FILE" short:"p"`
	Samples   int      `help:"How often to run a mechanism on each of two neighbours; slow mechanisms run less often." default:"1000000" placeholder:"N"`
	JSON      bool     `help:"Print JSON." name:"json"`
}

func (AuditCmd) Help() string {
	return `Tries to break every mechanism's claim. An exact check, where there is one, computes the privacy loss from the
probabilities of the outcomes on many pairs of neighbouring inputs, and compares the sampler with these
probabilities. A statistical check runs the mechanism as a black box and bounds its loss from below. A claim
stands as long as the proven loss is at most the claimed loss. An honest run raises an alarm with probability
at most one in a million.

  discreet audit
  discreet audit laplace gaussian --samples 10000000
  discreet audit --policy hospital.yaml
  discreet audit --json

With --policy, made-up databases that differ in one person go through the whole path of a question, with the
same randomness. Calls of mechanisms, charge and shape of the answer must be the same, and no value may move
further than its noise allows for. The policy's own data and ledger are not opened.

Claims are in epsilon, or in mu for Gaussian noise: the sensitivity in standard deviations. No data is read and
nothing is spent. The exit code is 0 only if every claim stands, and 1 if one falls.

Mechanisms:
  ` + strings.Join(wrapNames(audit.Names(), 95), "\n  ")
}

// wrapNames joins names with commas into lines of up to so many bytes.
func wrapNames(names []string, width int) (lines []string) {
	line := ""
	for i, n := range names {
		if i < len(names)-1 {
			n += ","
		}
		if line != "" && len(line)+1+len(n) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+n, " ")
	}
	return append(lines, line)
}

func (c *AuditCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Policy != nil {
		return c.auditPolicy(ctx, s)
	}
	if c.Samples < audit.MinSamples || c.Samples > audit.MaxSamples {
		return console.Misuse(fmt.Errorf("--samples %d: write a number from %d to %d", c.Samples, audit.MinSamples, audit.MaxSamples))
	}
	tell, done := console.Progress(s.Err, "auditing")
	var all []enumerate.Finding
	options := audit.Options{Samples: c.Samples, Progress: func(step, of int, _ string) { tell(step, of) }}
	for f, err := range audit.Run(ctx, c.Mechanism, options) {
		if err != nil {
			done()
			var unknown *audit.UnknownError
			if errors.As(err, &unknown) {
				return console.Misuse(err)
			}
			return err
		}
		all = append(all, f)
	}
	done()
	return c.Show(s, all)
}

// auditPolicy audits the questions that a policy allows.
func (c *AuditCmd) auditPolicy(ctx context.Context, s console.Screen) error {
	if len(c.Mechanism) > 0 {
		return console.Misuse(errors.New("name mechanisms, or a policy with --policy, not both"))
	}
	if *c.Policy == "" {
		return console.Misuse(errors.New("--policy is empty: name a policy file"))
	}
	done := console.Waiting(s.Err, "auditing")
	all, err := lockstep.Policy(ctx, *c.Policy, lockstep.Options{})
	done()
	if err != nil {
		return err
	}
	return c.Show(s, all)
}

// Show prints findings, and returns an error where a claim has fallen.
func (c *AuditCmd) Show(s console.Screen, all []enumerate.Finding) error {
	var fallen []enumerate.Finding
	for _, f := range all {
		if !f.Stands {
			fallen = append(fallen, f)
		}
	}
	var err error
	if len(fallen) > 0 {
		err = fmt.Errorf("%d of %d checks found a loss above the claim, or a faulty sampler",
			len(fallen), len(all))
	}
	if c.JSON {
		if e := console.PrintJSON(s.Out, struct {
			Stands   bool                `json:"stands"`
			Findings []enumerate.Finding `json:"findings"`
		}{err == nil, all}); e != nil {
			return e
		}
		if err != nil {
			return console.AlreadyShown(err)
		}
		return nil
	}
	t := &render.Table{Header: []string{"tested", "check", "samples", "lost at least", "claim", "", "verdict"},
		Right: []bool{false, false, true, true, true}}
	for _, f := range all {
		verdict := "stands"
		if !f.Stands {
			verdict = "FALLS"
		}
		unit := f.Unit
		if f.Check == "replay" {
			unit = "of the sensitivity"
		}
		t.Add(f.Subject, f.Check, sampleWords(f.Samples), console.RoundOutward(f.Lower, 4, false), strconv.FormatFloat(f.Claim, 'g', 4, 64),
			unit, verdict)
	}
	t.Write(s.Out)
	fmt.Fprintln(s.Out)
	for _, f := range fallen {
		fmt.Fprintf(s.Out, "%s, %s: %s\n", render.Clean(f.Subject), f.Check, render.Clean(f.Detail))
	}
	if err == nil {
		fmt.Fprintln(s.Out, "every claim stands")
	}
	return err
}

// sampleWords writes a number of samples, and nothing for none.
func sampleWords(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
