package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/labcmd"
)

// respell takes spellings that people try: help, --version, and a negative number
// behind a flag, which is to be refused as a number and not as a flag. For account
// it puts every --times where it belongs.
func respell(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case args[0] == "--version":
		return append([]string{"version"}, args[1:]...)
	}
	var out []string
	for i := 0; i < len(args); i++ {
		if slices.Contains(numbers, args[i]) && i+1 < len(args) && strings.HasPrefix(args[i+1], "-") &&
			!strings.HasPrefix(args[i+1], "--") {
			out = append(out, args[i]+"="+args[i+1])
			i++
			continue
		}
		out = append(out, args[i])
	}
	if out[0] == "account" {
		out = labcmd.AttachTimes(out)
	}
	return out
}

// numbers are the flags that take one.
var numbers = []string{
	"--epsilon", "--delta", "--times", "--n", "--queries", "--answers", "--tolerance", "--confidence", "--noise", "--threshold",
	"--attributes", "--selected",
	"--repetitions", "--group", "--p", "--alpha", "--bits", "--beta", "--evaluate", "--regulariser", "--radius", "--half-width",
	"--residual", "--rows", "--epsilons", "--tune", "--splits", "--draws",
	"--running", "--waiting", "--rate", "--connections", "--threads", "--timeout", "--patience", "--shutdown-timeout",
}

// addHelp says where to read how a command is written.
func addHelp(err error) error {
	help := "discreet --help"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if command := parse.Context.Command(); command != "" {
			words := strings.FieldsFunc(command, func(r rune) bool { return r == ' ' })
			words = slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w, "<[") })
			help = "discreet " + strings.Join(words, " ") + " --help"
		}
	}
	return fmt.Errorf("%w; see %s", err, help)
}

func wantsJSON(args []string) bool {
	for _, a := range args {
		if a == "--json" || a == "--json=true" {
			return true
		}
		if a == "--" {
			return false
		}
	}
	return false
}

// chargesNothing are the commands of holdout that have no ledger.
var chargesNothing = []string{"plan", "maxinfo", "pvalue", "demo", "lecture"}

// neverCharges reports whether a command line is one that nothing is ever charged for.
func neverCharges(args []string) bool {
	switch args[0] {
	case "ask":
		return slices.Contains(args, "--price")
	case "holdout":
		return len(args) > 1 && slices.Contains(chargesNothing, args[1])
	case "stream":
		return !slices.Contains(args, "ask")
	case "train":
		return slices.Contains(args, "--sweep") || slices.Contains(args, "--explain")
	}
	return slices.Contains([]string{"account", "audit", "survey", "prepare", "user", "predict"}, args[0])
}
