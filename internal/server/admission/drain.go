package admission

import (
	"context"
	"errors"
)

// errUnfinished: Drain was not given enough time.
var errUnfinished = errors.New("questions still run; what was charged for them stays charged")

// Drain takes no more questions, sends those away that wait, and waits for those that have their
// turn: they are paid for. It returns nil when what came of all of them has left, and an error when
// ctx ends first. It can be called again.
//
// When ctx ends nothing waits for its tick any longer. A tick can be longer than the time that a
// server has for ending, and one that is killed because it waits counts as one that crashed.
func (d *Dispatcher) Drain(ctx context.Context) error {
	d.gate.end()
	d.heavy.end() // who waits there is inside of the other one
	nothing := d.queue.end()
	select {
	case <-nothing:
		return nil
	default:
	}
	select {
	case <-nothing:
		return nil
	case <-ctx.Done():
		d.clock.end()
		return errUnfinished
	}
}
