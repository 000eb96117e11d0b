package sqlite

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/test/daily"
	"github.com/discreet-dp/discreet/internal/test/ledgertest"
)

// The promises that need nothing but a ledger are tested alike wherever it is.

func TestPromise2NeverOverBudgetAllOrNothing(t *testing.T) {
	ledgertest.Promise2NeverOverBudget(t, world(t))
}
func TestPromise5RealTimeOrder(t *testing.T) {
	for range daily.Rounds(8, 30) {
		ledgertest.Promise5RealTimeOrder(t, world(t))
	}
}

func TestPromise2ThousandClients(t *testing.T) {
	ledgertest.Promise2ThousandClients(t, func() ledgertest.World { return world(t) })
}

func TestPromise2ManyAtOnce(t *testing.T) { ledgertest.Promise2ManyAtOnce(t, world(t)) }
func TestPromise2TestSeesCheckThenAct(t *testing.T) {
	ledgertest.Promise2TestSeesCheckThenAct(t, world(t))
}
func TestPromise3OncePerRequest(t *testing.T) { ledgertest.Promise3OncePerRequest(t, world(t)) }
func TestPromise3ManyAtOnce(t *testing.T)     { ledgertest.Promise3ManyAtOnce(t, world(t)) }
func TestPromise4SpentNeverDecreases(t *testing.T) {
	ledgertest.Promise4SpentNeverDecreases(t, world(t))
}
func TestPromise10IndependentOfTheClock(t *testing.T) {
	ledgertest.Promise10IndependentOfTheClock(t, world(t))
}
func TestPromise14NotesInOrder(t *testing.T) { ledgertest.Promise14NotesInOrder(t, world(t)) }
func TestPromise14Limits(t *testing.T)       { ledgertest.Promise14Limits(t, world(t)) }
func TestPromise15AChargePaysInItsWindow(t *testing.T) {
	ledgertest.Promise15AChargePaysInItsWindow(t, world(t))
}
func TestPromise16Lockouts(t *testing.T)        { ledgertest.Promise16Lockouts(t, world(t)) }
func TestPromise16AtOnce(t *testing.T)          { ledgertest.Promise16AtOnce(t, world(t)) }
func TestPromise16Notes(t *testing.T)           { ledgertest.Promise16Notes(t, world(t)) }
func TestPromise16KeptFailure(t *testing.T)     { ledgertest.Promise16KeptFailure(t, world(t)) }
func TestPromise14OnCondition(t *testing.T)     { ledgertest.Promise14OnCondition(t, world(t)) }
func TestPromise14WithACharge(t *testing.T)     { ledgertest.Promise14WithACharge(t, world(t)) }
func TestPromise12SignedElsewhere(t *testing.T) { ledgertest.Promise12SignedElsewhere(t, world(t)) }
func TestPromise12BesideAnalysts(t *testing.T) {
	ledgertest.Promise12BesideAnalysts(t, world(t), world(t))
}
