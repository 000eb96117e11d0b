package generate

import (
	_ "embed"
	"strings"
)

//go:embed testdata/hostile.txt
var hostile string

// Attack is something that a hostile analyst asks. See testdata/hostile.txt for what verdicts there
// are.
type Attack struct {
	Family, Verdict, Text string
}

// Attacks returns what hostile analysts ask about the clinic among the [Worlds], family by family.
func Attacks() (all []Attack) {
	for _, family := range strings.Split(hostile, "\n== ")[1:] {
		name, rest, _ := strings.Cut(family, "\n")
		for block := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
			verdict, text, _ := strings.Cut(strings.TrimSpace(block), "\n")
			all = append(all, Attack{name, verdict, text})
		}
	}
	return all
}
