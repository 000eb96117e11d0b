package fiction

import (
	"math/big"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/policy"
)

// Endless is a dataset for one who asks about data that is made up. What is left of whose budget is
// the owner's affair: they can pay for every question, at the price and with the noise that the
// policy gives it.
func Endless(ds *policy.Dataset, analyst string) *policy.Dataset {
	out := *ds
	out.Budget.Epsilon = max(out.Budget.Epsilon, 100*dp.One)
	out.Budget.Renewal = policy.Renewal{}
	out.Groups = nil
	out.Analysts = map[string]*policy.Analyst{analyst: {Name: analyst, Share: big.NewRat(1, 1)}}
	return &out
}
