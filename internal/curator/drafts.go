package curator

import (
	"sync"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/policy"
)

// drafts are statements that were described a moment ago and are about to be asked: that is what clients of the extended protocol do with every
// question. Each is taken once, so nobody shares one. They follow from the text and the policy alone; what was made with the values of
// a public table, which can change, is not kept.
type drafts struct {
	mu    sync.Mutex
	of    map[draftKey]*plan.Statement
	order []draftKey // the oldest first
}

type draftKey struct {
	sql       string
	maxGroups int64
}

const (
	mostDrafts = 64
	draftText  = 4 << 10 // bytes; planning is not what makes longer ones slow
)

// keep keeps a statement for whoever asks it next.
func (d *drafts) keep(key draftKey, st *plan.Statement) {
	if len(key.sql) > draftText {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[draftKey]*plan.Statement{}
	}
	if _, ok := d.of[key]; !ok {
		d.order = append(d.order, key)
	}
	d.of[key] = st
	if len(d.order) > mostDrafts {
		delete(d.of, d.order[0])
		d.order = d.order[1:]
	}
}

// take returns a statement that was kept, and forgets it.
func (d *drafts) take(key draftKey) *plan.Statement {
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
