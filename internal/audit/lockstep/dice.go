package lockstep

import "github.com/discreet-dp/discreet/internal/detrand"

// dice makes choices, the same for the same seed.
type dice = detrand.Dice

func newDice(name string, seed uint64) dice { return detrand.New(name, seed) }
