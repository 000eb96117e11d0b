package curator

import (
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/internal/recent"
	"github.com/discreet-dp/discreet/policy"
)

// planned are statements that were checked lately, and their prices: clients describe what they are
// about to ask, and dashboards ask the same all day. They follow from the text with its values, the
// settings and the policy alone, and nobody changes one. What was made with the values of a public
// table, which can change, is not kept, nor what has a query around it.
type planned struct {
	statements *recent.Map[statementKey, *plan.Statement]
	prices     *recent.Map[priceKey, *pricing.Priced]
	refused    *recent.Map[statementKey, api.Refusal] // of texts that took much work to plan
}

type statementKey struct {
	sql       string // with the values of its parameters and of now()
	maxGroups int64
	maxSum    string
}

// keyOf names a statement: its text, and the settings that plans depend on.
func keyOf(text string, s api.Settings) statementKey {
	key := statementKey{sql: text, maxGroups: s.MaxGroups}
	if s.MaxSum != nil {
		key.maxSum = s.MaxSum.RatString()
	}
	return key
}

type priceKey struct {
	sql      string
	settings api.Settings // but for the error and the largest sum, which are pointers
	currency pricing.Currency
	error    string
	maxSum   string
}

const (
	mostPlanned = 256     // statements
	plannedText = 4 << 10 // bytes; planning is not what makes longer ones slow
	plannedKeys = 1 << 12 // groups
	mostRefused = 1 << 20 // bytes of texts that are refused after much work
	muchWork    = 20 * time.Millisecond
)

func newPlanned() planned {
	return planned{recent.New[statementKey, *plan.Statement](mostPlanned), recent.New[priceKey, *pricing.Priced](mostPlanned),
		recent.New[statementKey, api.Refusal](mostRefused)}
}

// keep keeps a statement for whoever asks it next.
func (p planned) keep(key statementKey, st *plan.Statement) {
	if len(key.sql) > plannedText || st.Outer != nil || len(st.Tables) > 0 {
		return
	}
	for _, one := range st.Plans {
		if one.Query.Groups() > plannedKeys {
			return
		}
	}
	p.statements.Put(key, st, 1)
}

// refuse remembers a refusal after much work, which is the same whoever asks.
func (p planned) refuse(key statementKey, err error, work time.Duration) {
	if r, ok := err.(*api.Refusal); ok && work > muchWork {
		p.refused.Put(key, *r, len(key.sql))
	}
}

// price prices a statement, unless it was priced before: the same one, and not another of the same
// text.
func (c *Curator) price(text string, st *plan.Statement, s api.Settings, in pricing.Currency) (*pricing.Priced, error) {
	key := priceKey{sql: text, settings: s, currency: in}
	if s.Error != nil {
		key.settings.Error, key.error = nil, s.Error.RatString()
	}
	key.settings.MaxSum, key.maxSum = nil, keyOf(text, s).maxSum
	if p, ok := c.planned.prices.Get(key); ok && p.Statement == st {
		return p, nil
	}
	p, err := pricing.Price(c.dataset, st, s, in)
	if err != nil {
		return nil, err
	}
	if kept, ok := c.planned.statements.Get(keyOf(text, s)); ok && kept == st {
		c.planned.prices.Put(key, p, 1)
	}
	return p, nil
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

func (n *noted) Rows(table string, limit int) ([][]tree.Value, error) {
	n.read = true
	return n.Public.Rows(table, limit)
}
