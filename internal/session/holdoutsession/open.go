package holdoutsession

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout/labels"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Sessions has the holdouts that are open. A holdout belongs to its dataset: all analysts ask the
// same one, use up the same answers, and get the same answer to the same question.
type Sessions struct {
	sessionhost.Access
	maxScores int
	now       func() time.Time

	mu    sync.Mutex
	files map[string]*labels.Store
	// open are the sessions by what they are about. A journal has one session at a time, so none is
	// ever opened twice or forgotten.
	open map[string]*openHoldout
}

// New returns the sessions of a dataset. A holdout tells at most so many different scores; the
// clock is for the board.
func New(a sessionhost.Access, maxScores int, now func() time.Time) *Sessions {
	return &Sessions{Access: a, maxScores: maxScores, now: now}
}

// openHoldout is a holdout on one state of its data.
type openHoldout struct {
	id      string
	config  holdout.Config
	tariff  *holdout.Tariff
	session *holdout.Session
	// host is the session's in the name of somebody who pays.
	host  func(*sessionhost.Payer) *sessionhost.Host
	board *board

	mu sync.Mutex
	// failed are the analysts for whom the engine could not compute a score, until the owner has
	// released them.
	failed map[string]bool
	// told says when a score was told in this process, and left how many answers were left at which
	// moment, the first of them when it was opened; see asOf.
	told map[string]told
	left []leftAt
}

type told struct {
	at      time.Time
	receipt session.Receipt
}

type leftAt struct {
	at   time.Time
	left int
}

// fail ends a holdout for an analyst, and hasFailed reports whether it is ended. What releases the
// analyst's failures begins it anew.
func (o *openHoldout) fail(analyst string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed[analyst] = true
}

func (o *openHoldout) hasFailed(analyst string, lockout ledger.Lockout) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if lockout.Own == 0 {
		delete(o.failed, analyst)
	}
	return o.failed[analyst]
}

func (o *openHoldout) tell(key string, a *holdout.Answer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if _, known := o.told[key]; !known {
		o.told[key] = told{now, a.Receipt}
	}
	for len(o.left) > 1 && now.Sub(o.left[1].at) > answercache.Memorable {
		o.left = o.left[1:]
	}
	o.left = append(o.left, leftAt{now, a.Left})
}

// asOf is the status as of a moment, for those who ask for a price where answers leave on a tick.
// It waits for no question that is being answered, as that of the session does, and says nothing of
// what was told after the moment: only that a score was told in this process before it, or else
// that it may cost a round.
func (o *openHoldout) asOf(key string, at time.Time) holdout.Status {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := holdout.Status{Left: o.left[0].left}
	for _, l := range o.left {
		if !l.at.After(at) {
			s.Left = l.left
		}
	}
	if t, known := o.told[key]; known && !t.at.After(at) {
		s.Known, s.Receipt = true, t.receipt
	}
	return s
}

// labels returns the labels of a holdout. That they cannot be read is told to analysts in one text.
func (c *Sessions) labels(h *policy.Holdout) (*labels.Labels, error) {
	all, err := c.store(h).Labels()
	if err != nil {
		return nil, api.ErrLabels
	}
	return all, nil
}

func (c *Sessions) store(h *policy.Holdout) *labels.Store {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files = map[string]*labels.Store{}
	}
	s := c.files[h.Name]
	if s == nil {
		s = labels.NewStore(h.Labels, labelsSpec(h))
		c.files[h.Name] = s
	}
	return s
}

func labelsSpec(h *policy.Holdout) labels.Spec {
	return labels.Spec{Column: h.Column, ID: h.ID, Steps: h.Steps, Size: h.Size}
}

// Check reads the labels of all holdouts, and prices them. It is for the owner: its errors name
// lines of files.
func (c *Sessions) Check() error {
	for _, name := range c.Dataset.HoldoutNames() {
		h := c.Dataset.Holdouts[name]
		size := h.Size
		if h.Labels != "" {
			all, err := c.store(h).Labels()
			if err != nil {
				return fmt.Errorf("holdout %s: %w", name, err)
			}
			size = all.Size()
		}
		if _, err := holdout.Price(c.holdoutConfig(h, size)); err != nil {
			return fmt.Errorf("holdout %s: %w", name, err)
		}
	}
	return nil
}

func (c *Sessions) holdoutConfig(h *policy.Holdout, size int64) holdout.Config {
	currency := mech.Concentrated
	if c.Dataset.Budget.Pure() {
		currency = mech.Pure
	}
	return holdout.Config{Size: size, Steps: h.Steps, Threshold: h.Threshold, Noise: h.Noise, Answers: h.Answers, Currency: currency}
}

// openFor opens the session that a question belongs to, or finds it open.
func (c *Sessions) openFor(ctx context.Context, p *submission, all *labels.Labels) error {
	var err error
	if p.data, err = c.Data(ctx); err != nil {
		return err
	}
	p.open, err = c.openHoldout(ctx, p.of, p.data.Version, all)
	return err
}

// openHoldout opens a holdout on the data as it is. Another state of the data, or other rules, are
// another session: with its own journal, its own answers and its own board. What was charged stays
// charged in the same accounts. Answers, the number of them, is no part of the name, so that an
// owner who allows more goes on with the same session.
func (c *Sessions) openHoldout(ctx context.Context, h *policy.Holdout, version ledger.Version, all *labels.Labels) (*openHoldout, error) {
	size, state := h.Size, version.ID
	if all != nil {
		// A hash of the labels is named by the ledger's key like the version of the other data: see
		// ledger.VersionID.
		v, err := c.DataVersion(ctx, c.Dataset.Name, "", "labels of a holdout "+all.Version())
		if err != nil {
			return nil, err
		}
		size, state = all.Size(), v.ID
	}
	config := c.holdoutConfig(h, size)
	rules := sha256.New()
	for _, s := range []string{
		h.Table, h.Column, h.ID, fmt.Sprint(config.Size), fmt.Sprint(config.Steps), config.Threshold.RatString(), config.Noise.RatString(),
		c.Dataset.Neighbours.String(),
	} {
		fmt.Fprintf(rules, "%d:%s,", len(s), s)
	}
	era, err := c.Era(ctx)
	if err != nil {
		return nil, err
	}
	id := fmt.Sprintf("%q holdout %q data %s rules %s era %q", c.Dataset.Name, h.Name, state, hex.EncodeToString(rules.Sum(nil)), era)
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[id]; o != nil {
		return o, nil
	}
	tariff, err := holdout.Price(config)
	if err != nil {
		return nil, api.Refuse("ask the owner to correct the policy", "the holdout %s cannot be opened: %v", strconv.Quote(h.Name), err)
	}
	// The journal is read once and for everybody, so it is read to its end whoever stops waiting.
	host := func(who *sessionhost.Payer) *sessionhost.Host {
		return &sessionhost.Host{Access: c.Access, ID: id, Data: version, Apart: all != nil, Payer: who}
	}
	s, err := holdout.Open(context.WithoutCancel(ctx), config, c.Releaser, host(nil))
	if err != nil {
		return nil, err
	}
	o := &openHoldout{id: id, config: config, tariff: tariff, session: s, host: host,
		board: &board{host: &sessionhost.Host{Access: c.Access, ID: id + "/board", Data: version}}, told: map[string]told{},
		failed: map[string]bool{}, left: []leftAt{{left: s.Left()}}}
	if c.open == nil {
		c.open = map[string]*openHoldout{}
	}
	c.open[id] = o
	return o, nil
}

// List lists the holdouts of the dataset. Of a file of labels the number of rows is read, which is
// public.
func (c *Sessions) List() ([]api.HoldoutInfo, error) {
	out := []api.HoldoutInfo{}
	for _, name := range c.Dataset.HoldoutNames() {
		h := c.Dataset.Holdouts[name]
		size := h.Size
		if h.Labels != "" {
			all, err := c.labels(h)
			if err != nil {
				return nil, err
			}
			size = all.Size()
		}
		t, err := holdout.Price(c.holdoutConfig(h, size))
		if err != nil {
			return nil, api.Refuse("ask the owner to correct the policy", "the holdout %s cannot be opened: %v", strconv.Quote(name), err)
		}
		out = append(out, api.HoldoutInfo{
			Dataset: c.Dataset.Name, Name: name, Labels: h.Labels != "", IDs: h.ID != "", Column: h.Column, ID: h.ID,
			Table: h.Table, Train: h.Train, Size: size,
			Threshold: showScore(h.Threshold), Noise: showScore(h.Noise), Answers: h.Answers, Steps: h.Steps, Round: t.Round,
			Total:     t.Total,
			Confirmed: t.Confirmed(1 - api.Confidence), Answered: t.Answered(1 - api.Confidence),
			Promised: promised(h, size),
		})
	}
	return out, nil
}

// promised is what theorems promise for what the owner declared, nil where that is nothing.
func promised(h *policy.Holdout, size int64) *float64 {
	threshold, _ := h.Threshold.Float64()
	noise, _ := h.Noise.Float64()
	p := holdout.PromisedTolerance(float64(size), threshold, noise, float64(h.Answers), 1-api.Confidence)
	if holdout.IsVacuous(p) {
		return nil
	}
	return &p
}

// Status is free. It looks at which version of the data there is, and at nothing else of it.
func (c *Sessions) Status(ctx context.Context, name string) (api.HoldoutStatus, error) {
	h, err := c.holdout(ctx, api.HoldoutQuestion{Holdout: name})
	if err != nil {
		return api.HoldoutStatus{}, err
	}
	p := &submission{of: h}
	if err := c.openNamed(ctx, p); err != nil {
		return api.HoldoutStatus{}, err
	}
	s, err := p.open.session.Status(ctx, "")
	return api.HoldoutStatus{Left: s.Left, Open: s.Open}, err
}

// openNamed opens a holdout without a question.
func (c *Sessions) openNamed(ctx context.Context, p *submission) error {
	var all *labels.Labels
	if p.of.Labels != "" {
		var err error
		if all, err = c.labels(p.of); err != nil {
			return err
		}
	}
	return c.openFor(ctx, p, all)
}
