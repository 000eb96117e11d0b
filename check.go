package discreet

import "github.com/discreet-dp/discreet/internal/policycheck"

// Problems says what is wrong with the policy that its text alone does not tell, and no look at the
// data either: views that no question can use, and streams that nobody could ask.
func (db *DB) Problems() []string {
	out := []string{}
	for _, err := range []error{policycheck.Views(db.policy), policycheck.Streams(db.policy)} {
		if err != nil {
			out = append(out, err.Error())
		}
	}
	return out
}
