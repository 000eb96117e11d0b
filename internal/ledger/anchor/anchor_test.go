package anchor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/ledger"
)

var (
	ctx     = context.Background()
	noError = ledgertest.NoError
)

// at returns an anchor of a ledger with so many records.
func at(n uint64) ledger.Anchor {
	return ledger.Anchor{
		Identity: "test", Sequence: n, Hash: ledger.Hash(fmt.Sprint(n)), Time: time.Unix(int64(n), 7).UTC(),
		Most: []ledger.Ceiling{{Account: "hospital/\"ana\"<&>\u2028",
			Spent: dp.Cost{Epsilon: dp.Unbounded, Rho: dp.One/3 + dp.Amount(n), Delta: 1}}},
		Trail: []ledger.Position{{Sequence: 0, Hash: ledger.Hash("0")}},
	}
}

func mustStore(t testing.TB, place ledger.Anchorage, n uint64) {
	t.Helper()
	noError(t, place.Store(ctx, at(n)))
}

// mustHold checks that a place has this anchor, and no other where n is 0.
func mustHold(t testing.TB, place ledger.Anchorage, n uint64) {
	t.Helper()
	a, found, err := place.Load(ctx)
	noError(t, err)
	if found != (n > 0) || found && !reflect.DeepEqual(a, at(n)) {
		t.Fatalf("got %v %+v; want %d", found, a, n)
	}
}

// places is what every place promises. Each call of open returns another view of the same place.
func places(t *testing.T, open func() ledger.Anchorage) {
	one := open()
	mustHold(t, one, 0)
	mustStore(t, one, 5)
	mustHold(t, one, 5)
	mustHold(t, open(), 5)
	mustStore(t, one, 9)
	mustStore(t, one, 4) // a recovery goes back
	mustHold(t, open(), 4)

	// Another copy of the ledger comes along. Each of the two would overwrite the other's anchor.
	two := open()
	mustHold(t, two, 4)
	mustStore(t, two, 6)
	var moved *MovedError
	if err := one.Store(ctx, at(7)); !errors.As(err, &moved) {
		t.Errorf("got %v; want a MovedError", err)
	}
	if err := one.Store(ctx, at(7)); !errors.As(err, &moved) {
		t.Errorf("the second time: got %v; want a MovedError", err)
	}
	mustHold(t, open(), 6)
	// Opened again it looks again.
	mustHold(t, one, 6)
	mustStore(t, one, 8)
	if err := two.Store(ctx, at(7)); !errors.As(err, &moved) {
		t.Errorf("got %v; want a MovedError", err)
	}
	mustHold(t, open(), 8)
}

func TestMain(m *testing.M) {
	if path := os.Getenv("ANCHOR_TEST_CHILD"); path != "" {
		storeForEver(path)
	}
	os.Exit(m.Run())
}
