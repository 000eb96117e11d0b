package console

import (
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/client"
	"github.com/discreet-dp/discreet/internal/lab/workload"
	"github.com/discreet-dp/discreet/internal/ownerkey"
	"github.com/discreet-dp/discreet/internal/problem"
	"github.com/discreet-dp/discreet/internal/render"
)

// Exit codes.
const (
	exitAnswered = 0
	ExitFailed   = 1
	ExitRefused  = 2 // nothing spent
	ExitBudget   = 3 // nothing spent
)

// ErrInternal is shown instead of a panic.
var ErrInternal = errors.New("an internal error; nothing about it is shown, because it could hold data. Please report the command " +
	"that you ran")

// ErrInterrupted is Ctrl-C of a command that may have charged.
var ErrInterrupted = errors.New("interrupted. What was charged stays charged, as 'discreet budget' shows; you can repeat a question " +
	"that you named with --request without a second charge")

// usageError is a command line that cannot be read.
type usageError struct{ error }

// Problem implements [problem.Describer].
func (e *usageError) Problem() problem.Problem {
	return problem.Problem{Kind: problem.Invalid, Spent: problem.Nothing, Detail: e.Error()}
}

// shownError is in the JSON that was printed already.
type shownError struct{ error }

func (e *shownError) Unwrap() error { return e.error }

// endError is why something did not end in order that was told to end.
type endError struct{ error }

func (e *endError) Unwrap() error { return e.error }

// NotInOrder is the error of a command that was told to end, and could not do so in order. What is
// nil stays so.
func NotInOrder(err error) error {
	if err == nil {
		return nil
	}
	return &endError{err}
}

// Interrupted is what is told of an error that came after somebody had interrupted the command.
func Interrupted(err error, charges bool) error {
	var end *endError
	switch {
	case errors.As(err, &end):
		return err
	case !charges:
		return errors.New("interrupted")
	}
	return ErrInterrupted
}

// Misuse is the error of a command line that cannot be read. Nothing was spent.
func Misuse(err error) error { return &usageError{err} }

// AlreadyShown is an error that stands in the JSON that was printed.
func AlreadyShown(err error) error { return &shownError{err} }

// ExitCode says by a number how a command ended. What it calls refused or out of budget has charged
// nothing.
func ExitCode(err error) int {
	var unasked *client.Unasked
	switch {
	case err == nil:
		return exitAnswered
	case errors.As(err, &unasked):
		return exitUnasked(unasked)
	case errors.As(err, new(*workload.Error)), errors.As(err, new(*ownerkey.Error)):
		return ExitRefused
	}
	switch p := problem.Of(err); p.Kind {
	case problem.Budget:
		return ExitBudget
	case problem.Refused, problem.Disputed, problem.Request, problem.Invalid, problem.Window, problem.Signature:
		return ExitRefused
	case problem.Closed, problem.Lapsed:
		if p.Spent == problem.Nothing {
			return ExitRefused
		}
	}
	return ExitFailed
}

// exitUnasked is the code where nobody was asked: that of the servers, where all of them say the
// same.
func exitUnasked(e *client.Unasked) int {
	code := 0
	for _, f := range e.Failures {
		one := ExitFailed
		switch f.Kind {
		case "refused", "invalid", "closed":
			one = ExitRefused
		case "budget":
			one = ExitBudget
		}
		if code != 0 && one != code {
			return ExitFailed
		}
		code = one
	}
	return code
}

// Report prints an error and returns the exit code.
func Report(s Screen, asJSON bool, err error) int {
	code := ExitCode(err)
	if err == nil {
		return code
	}
	var shown *shownError
	if asJSON && !errors.As(err, &shown) {
		PrintJSON(s.Out, map[string]any{"error": ErrorJSON(err)})
	}
	word := map[int]string{ExitFailed: "error", ExitRefused: "refused", ExitBudget: "budget exhausted"}[code]
	fmt.Fprintf(s.Err, "%s: %s\n", word, CleanLines(err.Error()))
	var refusal *locatedError
	if errors.As(err, &refusal) {
		fmt.Fprint(s.Err, refusal.pointer())
	}
	return code
}

func ErrorJSON(err error) any {
	var partial *client.Partial
	if errors.As(err, &partial) {
		return map[string]any{"kind": ErrorKind(err), "message": err.Error(), "request": partial.Request, "answered": partial.Answered,
			"failed": partial.Failures}
	}
	return map[string]string{"kind": ErrorKind(err), "message": err.Error()}
}

// ErrorKind says by a word how a command ended.
func ErrorKind(err error) string {
	if problem.Of(err).Kind == problem.Closed {
		return "closed" // another question does not help, and neither does a larger budget
	}
	return map[int]string{ExitFailed: "failed", ExitRefused: "refused", ExitBudget: "budget"}[ExitCode(err)]
}

// CleanLines keeps the lines of a message and nothing else that moves the cursor: a
// message can quote a question, and a question can come from anywhere.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = render.Clean(l)
	}
	return strings.Join(lines, "\n")
}

// locatedError is a refusal together with the text that it points into.
type locatedError struct {
	*api.Refusal
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
	before := e.text[start:e.Position]
	if len(line) > 160 || len(before) > len(line) {
		return ""
	}
	show := func(s string) string { return render.Clean(strings.ReplaceAll(s, "\t", " ")) }
	return "  " + show(line) + "\n  " + strings.Repeat(" ", render.Width(show(before))) + "^\n"
}

// Locate attaches the text to a refusal.
func Locate(err error, text string) error {
	var r *api.Refusal
	if errors.As(err, &r) {
		return &locatedError{r, text}
	}
	return err
}
