package curator

import (
	"sync"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// described are statements that were described a moment ago and are about to be asked: that is what
// clients of the extended protocol do with every question. Each is taken once, so nobody shares
// one. They follow from the text and the policy alone; what was made with the values of a public
// table, which can change, is not kept.
type described struct {
	mu    sync.Mutex
	of    map[describedKey]*plan.Statement
	order []describedKey // the oldest first
}

type describedKey struct {
	sql       string
	maxGroups int64
}

const (
	mostDescribed = 64
	describedText = 4 << 10 // bytes; planning is not what makes longer ones slow
)

// keep keeps a statement for whoever asks it next.
func (d *described) keep(key describedKey, st *plan.Statement) {
	if len(key.sql) > describedText {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[describedKey]*plan.Statement{}
	}
	if _, ok := d.of[key]; !ok {
		d.order = append(d.order, key)
	}
	d.of[key] = st
	if len(d.order) > mostDescribed {
		delete(d.of, d.order[0])
		d.order = d.order[1:]
	}
}

// take returns a statement that was kept, and forgets it.
func (d *described) take(key describedKey) *plan.Statement {
	d.mu.Lock()
	defer d.mu.Unlock()
	st := d.of[key]
	delete(d.of, key) // its place in the order ends with its turn
	return st
}

// noted is a public table that knows whether it was read.
type noted struct {
	tree.Public
	read bool
}

func (n *noted) Values(table, column string, limit int) ([]policy.Value, error) {
	n.read = true
	return n.Public.Values(table, column, limit)
}

func (n *noted) Most(table string, columns []string) (int64, error) {
	n.read = true
	return n.Public.Most(table, columns)
}
