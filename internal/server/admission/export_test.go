package admission

import "context"

// How an error is told to whom: for tests that stand outside, with the errors of all packages.
var OutcomeOf, EndsSession = outcomeOf, endsSession

// TranslateStopped is what becomes of an error of a question that was stopped.
func TranslateStopped(ctx context.Context, kind string, err error) error {
	return translate(ctx, &entry{kind: kind}, err)
}
