package survey

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/dp"
)

// Domains up to which an oracle is chosen.
const (
	unaryUpTo   = 128  // a report of olh is as long
	hashedUpTo  = 4096 // a million reports take olh's collector seconds
	priceOfRows = 1.5  // how much more variance hadamard may have, beyond that
)

// Choose returns the oracle of the smallest variance, where few hold a value, among
// those that are quick to collect, and says why. It depends on public numbers only.
//
// Direct encoding has the variance (E+k-2)/(E-1)^2, oue 4E/(E-1)^2, and olh nearly
// that; so direct is better where k < 3E + 2.
func Choose(size int, epsilon dp.Amount) (Oracle, string, error) {
	if _, err := cost(epsilon); err != nil {
		return nil, "", err
	}
	if err := checkDomain(size, mostValues); err != nil {
		return nil, "", err
	}
	name, why := "", ""
	border := 3*math.Exp(epsilon.Float()) + 2
	switch {
	case float64(size) < border:
		name, why = "direct",
			fmt.Sprintf("%d values are fewer than 3 exp(epsilon) + 2 = %.4g, so sending a value is more exact than sending a "+
				"bit for each", size, border)
	case size <= unaryUpTo:
		name, why = "oue",
			fmt.Sprintf("%d values are more than 3 exp(epsilon) + 2 = %.4g, and few enough to send a bit for each", size, border)
	case size <= hashedUpTo:
		name, why = "olh", fmt.Sprintf("%d values are too many to send a bit for each, and a hash is as exact", size)
	default:
		olh, rows := hashedRates(epsilon), hadamardRates(epsilon)
		ratio := rows.Variance(0, 1, Fixed) / olh.Variance(0, 1, Fixed)
		if ratio <= priceOfRows {
			name, why = "hadamard",
				fmt.Sprintf("%d values are counted by one fast transform, at %.3g times the variance of olh", size, ratio)
		} else {
			name, why = "olh",
				fmt.Sprintf("%d values are slow to count with olh, but hadamard would have %.3g times the variance", size, ratio)
		}
	}
	o, err := New(name, size, epsilon)
	return o, why, err
}
