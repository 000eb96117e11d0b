package utility

import (
	"fmt"
	"math"
)

// SparseVector answers which of Queries questions, asked one after the other, are
// above a threshold, until Answers of them were. Each question has the given
// sensitivity. The form is Dwork and Roth's (2014, Algorithm 2): the threshold has
// Laplace noise of scale s, drawn again after each answer, and each question of
// scale 2s. With Answers = 1 it is their AboveThreshold.
type SparseVector struct {
	Epsilon, Delta, Sensitivity float64
	Queries, Answers            int
}

// Scale returns s: 2 c D/epsilon, or D sqrt(32 c ln(1/delta))/epsilon with a delta. For
// c = 1 it is 2D/epsilon whatever delta is, because one answer needs no
// composition.
func (v SparseVector) Scale() (float64, error) {
	if err := firstOf(positive("epsilon", v.Epsilon), positive("the sensitivity", v.Sensitivity),
		atLeast("the number of queries", v.Queries, 1), atLeast("the number of answers", v.Answers, 1)); err != nil {
		return 0, err
	}
	if !(v.Delta >= 0 && v.Delta < 1) {
		return 0, fmt.Errorf("%w: delta is %v; write 0, or a probability such as 1e-6", ErrInput, v.Delta)
	}
	if v.Answers > v.Queries {
		return 0, fmt.Errorf("%w: there are %d answers to %d queries; write at most as many", ErrInput, v.Answers, v.Queries)
	}
	c := float64(v.Answers)
	if v.Delta == 0 || v.Answers == 1 {
		return 2 * c * v.Sensitivity / v.Epsilon, nil
	}
	return v.Sensitivity * math.Sqrt(-32*c*math.Log(v.Delta)) / v.Epsilon, nil
}

// Alpha returns 4 s (ln k + ln(2c/beta)): with probability at least 1 - beta no
// question that is reported above has a value below the threshold less alpha, and
// none that is reported below has a value above the threshold plus alpha, until it
// halts.
//
// For AboveThreshold that is 8 (ln k + ln(2/beta))/epsilon (Dwork, Roth 2014,
// Theorem 3.24), and for c answers 8 c (ln k + ln(2c/beta))/epsilon, or (ln k +
// ln(2c/beta)) sqrt(512 c ln(1/delta))/epsilon (Theorem 3.26). The proof: alpha/2
// for each of the k question noises, of scale 2s, at beta/2 in all, and alpha/2
// for each of the c threshold noises, of scale s, at beta/2 in all. Nothing is
// assumed of the questions; the theorems' condition that few are near the
// threshold only says that it does not halt early.
func (v SparseVector) Alpha(beta float64) (float64, error) {
	s, err := v.Scale()
	if err := firstOf(err, probability(beta)); err != nil {
		return 0, err
	}
	c, k := float64(v.Answers), float64(v.Queries)
	return 4 * s * (math.Log(k) + math.Log(2*c) - math.Log(beta)) * up, nil
}
