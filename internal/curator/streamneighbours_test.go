package curator

import (
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/hospital"
	"github.com/discreet-dp/discreet/mech"
)

// Questions to a stream, those that the target is in last: up to the first number that differs
// everything else has to be the same.
var streamQuestions = []string{
	"SELECT COUNT(*) FROM patients WHERE sex = 'F' AND diagnosis = 'flu'",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'asthma' AND NOT smoker",
	"SELECT AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END) FROM patients WHERE diagnosis = 'fracture'",
	"SELECT smoker, COUNT(*) FROM patients WHERE diagnosis = 'diabetes' GROUP BY smoker",
	"SELECT 100.0 * COUNT(*) FILTER (WHERE smoker) / COUNT(*) FROM patients WHERE diagnosis IN ('flu', 'asthma')",
	"SELECT sex FROM patients WHERE diagnosis = 'hypertension' GROUP BY sex HAVING COUNT(*) > 3 ORDER BY COUNT(*)",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND age < 37",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'flu' AND age < 36",
	"SELECT COUNT(*) FROM patients WHERE sex IS NULL AND diagnosis = 'flu'",
	"SELECT COUNT(*) FROM patients WHERE sex NOT IN ('F', 'M', 'X') AND diagnosis = 'flu'",
	"SELECT n * 2 FROM (SELECT COUNT(*) AS n FROM patients WHERE diagnosis = 'fracture' AND smoker) t",
	"SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'",
	"SELECT sex, COUNT(*) FROM patients GROUP BY sex",
	"SELECT COUNT(*) FROM patients",
}

// streamTranscript is what came of a question, without its numbers, and its numbers.
func streamTranscript(w *world, r *recorder, text string) (shape, values string, calls []mech.Call) {
	r.charges = nil
	r.take()
	w.releaser.noise.Record(func(c mech.Call) { calls = append(calls, c) })
	defer w.releaser.noise.Record(nil)
	a, err := w.Ask(ctx, api.Question{Analyst: "ana", SQL: text, Request: text, Settings: api.Settings{Stream: "on"}})
	if err != nil {
		return err.Error(), "", calls
	}
	shape = fmt.Sprint(len(a.Rows), a.Columns, a.Notes, a.Cost, a.Remaining, a.Through, r.take())
	for _, c := range r.charges {
		shape += fmt.Sprint(c.Analyst, c.Cost, c.Mechanisms) // its names follow from those of the data too
	}
	return shape, numbers(a), calls
}

// judgeStream asks two neighbouring worlds the same, with the same randomness. Until a number
// differs, which is what its noise is for, everything is the same: what is charged, what is run, in
// which order, what is said. The exact values that mechanisms see are never further apart than
// their noise is for. It returns how many questions it compared.
func judgeStream(p pair) (int, error) {
	for i, text := range streamQuestions {
		x, xs, xc := streamTranscript(p.a, p.ra, text)
		y, ys, yc := streamTranscript(p.b, p.rb, text)
		if len(xc) != len(yc) {
			return i, fmt.Errorf("%s: %d draws against %d", text, len(xc), len(yc))
		}
		for k := range xc {
			a, b := xc[k], yc[k]
			if a.Mechanism != b.Mechanism || a.Parameter.Cmp(b.Parameter) != 0 || a.Sensitivity.String() != b.Sensitivity.String() ||
				a.Values.Len() != b.Values.Len() {
				return i, fmt.Errorf("%s: draw %d is %v against %v", text, k, a, b)
			}
			var moved, squares int64
			for j := range a.Values.Len() {
				d := a.Values.Open()[j] - b.Values.Open()[j]
				moved += max(d, -d)
				squares += d * d
			}
			most := squares
			if a.Sensitivity.Norm() == dp.L1 {
				most, squares = a.Sensitivity.L1().Int64(), moved
			} else {
				most = a.Sensitivity.L2Squared().Int64()
			}
			if squares > most {
				return i, fmt.Errorf("%s: draw %d is moved by %d, and its noise is for %v", text, k, squares, a.Sensitivity)
			}
		}
		if x != y {
			return i, fmt.Errorf("%s:\n%s\nagainst\n%s", text, x, y)
		}
		if xs != ys {
			return i + 1, nil
		}
	}
	return len(streamQuestions), nil
}

func TestStreamNeighbours(t *testing.T) {
	if testing.Short() {
		t.Skip("nothing of it runs at once")
	}
	calm, wild := hospital.New(120, 1), restless(120, 1)
	pure, gaussian := streaming(hospital.Dataset("hospital", "data", plenty), crowd, "        alpha: 0.05\n"),
		streaming(hospital.Dataset("hospital", "data", rich), crowd, "        alpha: 0.05\n")
	for _, c := range []struct {
		name    string
		dataset string
		x, y    *hospital.Hospital
	}{
		{"laplace", pure, calm, calm.Without(hospital.Target)},
		{"gaussian", gaussian, calm, calm.Without(hospital.Target)},
		{"restless", pure, wild, wild.Without(hospital.Target)},
		{"substitute", substitute(pure), wild, calm},
		{"substitute gaussian", substitute(gaussian), wild, calm},
		{"rows", streaming(rowDataset(plenty), crowd, "        alpha: 0.05\n"), wild, wild.Without(hospital.Target)},
	} {
		n, err := judgeStream(newPair(t, c.dataset, c.x, c.y))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		t.Logf("%s: %d questions", c.name, n)
		if n < 4 {
			t.Errorf("%s: only %d questions were compared", c.name, n)
		}
	}
}
