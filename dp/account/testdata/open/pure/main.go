// Command pure opens a session that is charged as Pure{Epsilon: 0.5}.
// It compiles: the test needs to know that others do not for the right reason.
package main

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

func main() {
	spending := account.NewSpending(account.ZCDPFilter(dp.One, dp.One/1000))
	if err := spending.Open(account.Pure{Epsilon: 0.5}); err != nil {
		panic(err)
	}
}
