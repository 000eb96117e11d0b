package pricing

import (
	"math/big"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/mech"
)

// selection is how the best groups are chosen, where a question asks for nothing else.
type selection struct {
	Top *mech.TopK
	why string
}

// mostScores is how many scores a choice may look at: each round looks at all groups that are left.
const mostScores = 1 << 22

// newChoice calibrates a choice to its share, which its rounds have in equal parts.
func newChoice(q *tree.Query, c Currency, share dp.Amount) (*selection, error) {
	if q.Choice.K > mostScores/q.Groups() {
		return nil, api.Refuse("select the aggregate too, which releases all groups at one price, or choose fewer",
			"to choose %d of %d groups one by one takes too long", q.Choice.K, q.Groups())
	}
	s, err := scoring(q)
	if err != nil {
		return nil, err
	}
	each, why, err := mech.ChooseSelector(c.budget(), share/dp.Amount(q.Choice.K), s)
	if err != nil {
		return nil, err
	}
	top, err := mech.NewTopK(q.Choice.K, each)
	return &selection{top, why}, err
}

// scoring says how far one person moves a score. The score of a group is its measure times a public
// weight. A person adds to each group a number from [lo, hi], which holds 0 (tree.Query.Interval).
// Added or removed it moves the measure by at most M = max(-lo, hi); replaced by another person's
// it moves it by at most hi - lo; and the score by that times the largest weight. Scores all move
// the same way where a person is added or removed, nobody adds numbers of both signs, and no two
// weights have different signs.
func scoring(q *tree.Query) (mech.Scoring, error) {
	lo, hi := q.Interval(q.Measures[0])
	move := new(big.Int).Neg(lo)
	if move.Cmp(hi) < 0 {
		move.Set(hi)
	}
	if q.Neighbours == dp.Substitute {
		move.Sub(hi, lo)
	}
	most, positive, negative := int64(1), q.Choice.Weights == nil, false
	for _, w := range q.Choice.Weights {
		most = max(most, w, -w)
		positive, negative = positive || w > 0, negative || w < 0
	}
	move.Mul(move, big.NewInt(most))
	if move.Sign() == 0 {
		move.SetInt64(1)
	}
	if !move.IsInt64() || move.BitLen() > 61 {
		return mech.Scoring{}, api.Refuse("multiply by smaller numbers, or ask the owner for narrower bounds",
			"one person could move these scores by more than 2^61")
	}
	monotone := q.Neighbours == dp.AddRemove && !(positive && negative) && (lo.Sign() == 0 || hi.Sign() == 0)
	return mech.Scoring{Sensitivity: move.Int64(), Monotone: monotone}, nil
}

func (s *selection) spelling() string {
	return s.Top.Name() + "(" + s.Top.Each().Parameter().RatString() + ")"
}
