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
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/answers"
	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/interactive"
	"github.com/discreet-dp/discreet/internal/memory"
	"github.com/discreet-dp/discreet/internal/pace"
	"github.com/discreet-dp/discreet/internal/plan/tree"
	"github.com/discreet-dp/discreet/internal/pricing"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/mech"
)

// bases are answers that were paid for, of which sharper ones are made for the difference. They are
// in one window: in another one nobody has paid for them.
type bases struct {
	window uint64
	of     map[*pricing.Purchase]*memory.Base
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
// own (mech.Sharpened).
func (a *asking) findBases(ctx context.Context) error {
	a.bases = bases{}
	if len(a.bought) == 0 || !a.data.Whole {
		return nil
	}
	window, err := a.c.ledger.Window(ctx, a.c.dataset.Name)
	if err != nil {
		return err
	}
	found := bases{window, map[*pricing.Purchase]*memory.Base{}, dp.Cost{}}
	if least := a.Currency.Amount(a.c.dataset.Budget.MinEpsilon); a.Currency.Pure {
		found.least.Epsilon = least
	} else {
		found.least.Rho = least
	}
	who := memory.Asker{Dataset: a.c.dataset.Name, Version: a.data.ID, Window: window, Request: a.question.Request,
		Program: program()}
	for _, b := range a.bought {
		base, err := a.c.memory.FindBase(ctx, b, who, a.horizon)
		if err != nil {
			return err
		}
		if base != nil && (a.Settings.Error == nil || !wider(base.By)) {
			found.of[b] = base
		}
	}
	if len(found.of) == 0 {
		return nil
	}
	whole, err := a.c.Takes(ctx, a.question.Analyst, a.charge())
	if err != nil {
		return err
	}
	less, err := a.c.Takes(ctx, a.question.Analyst, found.cost(a.bought))
	if err == nil && less <= whole {
		a.bases = found
	}
	return err
}

// wider reports whether an answer that is made of another has wider error bars than its price says,
// so that it is none that was asked for by its error.
func wider(by []mech.Sharper) bool {
	return slices.ContainsFunc(by, func(s mech.Sharper) bool { return s != nil && s.Off() > 0 })
}

// chargeFor pays for what is bought. What has a base is paid for in the window of that, or in full.
func (c *Curator) chargeFor(ctx context.Context, a *asking, charge ledger.Charge) (ledger.Receipt, error) {
	if err := paid(ctx); err != nil {
		return ledger.Receipt{}, err
	}
	charge.Mechanisms, charge.Cost = pricing.Mechanisms(a.bought), a.charge()
	if len(a.bases.of) > 0 && !c.unmoved(ctx, a.data) { // they are answers about other data by now
		a.bases = bases{}
		charge.Cost = a.charge()
	}
	if len(a.bases.of) == 0 {
		return c.Charge(ctx, a.question.Analyst, charge)
	}
	for _, b := range a.bought {
		if base := a.bases.of[b]; base != nil {
			charge.Mechanisms = pricing.Shorten(fmt.Sprintf("%s, sharpening record %d", charge.Mechanisms, base.Sequence), 4000)
			charge.Firsts = append(charge.Firsts, base.First(charge.Request))
		}
	}
	charge.Window = a.bases.window
	charge.Accounts = c.Charged(a.question.Analyst, charge.Window)
	receipt, err := c.chargeProtected(ctx, charge)
	// In another window they are not paid for. A request that was charged before there were any is
	// computed for that.
	if errors.As(err, new(*ledger.WindowError)) || errors.As(err, new(*ledger.RequestError)) {
		a.bases = bases{}
		charge.Mechanisms, charge.Cost, charge.Firsts = pricing.Mechanisms(a.bought), a.charge(), nil
		charge.Accounts = nil
		return c.Charge(ctx, a.question.Analyst, charge)
	}
	if err != nil {
		return receipt, c.Advise(ctx, a.question.Analyst, err)
	}
	return receipt, nil
}

// useBases sees to it that what is made of bases is noted before anything is computed: nothing else
// ever is. A charge notes it with itself, so that it is there when who hung up asks again.
func (a *asking) useBases(ctx context.Context, charged ledger.Receipt) error {
	if !charged.Again {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	for _, base := range a.bases.of {
		if err := a.c.memory.Use(ctx, base, charged.Sequence, a.question.Request); err != nil {
			return err
		}
	}
	return nil
}

// running is what runs of a question, and what is known of the data that it ran on.
type running struct {
	c     *Curator
	data  interactive.Data // that the question was asked of
	other bool             // something ran on other data, which may be gone again
	loose bool             // something ran on data that may change while it is read
	sure  bool             // all of it ran on that data; known when it was asked whether it moved
	had   time.Duration    // the public time of what ran
}

// run computes a query, and notes what it ran on.
func (r *running) run(ctx context.Context, q *tree.Query) (*engine.Result, error) {
	if takes, err := r.c.publicTime(ctx, q); err == nil {
		r.had = plus(r.had, takes)
	}
	exactly, err := r.c.Run(ctx, q)
	if err == nil {
		r.note(exactly.ReadFrom)
	}
	return exactly, err
}

// releases lets a question take the time of a release that is more than noise on each number. It
// begins when the engine is done: what it takes beyond the public time would tell when that was.
func (r *running) releases(ctx context.Context, b *pricing.Purchase) error {
	takes, err := r.c.releaseTime(ctx, b)
	if err == nil && takes > 0 {
		r.had = plus(r.had, takes)
		pace.Works(ctx, takes)
	}
	return err
}

// note notes what something was read from.
func (r *running) note(read engine.ReadFrom) {
	r.other = r.other || read.State != "" && read.State != r.data.State
	r.loose = r.loose || read.State == "" || !read.Copied
}

// rest lets a question that has failed take the time of what it did not get to: behind a closed
// door what fails and what does not are told the same, and at the same time.
func (r *running) rest(ctx context.Context, buys []*pricing.Purchase) {
	if all, err := r.c.timeOfAll(ctx, buys); err == nil {
		pace.Works(ctx, all-r.had)
	}
}

// same reports whether all that ran is known to be of the data that the question was asked of. That
// this is there again is not enough: it may have been other data in between.
func (r *running) same(ctx context.Context) bool {
	return r.data.Whole && !r.other && (!r.loose || r.c.unmoved(ctx, r.data))
}

// moved reports whether something ran on other data, or may have: the data is another by now, and
// would be known to be the same.
func (r *running) moved(ctx context.Context) bool {
	r.sure = r.same(ctx)
	return r.other || r.data.Whole && !r.sure
}

// maker names what computed what was bought, where others may be made of it and it is known to be
// of the data that it is kept under.
func (r *running) maker() string {
	if !r.sure {
		return ""
	}
	return program()
}

// sharpen releases a purchase again with less noise.
func (c *Curator) sharpen(b *pricing.Purchase, r *engine.Result, base *memory.Base) (*answers.Released, error) {
	out := &answers.Released{Quantiles: make([][][]int64, len(b.Noise))}
	for i, by := range base.By {
		values, off := base.Values[i], int64(0)
		if by != nil {
			var err error
			if values, err = c.releaser.Sharpen(r.Measures[i], values, by); err != nil {
				return nil, interactive.ErrRun
			}
			off = by.Off()
		}
		out.Measures, out.Off = append(out.Measures, values), append(out.Off, off)
	}
	return out, nil
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
