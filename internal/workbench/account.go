package workbench

import (
	"github.com/discreet-dp/discreet/account/workload"
)

// accountingRequest asks what mechanisms cost together, or how much noise they need. Compose has one of
// epsilon and delta, and calibrate both.
type accountingRequest struct {
	Mechanisms []string `json:"mechanisms"`
	Epsilon    *float64 `json:"epsilon"`
	Delta      *float64 `json:"delta"`
	Direction  string   `json:"direction"`
}

// Use is a mechanism for machines.
type Use struct {
	Mechanism string `json:"mechanism"`
	Times     int    `json:"times"`
}

// Uses are those of a workload.
func Uses(uses []workload.Use) (out []Use) {
	for _, u := range uses {
		out = append(out, Use{u.Mechanism.String(), u.Times})
	}
	return out
}

// Directions are the neighbours that are compared under sampling, by their names.
var Directions = map[string]workload.Direction{"": workload.Both, "both": workload.Both, "remove": workload.Remove, "add": workload.Add}

// Composed is what all accountants say, for machines: epsilon at a delta, or delta at an epsilon.
// The keys are in this order.
func Composed(given string, at float64, w *workload.Workload, answer workload.Answer) any {
	type rest struct {
		Mechanisms []Use              `json:"mechanisms"`
		Results    []workload.Result  `json:"results"`
		Tightest   workload.Method    `json:"tightest"`
		Skipped    []workload.Skipped `json:"skipped,omitempty"`
	}
	body := rest{Uses(w.Uses()), answer.Results, answer.Tightest().Method, answer.Skipped}
	if given == "delta" {
		return struct {
			Delta float64 `json:"delta"`
			rest
		}{at, body}
	}
	return struct {
		Epsilon float64 `json:"epsilon"`
		rest
	}{at, body}
}

// Calibrated is the noise that a budget needs, for machines.
func Calibrated(epsilon, delta float64, found workload.Calibration) map[string]any {
	out := map[string]any{
		"epsilon": epsilon, "delta": delta, "mechanisms": Uses(found.Workload.Uses()),
		"parameter": found.Parameter, "value": found.Value(),
		"lower": found.Noise.Lower, "upper": found.Noise.Upper,
	}
	if found.Parameter != "epsilon" {
		out[found.Parameter] = found.Value()
	}
	if alpha, known := found.Error(0.05); known {
		out["error95"] = alpha
	}
	return out
}

// readUses reads what is asked; free says that the noise may be left out.
func (q *accountingRequest) readUses(r *request, free bool) ([]workload.Use, workload.Direction, error) {
	if err := r.decode(q); err != nil {
		return nil, 0, err
	}
	direction, ok := Directions[q.Direction]
	if !ok {
		return nil, 0, refuseRequest("there is no direction %q; there are both, remove and add", q.Direction)
	}
	var uses []workload.Use
	for _, text := range q.Mechanisms {
		u, err := workload.ParseUse(text, free)
		if err != nil {
			return nil, 0, err
		}
		uses = append(uses, u)
	}
	return uses, direction, nil
}

func compose(r *request) (*reply, error) {
	var q accountingRequest
	uses, direction, err := q.readUses(r, false)
	if err != nil {
		return nil, err
	}
	if (q.Delta == nil) == (q.Epsilon == nil) {
		return nil, refuseRequest("say delta to be told epsilon, or epsilon to be told delta")
	}
	w, err := workload.New(uses...)
	if err != nil {
		return nil, err
	}
	given, at, ask := "delta", q.Delta, w.Epsilon
	if q.Epsilon != nil {
		given, at, ask = "epsilon", q.Epsilon, w.Delta
	}
	answer, err := ask(*at, direction)
	if err != nil {
		return nil, err
	}
	return &reply{Composed(given, *at, w, answer), nil}, nil
}

func calibrate(r *request) (*reply, error) {
	var q accountingRequest
	uses, direction, err := q.readUses(r, true)
	if err != nil {
		return nil, err
	}
	if q.Delta == nil || q.Epsilon == nil {
		return nil, refuseRequest("say epsilon and delta, which the noise is to keep")
	}
	found, err := workload.Calibrate(uses, *q.Epsilon, *q.Delta, direction)
	if err != nil {
		return nil, err
	}
	return &reply{Calibrated(*q.Epsilon, *q.Delta, found), nil}, nil
}
