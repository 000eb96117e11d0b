package lockstep

import "errors"

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
