// Command approx opens a session that is charged as Approx{Epsilon: 0.5, Delta: 1e-6}.
// It must not compile.
package main

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

func main() {
	spending := account.NewSpending(account.ZCDPFilter(dp.One, dp.One/1000))
	if err := spending.Open(account.Approx{Epsilon: 0.5, Delta: 1e-6}); err != nil {
		panic(err)
	}
}
