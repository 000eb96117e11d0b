package trinotables

import (
	"context"
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// Describe says, for the owner, what names the state of the tables, and when it is looked at. It
// reads no row, but for the version query, and refuses what no question would be asked with: a user
// that may do more than read, a table that is not there or is a view, and one of which nobody says
// whether it has changed.
func Describe(ctx context.Context, ds *policy.Dataset) (string, error) {
	d, err := Of(ds)
	if err != nil {
		return "", err
	}
	defer d.Close()
	s, err := d.Look(ctx)
	if err != nil {
		return "", Explained(err)
	}
	var parts []string
	if s.named != "" {
		parts = append(parts, fmt.Sprintf("%q, by the version query; analysts see it", s.named))
	}
	for _, m := range s.marks {
		switch {
		case m.pin != "":
			parts = append(parts, m.table+" as of one version, in which all of a question reads it")
		case m.fixed:
			parts = append(parts, m.table+", which never changes")
		case m.state != "":
			parts = append(parts, m.table+" by its files")
		case s.named == "":
			parts = append(parts, m.table+" by the time alone")
		}
	}
	text := strings.Join(parts, "; ")
	if ds.Refresh > 0 {
		return fmt.Sprintf("%s. It is looked for changes every %v, counted from midnight of 1970-01-01 in UTC", text, ds.Refresh), nil
	}
	return text + ". It is looked for changes before every question", nil
}
