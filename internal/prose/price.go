package prose

import (
	"fmt"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/dp"
)

// Price says what the answer cost and what is left.
func Price(a *discreet.Answer) string {
	price := "free, already paid for"
	if !a.Receipt.Free {
		price = priceTag(a.Cost, a.Remaining)
	}
	return "price: " + price + "; left: " + Left(a.Remaining)
}

// priceTag shows a price; rho too, where that is what is counted.
func priceTag(cost dp.Cost, r discreet.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + cost.Epsilon.String()
	}
	if cost.Delta > 0 {
		return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ", delta " + cost.Delta.String() + ")"
	}
	return "epsilon " + cost.Epsilon.String() + " (rho " + cost.Rho.Short() + ")"
}

// Left shows what is left.
func Left(r discreet.Remaining) string {
	if r.Rho == dp.Unbounded {
		return "epsilon " + r.Epsilon.Short()
	}
	text := fmt.Sprintf("epsilon %s at delta %v (rho %s)", r.Epsilon.Short(), r.Delta, r.Rho.Short())
	if r.KeysDelta > 0 && r.KeysDelta != dp.Unbounded {
		text += fmt.Sprintf(", and delta %v for private keys", r.KeysDelta)
	}
	return text
}
