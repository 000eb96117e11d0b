package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
)

// Price says what the answer cost and what is left.
func Price(a *api.Answer) string {
	return "price: " + Paid(a) + "; left: " + Left(a.Remaining) + answersLeftWords(a.More, " more")
}

// Paid says what the answer cost.
func Paid(a *api.Answer) string {
	price := "free, already paid for"
	switch {
	case !a.Receipt.Free:
		price = priceTag(a.Cost, a.Remaining)
	case throughStreams(a):
		price = "free, through " + streamNames(a)
	case a.Receipt.Hash == "":
		price = "free"
	}
	return price
}

// ToPay says what is still to be paid for a question.
func ToPay(e *api.Explanation) string {
	switch {
	case e.Known:
		return "free, already paid for"
	case e.Closed:
		return "closed"
	case !e.Affordable:
		return priceTag(e.Pay, e.Remaining) + ", too much"
	}
	return priceTag(e.Pay, e.Remaining)
}

// answersLeftWords says about how many answers at a price are left.
func answersLeftWords(n *int64, word string) string {
	switch {
	case n == nil:
		return ""
	case *n == 0:
		return ", not enough for another at this price"
	}
	return fmt.Sprintf(", about %d%s at this price", *n, word)
}

// AtDefault says about how many questions at a price are left.
func AtDefault(r api.Remaining, epsilon dp.Amount) string {
	n, ok := r.Questions(epsilon)
	if !ok {
		return ""
	}
	return fmt.Sprintf(", about %d questions at the default price, epsilon %v", n, epsilon)
}

// throughStreams reports whether an answer owes it to a stream that it was free.
func throughStreams(a *api.Answer) bool {
	for _, u := range a.Through {
		if u.Free > 0 {
			return true
		}
	}
	return false
}

func streamNames(a *api.Answer) string {
	var names []string
	for _, u := range a.Through {
		if name := "the stream " + u.Stream; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " and ")
}

// priceTag shows a price; rho too, where that is what is counted.
func priceTag(cost dp.Cost, r api.Remaining) string {
	if r.Rho == dp.Unbounded || r.ByEpsilon() && cost.Delta == 0 {
		return "epsilon " + cost.Epsilon.String()
	}
	if cost.Delta > 0 {
		return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ", delta " + cost.Delta.String() + ")"
	}
	return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ")"
}

// Left shows what is left.
func Left(r api.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + r.Epsilon.Short()
	}
	text := fmt.Sprintf("epsilon %s at delta %v (rho %s)", r.Epsilon.Short(), r.Delta, r.Rho.Short())
	if r.ByEpsilon() {
		text = fmt.Sprintf("epsilon %s at delta %v", r.Epsilon.Short(), r.Delta)
	}
	if r.KeysDelta > 0 && r.KeysDelta != dp.Unbounded {
		text += fmt.Sprintf(", and delta %v for private keys", r.KeysDelta)
	}
	return text
}
