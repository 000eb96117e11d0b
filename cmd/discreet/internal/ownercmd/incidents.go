package ownercmd

// IncidentsCmd is discreet incidents.
type IncidentsCmd struct {
	List    incidentsListCmd    `cmd:"" default:"withargs" help:"List questions that failed after their charge."`
	Release incidentsReleaseCmd `cmd:"" help:"Let an analyst, or everybody, get new answers again."`
}

func (IncidentsCmd) Help() string {
	return `Without a command it lists them, with the flags of 'discreet incidents list --help'. A server that runs has the ledger: stop it
first, or look at its log, /metrics or /v1/ledger.

  discreet incidents --policy hospital.yaml
  discreet incidents release --policy hospital.yaml --analyst ana --reason 'the disk was full'`
}
