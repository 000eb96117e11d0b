package curator_test

import (
	"testing"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/curator"
	"github.com/discreet-dp/discreet/internal/curator/pricing"
	"github.com/discreet-dp/discreet/internal/lab/hospital"
	"github.com/discreet-dp/discreet/internal/test/curatortest"
)

// TestEverySetIsPaidFor: of a statement that is several private queries none is free, and all of
// them together cost what was asked for, but for what is lost when it is divided.
func TestEverySetIsPaidFor(t *testing.T) {
	epsilon := dp.One / 10
	for _, budget := range []string{curatortest.Pure, curatortest.Concentrated} {
		c := curator.New(curatortest.Parsed(t, hospital.Dataset("hospital", "data", budget)), nil, nil, nil)
		for _, sql := range []string{
			curatortest.Rolled,
			"SELECT sex, smoker, SUM(age) FROM patients GROUP BY GROUPING SETS ((sex), (smoker), ())",
			"SELECT sex, MEDIAN(age) FROM patients GROUP BY ROLLUP (sex)",
			"SELECT COUNT(*) FROM patients UNION ALL SELECT SUM(age) FROM patients",
		} {
			p, err := curatortest.Price(c, api.Question{Analyst: "ana", SQL: sql, Epsilon: epsilon})
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			if len(p.Purchases) < 2 {
				t.Errorf("%s: it is %d purchase", sql, len(p.Purchases))
			}
			amount := func(c dp.Cost) dp.Amount {
				if p.Currency.Pure {
					return c.Epsilon
				}
				return c.Rho
			}
			parts := dp.Amount(0) // each loses less than a unit
			for i, b := range p.Purchases {
				if amount(b.Cost()) == 0 {
					t.Errorf("%s: part %d is free", sql, i)
				}
				parts += dp.Amount(1 + len(b.Noise))
			}
			asked := p.Currency.Amount(epsilon)
			if sum := amount(pricing.Cost(p.Purchases)); sum > asked || sum+parts < asked {
				t.Errorf("%s: %v was asked for, and %v is charged", sql, asked, sum)
			}
		}
	}
}
