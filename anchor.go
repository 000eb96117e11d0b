package discreet

import (
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/ledger/anchor"
	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/policy"
)

// LedgerOptions returns with what a policy's ledger is to be opened: where its anchor is kept, if anywhere. The function lets go of that place.
func LedgerOptions(p *policy.Policy) (o sqlite.Options, release func() error, err error) {
	release = func() error { return nil }
	o.Every = uint64(p.Anchor.Every)
	switch a := p.Anchor; {
	case a.File != "":
		o.Anchorage = anchor.File(a.File)
	case a.Postgres != "":
		name := a.Name
		if name == "" {
			name = filepath.Base(p.Ledger)
		}
		row, err := anchor.Postgres(a.Postgres, name)
		if err != nil {
			return o, release, err
		}
		o.Anchorage, release = row, row.Close
	}
	return o, release, nil
}
