package ledger

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-dp/discreet/dp"
)

// An anchor comes back from JSON to the last unit. A dp.Cost alone would not: its JSON rounds, and
// has no unbounded amounts.
func TestAnchorJSON(t *testing.T) {
	amount := rapid.Custom(func(t *rapid.T) dp.Amount {
		return rapid.OneOf(rapid.Just(dp.Unbounded), rapid.Just(dp.Unbounded-1),
			rapid.Map(rapid.Uint64(), func(n uint64) dp.Amount { return dp.Amount(n) })).Draw(t, "amount")
	})
	rapid.Check(t, func(t *rapid.T) {
		a := Anchor{Identity: rapid.String().Draw(t, "identity"), Sequence: rapid.Uint64().Draw(t, "sequence"), Hash: Hash("x"),
			Time: time.Unix(1, 2).UTC()}
		for range rapid.IntRange(1, 3).Draw(t, "accounts") {
			a.Most = append(a.Most, Ceiling{rapid.String().Draw(t, "account"),
				dp.Cost{Epsilon: amount.Draw(t, "epsilon"), Rho: amount.Draw(t, "rho"), Delta: amount.Draw(t, "delta")}})
			a.Trail = append(a.Trail, Position{rapid.Uint64().Draw(t, "at"), Hash("y")})
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var b Anchor
		if err := json.Unmarshal(text, &b); err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%v: %+v came back as %+v", err, a, b)
		}
	})
}
