package holdout_test

import (
	"context"
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/dp/account"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/dp/noise"
	"github.com/discreet-dp/discreet/internal/mechanism/holdout"
	"github.com/discreet-dp/discreet/internal/mechanism/session"
)

// A model is right on 90 % of the training data. On the holdout it is right for 540,000 of a
// million people, and the analyst is told so.
func Example() {
	ctx := context.Background()
	c := holdout.Config{
		Size: 1_000_000, Steps: 1, Threshold: big.NewRat(4, 100), Noise: big.NewRat(1, 10_000), Answers: 10, Currency: mech.Pure,
	}
	tariff, err := holdout.Price(c)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a round costs", tariff.Round.Epsilon, "and all", tariff.Total.Epsilon)
	host := session.NewMemory(account.PureFilter(tariff.Total.Epsilon))
	s, err := holdout.Open(ctx, c, mech.NewReleaser(noise.NewSource()), host)
	if err != nil {
		fmt.Println(err)
		return
	}
	// In a program of its own the sums are at hand; a server computes them when they are needed and
	// paid for.
	sum := func(n int64) func(context.Context) (mech.Exact, error) {
		return func(context.Context) (mech.Exact, error) { return mech.Seal(n), nil }
	}
	for _, q := range []holdout.Question{
		{Key: "first model", Holdout: sum(540_000), Training: big.NewRat(9, 10)},
		{Key: "second model", Holdout: sum(541_000), Training: big.NewRat(545, 1000)},
	} {
		a, err := s.Ask(ctx, q)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(q.Key, a.Score.FloatString(2), "from the holdout:", a.Spent, "left:", a.Left)
	}
	// Output:
	// a round costs 0.02 and all 0.2
	// first model 0.54 from the holdout: true left: 9
	// second model 0.55 from the holdout: false left: 9
}
