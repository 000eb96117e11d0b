package budgets

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/ledger"
)

// Promise says in sentences, for the owner, what the budget promises to every person in the data,
// with what top-ups added, and with what it costs that they came after answers. All numbers are
// rounded to the side that promises less.
//
// With a delta the promise is about events, and not that the odds of every single answer stay
// within a factor but with probability delta: of Gaussian noise that would be false. What an
// event's probability can grow by also bounds how often somebody guesses right who had an even
// chance: (e^epsilon + delta) / (1 + e^epsilon).
func (s *DatasetAccounts) Promise(ctx context.Context) ([]string, error) {
	window, err := s.ledger.Window(ctx, s.dataset.Name)
	if err != nil {
		return nil, err
	}
	all, err := s.readAll(ctx, s.chart.common(window))
	if err != nil {
		return nil, err
	}
	return s.sentences(ctx, window, all)
}

// sentences are the promise of the accounts of everybody together, in a window.
func (s *DatasetAccounts) sentences(ctx context.Context, window uint64, all []reading) ([]string, error) {
	// Another dataset has a budget of its own, also where it is about the same people.
	whatever := "whatever analysts ask and whoever colludes, nothing that they may see of " + s.dataset.Name + " is more than "
	than := " with one person's data as without it"
	if s.dataset.Neighbours == dp.Substitute {
		than = " with one person's data as with somebody else's"
	}
	b := s.dataset.Budget
	if !b.Renews() {
		g := all[0].Total
		return append([]string{"For good: " + whatever + likelihood(g) + than + ".", guessing(g)}, changed(all[0])...), nil
	}
	now, err := s.sinceBegun(ctx, window, all[0], all[1])
	if err != nil {
		return nil, err
	}
	total, one, guessed := all[0].Total, now.Total, guessing(now.Total)
	within := fmt.Sprintf("Within this window (a %s, number %d of %d): ", b.Renewal.Every, window, b.Renewal.Windows)
	if window > 1 {
		// What earlier windows paid for can be seen in this one for nothing.
		within += "given everything that earlier windows told, which anybody may still see, "
		whatever = "and whatever analysts ask and whoever colludes, nothing that it adds is more than "
		guessed = strings.Replace(guessed, "So somebody who would", "So somebody who would then", 1)
	}
	return append([]string{
		within + whatever + likelihood(one) + than + ".",
		guessed,
		fmt.Sprintf("Over all %d windows together: nothing is more than %s%s.", b.Renewal.Windows, likelihood(total), than),
		guessing(total),
	}, changed(now, all[0])...), nil
}

// changed says why a promise is larger than its limit by itself, where that is so.
func changed(all ...reading) []string {
	for _, a := range all {
		if a.Total.Epsilon > a.alone.Epsilon || a.Total.Delta > a.alone.Delta {
			return []string{fmt.Sprintf("The limit of %s is not the one that was fixed before the first answer. By itself it would "+
				"promise epsilon %s at delta %s; but somebody who changes a limit may do so because of the answers, and the promise "+
				"allows for that.",
				a.Name, upTo(a.alone.Epsilon, 4), upTo(a.alone.Delta, 4))}
		}
	}
	return nil
}

// likelihood says a guarantee: so many times as likely, and so much more.
func likelihood(g api.Guarantee) string {
	if g.Epsilon == dp.Unbounded || g.Delta >= dp.One {
		return "some factor that cannot be stated, because what was spent before the policy was changed has none, times as likely"
	}
	text := fmt.Sprintf("%s times as likely (epsilon %s)", factor(g.Epsilon), upTo(g.Epsilon, 4))
	if g.Delta > 0 {
		text += fmt.Sprintf(", and 1 in %s more (delta %s),", oneIn(g.Delta), upTo(g.Delta, 4))
	}
	return text
}

// guessing says what a guarantee does to somebody who knew nothing.
func guessing(g api.Guarantee) string {
	f := math.Exp(min(g.Epsilon.Float(), 700))
	right := (f + min(g.Delta.Float(), 1)) / (1 + f)
	percent := min(math.Ceil(100*right*(1+1e-12)), 100)
	if percent >= 100 {
		return "Once all of it is spent, somebody who would guess something about a person right half of the time may guess it right " +
			"nearly always: so large an epsilon keeps hardly any single guess from being right."
	}
	return fmt.Sprintf("So somebody who would guess something about a person right half of the time guesses it right at most %.0f %% "+
		"of the time.", percent)
}

// factor is e^epsilon, rounded up.
func factor(epsilon dp.Amount) string {
	f := math.Exp(min(epsilon.Float(), 700)) * (1 + 1e-12)
	switch {
	case f < 10:
		return strconv.FormatFloat(math.Ceil(f*100)/100, 'f', -1, 64)
	case f < 100:
		return strconv.FormatFloat(math.Ceil(f*10)/10, 'f', -1, 64)
	case f < 1e6:
		return thousands(int64(math.Ceil(f)))
	}
	return fmt.Sprintf("10^%.0f", math.Ceil(epsilon.Float()/math.Ln10))
}

// oneIn is the reciprocal of a probability, rounded down to three digits.
func oneIn(delta dp.Amount) string {
	n := int64(1 / delta.Float())
	unit := int64(1)
	for n/unit >= 1000 {
		unit *= 10
	}
	return thousands(n / unit * unit)
}

// upTo writes an amount with some digits, rounded up.
func upTo(a dp.Amount, digits int) string {
	f := a.Float()
	if f == 0 {
		return "0"
	}
	unit := math.Pow(10, float64(digits)-1-math.Floor(math.Log10(f)))
	up, _ := strconv.ParseFloat(strconv.FormatFloat(math.Ceil(f*unit)/unit, 'g', digits, 64), 64)
	if up >= 1e-4 {
		return strconv.FormatFloat(up, 'f', -1, 64)
	}
	return strconv.FormatFloat(up, 'g', -1, 64)
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// sinceBegun returns the account of a window with what the dataset spent in it while the policy had
// no windows, which no account of a window has.
func (s *DatasetAccounts) sinceBegun(ctx context.Context, window uint64, total, now reading) (reading, error) {
	counted, err := s.countedInWindows(ctx, window)
	if err != nil || counted == total.Spent && counted.Rho != dp.Unbounded {
		return now, err // no account of a window lacks anything
	}
	spent, err := s.spentIn(ctx, window)
	if err != nil {
		return reading{}, err
	}
	// Of two sums without an end nobody knows the difference; what has none in this window alone is
	// summed up from the records.
	before := dp.Cost{Rho: spent.Rho.Sub(now.Spent.Rho), Delta: spent.Delta.Sub(now.Spent.Delta)}
	if before.Epsilon = spent.Epsilon.Sub(now.Spent.Epsilon); now.Spent.Epsilon == dp.Unbounded {
		before.Epsilon = 0 // the window's own has none already
	}
	if before == (dp.Cost{}) {
		return now, nil
	}
	first := dp.Cost{} // of a later window nobody knows what limit it began with
	if window == 1 {
		first = total.first
	}
	return s.read(kindAccount{kind: now.Kind, window: window},
		ledger.Balance{Account: now.Name, Limit: now.Limit.Add(before), Spent: now.Spent.Add(before), First: first})
}

// countedInWindows is what the accounts of all windows up to one have spent.
func (s *DatasetAccounts) countedInWindows(ctx context.Context, window uint64) (dp.Cost, error) {
	all := make([]ledger.Account, window)
	for i := range all {
		all[i] = ledger.Account{Name: ledger.WindowName(s.dataset.Name, uint64(i)+1), Filter: s.dataset.Filter()}
	}
	balances, err := s.ledger.Balances(ctx, all)
	var sum dp.Cost
	for _, b := range balances {
		sum = sum.Add(b.Spent)
	}
	return sum, err
}

// spentIn is what the dataset spent since a window began, by the records: charges, and what a
// recovery counted.
func (s *DatasetAccounts) spentIn(ctx context.Context, window uint64) (dp.Cost, error) {
	var in, all dp.Cost
	at := uint64(1)
	for r, err := range s.ledger.Records(ctx, 1) {
		if err != nil {
			return dp.Cost{}, err
		}
		if r.Kind == ledger.KindRenewal && r.Dataset == s.dataset.Name {
			in, at = dp.Cost{}, r.Window
		}
		for _, b := range r.Balances {
			if b.Account != s.dataset.Name {
				continue
			}
			added := r.Cost
			if r.Kind == ledger.KindRecovery {
				added = b.Spent.Sub(all)
			}
			in, all = in.Add(added), b.Spent
		}
	}
	if at != window {
		return dp.Cost{}, nil // it has not begun
	}
	return in, nil
}
