package curator_test

import (
	"context"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
	"github.com/discreet-dp/discreet/ledger"
)

// callCounter is a ledger that writes down what it is asked, and what it is told to write.
type callCounter struct {
	ledger.Ledger
	calls []string
}

func (c *callCounter) called(name string) { c.calls = append(c.calls, name) }

func (c *callCounter) Charge(ctx context.Context, charge ledger.Charge) (ledger.Receipt, error) {
	c.called("charge")
	return c.Ledger.Charge(ctx, charge)
}

func (c *callCounter) Keep(ctx context.Context, sequence uint64, key string, answer []byte) error {
	c.called("keep")
	return c.Ledger.Keep(ctx, sequence, key, answer)
}

func (c *callCounter) Recall(ctx context.Context, key string) ([]byte, uint64, bool, error) {
	c.called("recall")
	return c.Ledger.Recall(ctx, key)
}

func (c *callCounter) Answer(ctx context.Context, request string) ([]byte, bool, error) {
	c.called("answer")
	return c.Ledger.Answer(ctx, request)
}

func (c *callCounter) Request(ctx context.Context, request string) (*ledger.Record, string, []byte, error) {
	c.called("request")
	return c.Ledger.Request(ctx, request)
}

func (c *callCounter) Balances(ctx context.Context, accounts []ledger.Account) ([]ledger.Balance, error) {
	c.called("balances")
	return c.Ledger.Balances(ctx, accounts)
}

func (c *callCounter) DataVersion(ctx context.Context, dataset, label, state string) (ledger.Version, error) {
	c.called("version")
	return c.Ledger.DataVersion(ctx, dataset, label, state)
}

func (c *callCounter) Window(ctx context.Context, dataset string) (uint64, error) {
	c.called("window")
	return c.Ledger.Window(ctx, dataset)
}

func (c *callCounter) Lockout(ctx context.Context, dataset, analyst string) (ledger.Lockout, error) {
	c.called("lockout")
	return c.Ledger.Lockout(ctx, dataset, analyst)
}

func (c *callCounter) Notes(ctx context.Context, session string) ([][]byte, error) {
	c.called("notes")
	return c.Ledger.Notes(ctx, session)
}

func (c *callCounter) Era(ctx context.Context) (string, error) {
	c.called("era")
	return c.Ledger.Era(ctx)
}

// A question that was not asked before has five calls of the ledger, each once, but for recall:
// there are several keys under which an answer may be, and slots in which it may be kept.
func TestLedgerCalls(t *testing.T) {
	w := curatortest.New(t, curatortest.Plenty)
	c := &callCounter{Ledger: w.Ledger}
	w.Rewire(w.Data, c)
	ask := func(sql string) []string {
		c.calls = nil
		_, err := w.AskNew(ctx, api.Question{Analyst: "ana", SQL: sql, Request: curatortest.FreshID()})
		w.Check(err)
		recalled := false
		return slices.DeleteFunc(c.calls, func(name string) bool {
			again := name == "recall" && recalled
			recalled = recalled || name == "recall"
			return again
		})
	}
	// The first one writes down whom the policy protects, and the second one reads it.
	ask("SELECT COUNT(*) FROM patients")
	ask("SELECT COUNT(*) FROM patients WHERE age > 50")
	const sql = "SELECT COUNT(*) FROM patients WHERE sex = 'F'"
	if got, want := ask(sql), []string{"version", "recall", "charge", "keep", "balances"}; !slices.Equal(got, want) {
		t.Errorf("a new question calls %v, and not %v", got, want)
	}
	if got, want := ask(sql), []string{"version", "recall", "balances"}; !slices.Equal(got, want) {
		t.Errorf("a question again calls %v, and not %v", got, want)
	}
}
