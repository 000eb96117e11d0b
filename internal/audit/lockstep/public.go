package lockstep

import (
	"errors"

	"github.com/discreet-dp/discreet/internal/plan"
	"github.com/discreet-dp/discreet/policy"
)

// peopleOptions are options to plan a question with as it is where how many people there are is public.
// Any number will do: what is bought does not depend on it.
func peopleOptions(ds *policy.Dataset) (o plan.Options) {
	if ds.Everybody() != nil {
		o.People = func() (int64, error) { return 1, nil }
	}
	return o
}

// judgePublic compares what comes of a question whose answer is public: it is there on both sides,
// to the byte, and nothing was charged, computed or drawn for it.
func judgePublic(a, b outcome) error {
	for _, o := range []outcome{a, b} {
		if o.panicked || o.err != "" || o.answer == nil {
			return errors.New("a public answer is not given: " + o.err)
		}
		if len(o.charges) != 0 || len(o.calls) != 0 || o.drawn != 0 || len(o.events) != 0 {
			return errors.New("a public answer is charged, computed, or has noise")
		}
	}
	return judgeAnswers(nil, a.answer, b.answer, false)
}
