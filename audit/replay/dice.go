package replay

import "github.com/discreet-dp/discreet/internal/chance"

// dice makes choices, the same for the same seed.
type dice = chance.Dice

func newDice(name string, seed uint64) dice { return chance.New(name, seed) }
