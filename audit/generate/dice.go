package generate

import "github.com/discreet-dp/discreet/internal/chance"

// Dice makes choices, the same for the same name and seed.
type Dice = chance.Dice

// NewDice returns the dice of a name and a seed.
func NewDice(name string, seed uint64) Dice { return chance.New(name, seed) }
