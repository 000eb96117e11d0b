package pricing

import (
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// Whatever the ratio of l1 to what one number moves by, Laplace noise spends its share.
func TestLaplaceSpendsItsRho(t *testing.T) {
	for c := int64(1); c <= 1000; c++ {
		for _, rho := range []dp.Amount{dp.One / 100_000, dp.One / 10, 3 * dp.One} {
			for _, each := range []int64{1 + c%5} {
				n, err := laplaceFor(dp.NewL1Each(big.NewInt(c*each), big.NewInt(each)), rho)
				if err != nil {
					t.Fatal(c, rho, err)
				}
				if spent := n.Cost().Rho; spent > rho || spent.Float() < 0.99*rho.Float() {
					t.Fatalf("%d numbers by %d: rho %v of %v is spent", c, each, spent, rho)
				}
			}
		}
	}
}
