package curator

import (
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/mech"
	"github.com/discreet-dp/discreet/internal/curator/answercache"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/session/sessionhost"
	"github.com/discreet-dp/discreet/ledger"
)

// bases are answers that were paid for, of which sharper ones are made for the difference. They are
// in one window: in another one nobody has paid for them.
type bases struct {
	window uint64
	of     map[*pricing.Purchase]*answercache.Base
	least  dp.Cost // of a question, in its currency: every answer is kept for good
}

// cost is what purchases cost, those with a base the difference.
func (s bases) cost(buys []*pricing.Purchase) dp.Cost {
	var sum dp.Cost
	for _, b := range buys {
		if base := s.of[b]; base != nil {
			sum = sum.Add(b.CostAfter(base.By))
		} else {
			sum = sum.Add(b.Cost())
		}
	}
	if len(s.of) > 0 {
		sum.Epsilon, sum.Rho = max(sum.Epsilon, s.least.Epsilon), max(sum.Rho, s.least.Rho)
	}
	return sum
}

// findBases looks for answers that what is bought can be made of. They are taken where all of it
// then takes less of what is left: Laplace noise that is sharpened costs more rho than noise of its
// own (mech.NewSharper).
func (a *request) findBases(ctx context.Context) error {
	a.bill.bases = bases{}
	if len(a.bill.bought) == 0 || !a.data.Whole {
		return nil
	}
	window := a.data.Window
	if window == 0 {
		var err error
		if window, err = a.c.ledger.Window(ctx, a.c.dataset.Name); err != nil {
			return err
		}
	}
	found := bases{window, map[*pricing.Purchase]*answercache.Base{}, dp.Cost{}}
	budget := a.c.dataset.Budget
	if a.Currency.Pure {
		found.least.Epsilon = budget.MinEpsilon
	}
	if !budget.Pure() {
		found.least.Rho = pricing.Currency{}.Amount(budget.MinEpsilon)
	}
	who := answercache.Asker{Dataset: a.c.dataset.Name, Version: a.data.ID, Window: window, Request: a.question.Request,
		Program: program()}
	for _, b := range a.bill.bought {
		base, err := a.c.memory.FindBase(ctx, b, who, a.horizon)
		if err != nil {
			return err
		}
		if base != nil && (a.Settings.Error == nil || !widensBars(base.By)) {
			found.of[b] = base
		}
	}
	if len(found.of) == 0 {
		return nil
	}
	parts, err := a.c.Takes(ctx, a.question.Analyst, window, a.bill.cost(), found.cost(a.bill.bought))
	if err == nil && parts[1] <= parts[0] {
		a.bill.bases = found
	}
	return err
}

// widensBars reports whether an answer that is made of another has wider error bars than its price
// says, so that it is none that was asked for by its error.
func widensBars(by []mech.Sharper) bool {
	return slices.ContainsFunc(by, func(s mech.Sharper) bool { return s != nil && s.ExtraSteps() > 0 })
}

// chargeFor pays for what is bought. What has a base is paid for in the window of that, or in full.
func (a *request) chargeFor(ctx context.Context, charge ledger.Charge) (ledger.Receipt, error) {
	if a.terms.free {
		return ledger.Receipt{}, sessionhost.ErrNotFree
	}
	charge.Mechanisms, charge.Cost, charge.Window = pricing.Mechanisms(a.bill.bought), a.bill.cost(), a.data.Window
	if len(a.bill.bases.of) > 0 && !a.c.states.unmoved(ctx, a.data) { // they are answers about other data by now
		a.bill.bases = bases{}
		charge.Cost = a.bill.cost()
	}
	if len(a.bill.bases.of) == 0 {
		return a.c.cashier.Charge(ctx, a.question.Analyst, charge)
	}
	for _, b := range a.bill.bought {
		if base := a.bill.bases.of[b]; base != nil {
			charge.Mechanisms = pricing.Shorten(fmt.Sprintf("%s, sharpening record %d", charge.Mechanisms, base.Sequence), 4000)
			charge.Firsts = append(charge.Firsts, base.First(charge.Request))
		}
	}
	charge.Window = a.bill.bases.window
	charge.Accounts = a.c.Charged(a.question.Analyst, charge.Window)
	receipt, err := a.c.cashier.chargeProtected(ctx, charge)
	// In another window they are not paid for. A request that was charged before there were any is
	// computed for that.
	if errors.As(err, new(*ledger.WindowError)) || errors.As(err, new(*ledger.RequestError)) {
		a.bill.bases = bases{}
		charge.Mechanisms, charge.Cost, charge.Firsts = pricing.Mechanisms(a.bill.bought), a.bill.cost(), nil
		charge.Accounts, charge.Window = nil, 0
		return a.c.cashier.Charge(ctx, a.question.Analyst, charge)
	}
	if err != nil {
		return receipt, a.c.Advise(ctx, a.question.Analyst, err)
	}
	return receipt, nil
}

// useBases sees to it that what is made of bases is noted before anything is computed: nothing else
// ever is. A charge notes it with itself, so that it is there when who hung up asks again.
func (a *request) useBases(ctx context.Context, charged ledger.Receipt) error {
	if !charged.Again {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, base := range a.bill.bases.of {
		if err := a.c.memory.Use(ctx, base, charged.Sequence, a.question.Request); err != nil {
			return err
		}
	}
	return nil
}

// program names what computes exact numbers: this build, with all that is in it. The same question
// of the same data has the same exact numbers as long as it is the same. An engine of another
// version may order hashes in another way, and keep other rows of somebody who has too many. Empty
// stands for not knowing: then nothing is made of an earlier answer.
//
// What the build says of its modules is not enough: without the history of the source, as in a
// container, two versions of ours say the same.
var program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	code, err := codeOf(path)
	if err != nil {
		return ""
	}
	h := sha256.Sum256([]byte(info.String() + code))
	return hex.EncodeToString(h[:8])
})

// codeOf names the code of an executable: by the linker's name for all that went into it, which is
// read in no time, or by its bytes.
func codeOf(path string) (string, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if note := f.Section(".note.go.buildid"); note != nil {
			if text, err := note.Data(); err == nil && len(text) > 16 {
				return string(text[16:]), nil
			}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
