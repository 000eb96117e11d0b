package querycmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/peterh/liner"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

// dialogue is a session with a person: lines in, answers out, until they leave. What
// fails is shown, and the dialogue goes on.
type dialogue struct {
	*analystConsole
	lineReader
	history *history
	buffer  string // the lines of a statement that has not ended
	sigs    chan os.Signal
}

var errTerminated = errors.New("terminated. What was charged stays charged, as 'discreet budget' shows")

// errStopped is Ctrl-C of a question in a dialogue.
var errStopped = errors.New(`interrupted. What was charged stays charged, as \budget shows, and asking again is a new charge`)

// errLeave is not an error: the analyst is done.
var errLeave = errors.New("leave")

// interact talks until the analyst leaves.
func interact(ctx context.Context, s *analystConsole, keep bool) error {
	if s.datasetPolicy() == nil && s.dataset != "" { // the front door refuses with the names that there are
		_, err := s.db.Budget(ctx, s.dataset)
		return err
	}
	d := &dialogue{analystConsole: s, sigs: make(chan os.Signal, 2)}
	// Ctrl-C ends a question here and not the command, so it is not the context of the command that
	// counts.
	ctx = context.WithoutCancel(ctx)
	signal.Notify(d.sigs, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(d.sigs)
	if s.In == io.Reader(os.Stdin) && console.IsTerminal(s.In) && console.IsTerminal(s.Out) && liner.TerminalSupported() {
		var old []string
		if keep {
			var err error
			if d.history, old, err = openHistory(); err != nil {
				fmt.Fprintf(s.Err, "note: what is typed is not kept: %s\n", console.CleanLines(err.Error()))
			}
		}
		e := newEditorReader(d.completeLine)
		for _, line := range old {
			e.remember(line)
		}
		d.lineReader = e
	} else {
		d.lineReader = newPlainReader(s.In, s.Out)
	}
	defer func() { d.lineReader.close(); d.history.close() }()
	d.greet()
	return d.loop(ctx)
}

func (d *dialogue) greet() {
	fmt.Fprintf(d.Out, "discreet %s. Statements end with a semicolon; \\? shows help, \\q leaves.\n", console.Version)
	switch ds := d.datasetPolicy(); {
	case ds == nil:
		fmt.Fprintf(d.Out, "The policy has several datasets; choose one with \\c: %s\n", strings.Join(d.db.Policy().Names(), ", "))
	case ds.Analysts[d.analyst] == nil:
		fmt.Fprintf(d.Err, "note: the dataset %s has no analyst of this name, so it will refuse to answer\n", ds.Name)
	}
}

// loop reads and runs until the end.
func (d *dialogue) loop(ctx context.Context) error {
	for {
		prompt := d.prompt(ctx)
		if d.buffer != "" {
			prompt = strings.Repeat(" ", max(0, len(prompt)-5)) + "...> "
		}
		line, err := d.nextLine(ctx, prompt)
		switch {
		case errors.Is(err, errLineAborted):
			d.buffer = ""
			continue
		case errors.Is(err, io.EOF):
			fmt.Fprintln(d.Out)
			return nil
		case err != nil:
			return err
		}
		if err := d.runLine(ctx, line); errors.Is(err, errLeave) {
			return nil
		} else if err != nil {
			return err
		}
		if err := d.Failed(); err != nil {
			return err // nobody would see the next answers
		}
	}
}

// nextLine waits for a line, or for the end of the process.
func (d *dialogue) nextLine(ctx context.Context, prompt string) (string, error) {
	type input struct {
		line string
		err  error
	}
	got := make(chan input, 1)
	go func() {
		in := input{err: console.ErrInternal}
		defer func() {
			if recover() != nil { // what a panic would print could hold data
				in = input{err: console.ErrInternal}
			}
			got <- in
		}()
		in.line, in.err = d.read(prompt)
	}()
	for {
		select {
		case in := <-got:
			return in.line, in.err
		case s := <-d.sigs:
			if s == syscall.SIGTERM {
				return "", errTerminated
			}
			// Without an editor Ctrl-C arrives here, while the line is still being read; with
			// one, in the moment between its prompt and its taking the keys.
			d.buffer = ""
			fmt.Fprint(d.Out, "\n"+d.prompt(ctx))
		}
	}
}

// runLine takes a line: a backslash command, or a piece of a statement.
func (d *dialogue) runLine(ctx context.Context, line string) error {
	_, _, open := splitStatements(d.buffer)
	if command := strings.TrimSpace(line); strings.HasPrefix(command, `\`) && !open {
		d.keep(line, command)
		return d.report(d.runStoppable(ctx, func(ctx context.Context) error { return d.runBackslash(ctx, command) }))
	}
	if d.buffer == "" && wantsToLeave(line) {
		return errLeave
	}
	if d.buffer != "" {
		d.buffer += "\n"
	}
	d.buffer += line
	if len(d.buffer) > maxLineBytes {
		d.buffer = ""
		return d.report(console.Misuse(fmt.Errorf("a statement is longer than %d bytes; begin anew", maxLineBytes)))
	}
	done, rest, _ := splitStatements(d.buffer)
	typed := d.buffer
	d.buffer = strings.TrimLeft(rest, " \t\n")
	if len(done) > 0 {
		d.keepStatement(strings.TrimSuffix(typed, rest))
	}
	for _, text := range done {
		err := d.runStoppable(ctx, func(ctx context.Context) error { return d.run(ctx, strings.TrimLeft(text, " \t\n")) })
		if d.Failed() != nil {
			return nil
		}
		if ended := d.report(err); ended != nil {
			return ended
		}
		if err != nil {
			d.buffer = "" // what stands behind a failure on the same line is not run
			return nil
		}
	}
	return nil
}

// wantsToLeave knows what people type who want to leave.
func wantsToLeave(line string) bool {
	switch strings.ToLower(strings.Trim(line, " \t;")) {
	case "quit", "exit":
		return true
	}
	return false
}

// report shows what failed. It returns an error only where the dialogue ends.
func (d *dialogue) report(err error) error {
	if errors.Is(err, errLeave) || errors.Is(err, errTerminated) {
		return err
	}
	console.Report(d.Screen, d.json, err)
	return nil
}

// runStoppable runs something that Ctrl-C ends. A second Ctrl-C ends the command at once.
func (d *dialogue) runStoppable(ctx context.Context, f func(context.Context) error) error {
	for len(d.sigs) > 0 { // of the time at the prompt
		if <-d.sigs == syscall.SIGTERM {
			return errTerminated
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ended, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for n := 0; ; n++ {
			select {
			case s := <-d.sigs:
				if n > 0 {
					d.lineReader.close()
					os.Exit(console.ExitFailed)
				}
				cause := errStopped
				if s == syscall.SIGTERM {
					cause = errTerminated
				}
				cancel(cause)
			case <-ended:
				return
			}
		}
	}()
	defer func() { close(ended); <-watched; cancel(nil) }()
	err := f(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// completeLine completes the line up to the cursor, behind the lines before it.
func (d *dialogue) completeLine(line string) (int, []string) {
	before := d.buffer
	if before != "" {
		before += "\n"
	}
	start, words := completer{d.db.Policy(), d.datasetPolicy()}.complete(before+line, len(before))
	return max(0, start-len(before)), words
}

// keepStatement keeps a statement in one line where that can be, and as it was typed otherwise.
func (d *dialogue) keepStatement(typed string) {
	if one, ok := oneLine(typed); ok {
		d.keep(typed, one)
		return
	}
	for line := range strings.Lines(typed) {
		d.keep(typed, strings.TrimSpace(line))
	}
}

// keep writes a line to the history, unless it was typed behind a space.
func (d *dialogue) keep(typed, line string) {
	if strings.HasPrefix(typed, " ") || line == "" {
		return
	}
	d.remember(line)
	if err := d.history.add(line); err != nil {
		fmt.Fprintf(d.Err, "note: what is typed is no longer kept: %s\n", console.CleanLines(err.Error()))
		d.history.close()
		d.history = nil
	}
}
