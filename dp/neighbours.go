package dp

import "fmt"

// Neighbours says which databases must be indistinguishable.
type Neighbours int

const (
	// AddRemove: all rows of one unit are added or removed. The default.
	AddRemove Neighbours = iota
	// Substitute: all rows of one unit are replaced by others; the number of
	// units is public. Sensitivities are up to twice those of AddRemove.
	Substitute
)

func (n Neighbours) String() string {
	if n == Substitute {
		return "substitute"
	}
	return "add-remove"
}

// ParseNeighbours reads the spelling of the policy file.
func ParseNeighbours(s string) (Neighbours, error) {
	switch s {
	case "add-remove", "":
		return AddRemove, nil
	case "substitute":
		return Substitute, nil
	}
	return 0, fmt.Errorf("%q is not a neighbouring relation: write add-remove or substitute", s)
}
