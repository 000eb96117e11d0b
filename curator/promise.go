package curator

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/dp"
)

// Promise says in sentences, for the owner, what the budget promises to every person in the data, with what top-ups added. All
// numbers are rounded to the side that promises less.
func (c *Curator) Promise(ctx context.Context) ([]string, error) {
	window, err := c.ledger.Window(ctx, c.dataset.Name)
	if err != nil {
		return nil, err
	}
	all, err := c.readAll(ctx, c.of(window))
	if err != nil {
		return nil, err
	}
	const whatever = "whatever analysts ask and whoever colludes, what they see changes the odds of any guess about one person by "
	b := c.dataset.Budget
	if !b.Renews() {
		g := c.worst(all[0])
		return []string{"For good: " + whatever + g.words() + ".", g.coin()}, nil
	}
	total, one := c.worst(all[0]), c.worst(all[1])
	return []string{
		fmt.Sprintf("Within this window (a %s, number %d of %d): ", b.Renewal.Every, window, b.Renewal.Windows) + whatever + one.words() + ".",
		one.coin(),
		fmt.Sprintf("Over all %d windows together: by %s.", b.Renewal.Windows, total.words()),
		total.coin(),
	}, nil
}

// worst is what an account can come to. That is its promise, and more where an owner has lowered the limit below what was spent.
func (c *Curator) worst(a Account) Guarantee {
	g := Guarantee{max(a.Total.Epsilon, a.Guarantee.Epsilon), a.Total.Delta}
	if !c.dataset.Budget.Pure() {
		g.Delta = max(g.Delta, c.dataset.Budget.RhoDelta().Add(a.Spent.Delta))
	}
	return g
}

// words says a guarantee.
func (g Guarantee) words() string {
	if g.Epsilon == dp.Unbounded || g.Delta >= dp.One {
		return "no factor that can be stated, because what was spent before the policy was changed has none"
	}
	text := fmt.Sprintf("at most a factor %s (epsilon %s)", factor(g.Epsilon), upTo(g.Epsilon, 4))
	if g.Delta > 0 {
		text += fmt.Sprintf(", except with probability 1 in %s (delta %s)", oneIn(g.Delta), upTo(g.Delta, 4))
	}
	return text
}

// coin says what a guarantee does to somebody who knew nothing.
func (g Guarantee) coin() string {
	f := math.Exp(min(g.Epsilon.Float(), 700))
	percent := math.Ceil(100 * f / (1 + f) * (1 + 1e-12))
	so := "So"
	if g.Delta > 0 {
		so = "So, but for that exception,"
	}
	return fmt.Sprintf("%s whoever took a coin's chance, 50 %%, that something is true of a person takes it for at most %.0f %% likely afterwards.", so, min(percent, 100))
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

// thousands writes a number with commas.
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
