package lockstep

import (
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/audit/finding"
)

// Print writes a line for each finding, those that do not stand first, and a
// summary.
func Print(w io.Writer, findings []finding.Finding) error {
	broken, worst := 0, 0.0
	for _, f := range findings {
		if !f.Stands {
			broken++
			if _, err := fmt.Fprintf(w, "BROKEN  %s\n        %s\n", f.Subject, f.Detail); err != nil {
				return err
			}
		}
	}
	for _, f := range findings {
		if !f.Stands {
			continue
		}
		worst = max(worst, f.Lower)
		if _, err := fmt.Fprintf(w, "stands  %.3f  %s (%s)\n", f.Lower, f.Subject, f.Detail); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%d questions, %d broken; among the others one person moves the exact values at most %.3f of what the "+
		"noise covers\n", len(findings), broken, worst)
	return err
}
