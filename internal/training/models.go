package training

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/ledger"
)

// modelID names a model by the receipt of its charge. The hash in it is known to those who were
// given the model, whoever paid, and to the owner.
func modelID(r api.Receipt) string { return fmt.Sprintf("%d-%.32s", r.Sequence, r.Hash) }

// ModelSequence returns the charge that a model is named after.
func ModelSequence(id string) (uint64, bool) {
	digits, _, found := strings.Cut(id, "-")
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, found && err == nil && strconv.FormatUint(n, 10) == digits
}

// paidModel reports whether a record is the charge of a model of this dataset.
func (c *Trainings) paidModel(r *ledger.Record) bool {
	return r.Kind == ledger.KindCharge && r.Dataset == c.Dataset.Name && strings.HasPrefix(r.Mechanisms, modelMark)
}

// Model returns the model that a charge paid for, as it was released. It is [api.ErrNoModel] where
// the charge is none of a model, where its training failed or was not finished, and where the model
// was kept after asOf, which is a moment or zero: see [Question].
func (c *Trainings) Model(ctx context.Context, r *ledger.Record, asOf time.Time) (*api.KeptModel, error) {
	if !c.paidModel(r) {
		return nil, api.ErrNoModel
	}
	text, found, err := c.memory.Answer(ctx, r.Request)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, api.ErrNoModel
	}
	kept, err := decodeModel(text)
	if err != nil {
		return nil, err
	}
	if kept.model == nil || !c.memory.Shows(r.Sequence, kept.at, memory.Horizon{AsOf: asOf, Spoken: true}) {
		return nil, api.ErrNoModel
	}
	paid := api.Receipt{Sequence: r.Sequence, Hash: ledger.Hash(r.Encode()), Free: true}
	return &api.KeptModel{ID: modelID(paid), Dataset: r.Dataset, Analyst: r.Analyst, Time: r.Time, Cost: r.Cost, Receipt: paid,
		Target: kept.model.Encoding.Target.Name, Model: kept.model}, nil
}
