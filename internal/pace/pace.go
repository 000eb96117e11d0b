// Package pace keeps what a question writes down to the ticks on which answers leave, from the
// moment on at which it has looked at private data.
//
// How long that took can depend on the data, and what is in the ledger is seen by others: in what
// is left of a budget, in the numbers of receipts, in prices, on every server that shares it. So
// nothing is written there when it happens to be done, but on the next tick.
package pace

import (
	"context"
	"sync"
)

// Pace is that of one question.
type Pace struct {
	wait func() // for the tick

	mu     sync.Mutex
	looked bool // since the last tick that was waited for
	waited bool
}

// New returns the pace of a question that waits for ticks by a function.
func New(wait func()) *Pace { return &Pace{wait: wait} }

type key struct{}

// Set returns a context of the question.
func (p *Pace) Set(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, p) }

// Settled reports whether all that the question looked at lies before a tick that it has waited
// for: what it did since takes as long whatever the data is.
func (p *Pace) Settled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waited && !p.looked
}

// Looks says that the question of a context begins to look at private data. A context without a
// pace is that of somebody who waits for no ticks.
func Looks(ctx context.Context) {
	if p, ok := ctx.Value(key{}).(*Pace); ok {
		p.mu.Lock()
		p.looked = true
		p.mu.Unlock()
	}
}

// Settle waits for the next tick, where the question of a context has looked at private data since
// the last one: before anything is written that others can see.
func Settle(ctx context.Context) {
	p, ok := ctx.Value(key{}).(*Pace)
	if !ok {
		return
	}
	p.mu.Lock()
	looked := p.looked
	p.mu.Unlock()
	if !looked {
		return
	}
	p.wait()
	p.mu.Lock()
	p.looked, p.waited = false, true
	p.mu.Unlock()
}
