package curator

import (
	"context"
	"errors"
	"io"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/holdout"
	"github.com/discreet-dp/discreet/internal/holdout/labels"
)

// HoldoutInfo is what is public about a holdout: what its owner declared, what it costs, and how many answers are left.
type HoldoutInfo struct {
	Dataset string `json:"dataset"`
	Name    string `json:"name"`
	Labels  bool   `json:"labels"` // predictions are submitted; else SQL over Table
	// Column is that of the labels, and ID that of the identifiers, where rows have some.
	Column string `json:"column,omitempty"`
	ID     string `json:"id,omitempty"`
	Table  string `json:"table,omitempty"`
	Train  string `json:"train,omitempty"` // where the training value is computed, if it is not given
	// Size is how many people scores are means over.
	Size      int64   `json:"size"`
	Threshold string  `json:"threshold"`
	Noise     string  `json:"noise"`
	Answers   int     `json:"answers"`
	Steps     int64   `json:"steps"`
	Round     dp.Cost `json:"round"` // all questions up to the next one that the holdout contradicts, and that one
	Total     dp.Cost `json:"total"` // of all answers
	// Confirmed and Answered are the error bars of both kinds of answers, at a probability of 0.95.
	Confirmed float64 `json:"confirmed_error"`
	Answered  float64 `json:"answered_error"`
}

// Holdouts lists the holdouts of the dataset. Of a file of labels the number of rows is read, which is public.
func (c *Curator) Holdouts() ([]HoldoutInfo, error) {
	out := []HoldoutInfo{}
	for _, name := range c.dataset.HoldoutNames() {
		h := c.dataset.Holdouts[name]
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
			return nil, refusal("ask the owner to correct the policy", "the holdout %s cannot be opened: %v", quoted(name), err)
		}
		out = append(out, HoldoutInfo{
			Dataset: c.dataset.Name, Name: name, Labels: h.Labels != "", Column: h.Column, ID: h.ID, Table: h.Table, Train: h.Train, Size: size,
			Threshold: showScore(h.Threshold), Noise: showScore(h.Noise), Answers: h.Answers, Steps: h.Steps, Round: t.Round, Total: t.Total,
			Confirmed: t.Confirmed(1 - Confidence), Answered: t.Answered(1 - Confidence),
		})
	}
	return out, nil
}

// ReadPredictions reads a CSV file of predictions for a holdout of labels: one value in each line, or, where rows have identifiers, a header and two columns. What is wrong with
// them is a refusal.
func ReadPredictions(h HoldoutInfo, r io.Reader) (values, ids []string, err error) {
	if !h.Labels {
		return nil, nil, refusal("ask with an expression over its columns", "the holdout %s is the table %s, and takes no predictions", quoted(h.Name), quoted(h.Table))
	}
	p, err := labels.ReadPredictions(r, h.Column, h.ID)
	var wrong *labels.PredictionsError
	if errors.As(err, &wrong) {
		return nil, nil, refusal(wrong.Instead, "%s", wrong.Problem)
	}
	return p.Values, p.IDs, err
}

// HoldoutStatus says how far a holdout is: how many answers are left, and whether a round is open, so that the next question is free. It follows from what was released.
type HoldoutStatus struct {
	Left int  `json:"left"`
	Open bool `json:"open"`
}

// HoldoutStatus is free. It looks at which version of the data there is, and at nothing else of it.
func (c *Curator) HoldoutStatus(ctx context.Context, name string) (HoldoutStatus, error) {
	h, err := c.holdout(HoldoutQuestion{Holdout: name})
	if err != nil {
		return HoldoutStatus{}, err
	}
	p := &submission{of: h}
	if err := c.openNamed(ctx, p); err != nil {
		return HoldoutStatus{}, err
	}
	s, err := p.open.session.Status(ctx, "")
	return HoldoutStatus{Left: s.Left, Open: s.Open}, err
}

// openNamed opens a holdout without a question.
func (c *Curator) openNamed(ctx context.Context, p *submission) error {
	var all *labels.Labels
	if p.of.Labels != "" {
		var err error
		if all, err = c.labels(p.of); err != nil {
			return err
		}
	}
	return c.openFor(ctx, p, all)
}
