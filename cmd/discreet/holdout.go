package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/chart"
)

// holdoutCmd has a command in a line, each in a file of its own.
type holdoutCmd struct {
	List    holdoutListCmd    `cmd:"" help:"List the holdouts of a policy, and what they cost."`
	Score   holdoutScoreCmd   `cmd:"" help:"Score predictions or an expression on a holdout."`
	Board   holdoutBoardCmd   `cmd:"" help:"Show the scores that were put on the board of a holdout."`
	Plan    holdoutPlanCmd    `cmd:"" help:"Say what is promised for so many questions, in every way, and how many people it takes."`
	Maxinfo holdoutMaxinfoCmd `cmd:"" help:"Say how many bits an analysis can have learned about its sample."`
	Pvalue  holdoutPvalueCmd  `cmd:"" help:"Correct a p-value of a test that was chosen by the data."`
	Demo    holdoutDemoCmd    `cmd:"" help:"Overfit a plain holdout, and fail to overfit Thresholdout."`
	Lecture holdoutLectureCmd `cmd:"" help:"Choose the luckiest by exact means, and by noisy ones."`
}

func (holdoutCmd) Help() string {
	return `See it first, then plan one, then score on one that a policy has:

  discreet holdout demo
  discreet holdout plan --n 10000 --queries 500 --tolerance 0.05 --confidence 0.95
  discreet holdout score --help`
}

// chargesNothing are the commands of holdout that have no ledger.
var chargesNothing = []string{"plan", "maxinfo", "pvalue", "demo", "lecture"}

// neverCharges reports whether a command line is one that nothing is ever charged for.
func neverCharges(args []string) bool {
	switch args[0] {
	case "holdout":
		return len(args) > 1 && slices.Contains(chargesNothing, args[1])
	case "stream":
		return !slices.Contains(args, "ask")
	case "train":
		return slices.Contains(args, "--sweep") || slices.Contains(args, "--explain")
	}
	return slices.Contains([]string{"account", "audit", "survey", "prepare", "user", "predict"}, args[0])
}

// finite is a number for machines: null where it is not finite.
func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// grouped writes a large number with commas.
func grouped(n float64) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// brief writes a number with three digits, and nothing for zero.
func brief(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// drawTo writes a picture to a file, where one is wanted, and says so.
func drawTo(s screen, file string, drawn chart.Chart, quiet bool) error {
	if file == "" {
		return nil
	}
	if err := save(file, drawn); err != nil {
		return err
	}
	if !quiet {
		fmt.Fprintf(s.out, "wrote %s\n", file)
	}
	return nil
}
