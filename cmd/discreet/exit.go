package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/ledger"
)

// Exit codes.
const (
	exitAnswered = 0
	exitFailed   = 1
	exitRefused  = 2 // nothing spent
	exitBudget   = 3 // nothing spent
)

var errInternal = errors.New("an internal error; nothing about it is shown, because it could hold data. Please report the command that you ran")

// usageError is a command line that cannot be read.
type usageError struct{ error }

// quietError has been reported already.
type quietError struct{ error }

func exitCode(err error) int {
	var refusal *discreet.Refusal
	var usage *usageError
	var budget *discreet.BudgetError
	var request *ledger.RequestError
	var invalid *ledger.InvalidError
	switch {
	case err == nil:
		return exitAnswered
	case errors.As(err, &budget):
		return exitBudget
	case errors.As(err, &refusal), errors.As(err, &usage), errors.As(err, &request), errors.As(err, &invalid):
		return exitRefused
	}
	return exitFailed
}

// report prints an error and returns the exit code.
func report(s screen, asJSON bool, err error) int {
	code := exitCode(err)
	var quiet *quietError
	if err == nil || errors.As(err, &quiet) {
		return code
	}
	if asJSON {
		kind := map[int]string{exitFailed: "failed", exitRefused: "refused", exitBudget: "budget"}[code]
		printJSON(s.out, map[string]any{"error": map[string]any{"kind": kind, "message": err.Error()}})
	}
	word := map[int]string{exitFailed: "error", exitRefused: "refused", exitBudget: "budget exhausted"}[code]
	fmt.Fprintf(s.err, "%s: %v\n", word, err)
	var refusal *locatedError
	if errors.As(err, &refusal) {
		fmt.Fprint(s.err, refusal.pointer())
	}
	return code
}

// locatedError is a refusal together with the text that it points into.
type locatedError struct {
	*discreet.Refusal
	text string
}

func (e *locatedError) Unwrap() error { return e.Refusal }

// pointer shows the line of the question with a mark under the place.
func (e *locatedError) pointer() string {
	if e.Position < 0 || e.Position > len(e.text) {
		return ""
	}
	start := strings.LastIndexByte(e.text[:e.Position], '\n') + 1
	line, _, _ := strings.Cut(e.text[start:], "\n")
	before := []rune(e.text[start:e.Position])
	if len(line) > 160 {
		return ""
	}
	mark := strings.Map(func(r rune) rune {
		if r == '\t' {
			return '\t'
		}
		return ' '
	}, string(before))
	return "  " + line + "\n  " + mark + "^\n"
}

// locate attaches the text to a refusal.
func locate(err error, text string) error {
	var r *discreet.Refusal
	if errors.As(err, &r) {
		return &locatedError{r, text}
	}
	return err
}

func printJSON(w interface{ Write([]byte) (int, error) }, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
