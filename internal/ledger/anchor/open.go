package anchor

import (
	"cmp"
	"path/filepath"

	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

// Open returns the place that a policy names for the anchor of its ledger, or nil where it names
// none. The function lets go of that place.
func Open(p *policy.Policy) (place ledger.Anchorage, release func() error, err error) {
	release = func() error { return nil }
	switch a := p.Anchor; {
	case a.File != "":
		return File(a.File), release, nil
	case a.Postgres != "":
		row, err := Postgres(a.Postgres, cmp.Or(a.Name, filepath.Base(p.Beside())))
		if err != nil {
			return nil, release, err
		}
		return row, row.Close, nil
	}
	return nil, release, nil
}
