package anchor

import "slices"

// nothing stands for the sum where there is no anchor.
const nothing = "nothing"

// memory is what may be stored in a place as far as we know, by hash: what was loaded or stored
// last, and what was tried since, whose fate is not known. It is empty before the first look.
type memory []string

func (m memory) allows(sum string) bool { return slices.Contains(m, sum) }
func (m *memory) tried(sum string)      { *m = append(*m, sum) }
func (m *memory) set(sum string)        { *m = append((*m)[:0], sum) }
