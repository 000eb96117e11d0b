package holdoutsession

import (
	"context"
	"strconv"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/holdout"
	"github.com/discreet-dp/discreet/internal/holdout/labels"
	"github.com/discreet-dp/discreet/policy"
)

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
	p := holdout.Promised(float64(size), threshold, noise, float64(h.Answers), 1-api.Confidence)
	if holdout.Vacuous(p) {
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
