package server

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os/exec"
	"time"
)

// notifier runs the owner's command for each event, one after the other, with the event as JSON on
// its standard input. Nothing of an event is ever part of a command line. What the command does is
// its own business: nobody waits for it, and what it prints goes nowhere.
type notifier struct {
	command string
	log     *slog.Logger
	events  chan []byte
}

const (
	maxEvents     = 100 // that wait; others are left out, and the log says so
	notifyTimeout = 30 * time.Second
)

// newNotifier returns nil where there is no command.
func newNotifier(command string, log *slog.Logger) *notifier {
	if command == "" {
		return nil
	}
	return &notifier{command: command, log: log, events: make(chan []byte, maxEvents)}
}

// run tells what waits, until the context ends.
func (n *notifier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case text := <-n.events:
			n.tell(ctx, text)
		}
	}
}

func (n *notifier) tell(ctx context.Context, text []byte) {
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, n.command)
	c.Stdin, c.WaitDelay = bytes.NewReader(text), time.Second
	if err := c.Run(); err != nil {
		n.log.Warn("the command of --notify failed", "command", n.command, "error", err)
	}
}

// add puts an event behind those that wait.
func (n *notifier) add(event any) {
	text, err := json.Marshal(event)
	if err != nil {
		return
	}
	select {
	case n.events <- append(text, '\n'):
	default:
		n.log.Warn("too many events wait for the command of --notify; one was left out")
	}
}
