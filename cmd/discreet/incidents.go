package main

type incidentsCmd struct {
	List    incidentsListCmd    `cmd:"" default:"withargs" help:"List questions that failed after their charge."`
	Release incidentsReleaseCmd `cmd:"" help:"Let an analyst, or everybody, get new answers again."`
}

func (incidentsCmd) Help() string {
	return `Without a command it lists them.

  discreet incidents --policy hospital.yaml`
}
