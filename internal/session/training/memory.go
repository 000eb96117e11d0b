package training

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"time"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	"github.com/discreet-dp/discreet/internal/planner/tree"
	"github.com/discreet-dp/discreet/policy"
)

// modelMemory is how a model is kept, or that its training failed.
type modelMemory struct {
	Version int             `json:"version"`
	Model   json.RawMessage `json:"model,omitempty"`
	Failed  bool            `json:"failed,omitempty"`
	// Kept is when, in microseconds since 1970, for servers that did not see it.
	Kept int64 `json:"kept,omitempty"`
	// Moved says that the data changed while it was read, so that only its request finds it.
	Moved bool `json:"moved,omitempty"`
}

const modelMemoryVersion = 1

// What a model takes in the ledger at most, however it turns out.
const (
	weightBytes = 64      // a whole number, and room for what is said about it
	modelBytes  = 1 << 20 // everything that is not a weight, a name or a value
)

// CheckSize refuses a model that the ledger could not keep. It is decided by what is public, before
// anything is paid.
func CheckSize(e *learn.Encoding) error {
	weights, text := 1, 0
	for _, f := range append(append([]learn.Column{}, e.Features...), e.Target) {
		text += 6 * len(f.Name) // every character may need six where it is quoted
		for _, v := range f.Values {
			text += 6*len(v) + 4
		}
	}
	for _, f := range e.Features {
		weights += max(1, len(f.Values))
	}
	models := max(1, len(e.Target.Values))
	if room := pricing.MaxBytes - modelBytes - 4*text; room < 0 || weights > room/weightBytes/models {
		return api.Refuse("select fewer columns, or columns with fewer keys",
			"the model would have %d weights for each of %d classes, which is more than can be kept", weights, models)
	}
	return nil
}

func encodeModel(m *learn.Model, moved bool) ([]byte, error) {
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		return nil, err
	}
	var kept bytes.Buffer
	if err := json.Compact(&kept, text.Bytes()); err != nil {
		return nil, err
	}
	out, err := json.Marshal(modelMemory{Version: modelMemoryVersion, Model: kept.Bytes(), Kept: time.Now().UnixMicro(), Moved: moved})
	if err == nil && len(out) > pricing.MaxBytes {
		err = answercache.ErrUnreadable // which CheckSize rules out
	}
	return out, err
}

func encodeFailure() []byte {
	return fmt.Appendf(nil, `{"version":%d,"failed":true}`, modelMemoryVersion)
}

// keptModel is a model as it was kept, and when; no model where its training failed.
type keptModel struct {
	model *learn.Model
	at    time.Time
	moved bool
}

func decodeModel(text []byte) (keptModel, error) {
	var m modelMemory
	if err := json.Unmarshal(text, &m); err != nil || m.Version != modelMemoryVersion {
		return keptModel{}, answercache.ErrUnreadable
	}
	if m.Failed {
		return keptModel{}, nil
	}
	model, err := learn.ReadModel(bytes.NewReader(m.Model))
	if err != nil || model.Receipt == nil {
		return keptModel{}, answercache.ErrUnreadable
	}
	return keptModel{model, time.UnixMicro(m.Kept), m.Moved}, nil
}

// keepTraining stores what came of a training. A failure, and a model of data that changed while it
// was read, are found by their request and not by the question: who asks anew pays for another.
func (c *Trainings) keepTraining(ctx context.Context, sequence uint64, key string, text []byte, alone bool) error {
	if alone {
		key += fmt.Sprint(" request of charge ", sequence)
	}
	return c.memory.KeepText(ctx, sequence, key, text)
}

// recallTraining returns the model that was paid for, or nil.
func (c *Trainings) recallTraining(ctx context.Context, t *training, version string, see answercache.Horizon) (*api.Training, error) {
	text, sequence, found, err := c.memory.RecallText(ctx, t.key(version))
	if err != nil || !found {
		return nil, err
	}
	kept, err := decodeModel(text)
	if err != nil {
		return nil, err
	}
	if kept.model == nil || kept.moved || kept.model.Receipt.Sequence != sequence {
		return nil, answercache.ErrUnreadable
	}
	if !c.memory.Shows(sequence, kept.at, see) {
		return nil, nil
	}
	out := &api.Training{Model: kept.model, Receipt: api.Receipt{Sequence: sequence, Free: true}}
	if err := c.memory.CompleteReceipt(ctx, &out.Receipt); err != nil {
		return nil, err
	}
	out.ID = modelID(out.Receipt)
	return out, nil
}

// encodingOf says how the columns of a table become features. All of it follows from the text and
// the policy.
func encodingOf(t *tree.Table) *learn.Encoding {
	e := &learn.Encoding{Target: columnOf(t.Target())}
	for _, k := range t.Features() {
		e.Features = append(e.Features, columnOf(k))
	}
	return e
}

func columnOf(k tree.TableColumn) learn.Column {
	out, of := learn.Column{Name: k.Name}, k.Expr.Type()
	if k.Values == nil {
		out.Lo, out.Hi, out.Step = k.Bounds()
		if of.Kind == tree.Date {
			out.Kind = "date"
		}
		return out
	}
	for _, v := range k.Values {
		out.Values = append(out.Values, showKey(v, of.Step))
	}
	return out
}

// showKey writes a public value as a row that is predicted for has it.
func showKey(v policy.Value, step *big.Rat) string {
	if v.Type != policy.Integer || step == nil {
		return v.String()
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt64(v.Int), step).FloatString(pricing.Decimals(step))
}
