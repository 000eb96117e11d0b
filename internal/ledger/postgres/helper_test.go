package postgres

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/test/ledgertest"
	"github.com/discreet-dp/discreet/internal/test/testpg"
	"github.com/discreet-dp/discreet/ledger"
)

var (
	ctx                             = context.Background()
	ask, hospital, spent, unit      = ledgertest.Ask, ledgertest.Hospital, ledgertest.Spent, ledgertest.Unit
	mustCharge, mustKeep, mustClose = ledgertest.MustCharge, ledgertest.MustKeep, ledgertest.MustClose
	noError                         = ledgertest.NoError
)

var schemas atomic.Int64

// address returns the address of a ledger that is not there yet.
func address(t testing.TB) string {
	t.Helper()
	return within(t, testpg.Shared(t).URL())
}

// within is a ledger of its own in a database.
func within(t testing.TB, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	noError(t, err)
	q := u.Query()
	q.Set("schema", fmt.Sprintf("ledger_%d", schemas.Add(1)))
	u.RawQuery = q.Encode()
	return u.String()
}

// open opens a ledger, and closes it with the test.
func open(t testing.TB, at string, o Options) *Ledger {
	t.Helper()
	l, err := OpenWith(at, o)
	noError(t, err)
	t.Cleanup(func() { l.Close() })
	return l
}

// verify checks a ledger from its first record on, and decides every charge once more.
func verify(t testing.TB, at string) ledgertest.Report {
	t.Helper()
	r, err := Read(at)
	noError(t, err)
	defer r.Close()
	s, err := r.Verify(nil)
	noError(t, err)
	ledgertest.DecideAgain(t, func(yield func(*ledger.Record, error) bool) {
		for line, err := range r.Records() {
			if !yield(line.Record, err) {
				return
			}
		}
	})
	return ledgertest.Report{Records: s.Records, Charges: s.Charges, Answers: s.Answers, Balances: s.Balances}
}

// world is a new ledger for the tests that all ledgers share.
func world(t *testing.T) ledgertest.World {
	at := address(t)
	return ledgertest.World{
		OpenAt: func(t testing.TB, now func() time.Time) ledger.Ledger {
			t.Helper()
			l, err := openWith(at, Options{}, now)
			noError(t, err)
			t.Cleanup(func() { l.Close() })
			return l
		},
		Verify: func(t testing.TB) ledgertest.Report { return verify(t, at) },
		Slow:   true,
	}
}
