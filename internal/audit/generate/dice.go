package generate

import "github.com/discreet-dp/discreet/internal/detrand"

// Dice makes choices, the same for the same name and seed.
type Dice = detrand.Dice

// NewDice returns the dice of a name and a seed.
func NewDice(name string, seed uint64) Dice { return detrand.New(name, seed) }
