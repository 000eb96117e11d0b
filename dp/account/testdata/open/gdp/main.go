// Command gdp opens a session that is charged as GDP{Mu: 0.5}. It must not compile.
package main

import (
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/dp/account"
)

func main() {
	spending := account.NewSpending(account.ZCDPFilter(dp.One, dp.One/1000))
	if err := spending.Open(account.GDP{Mu: 0.5}); err != nil {
		panic(err)
	}
}
