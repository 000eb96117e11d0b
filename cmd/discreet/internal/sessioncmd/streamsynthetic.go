package sessioncmd

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/render"
)

type streamSyntheticCmd struct {
	streamFlags
	As     string `help:"The analyst who asks, by the name in the policy." required:"" placeholder:"ANALYST"`
	Output string `help:"Write to a file, .csv or .parquet, instead of printing CSV." placeholder:"FILE" short:"o"`
}

func (streamSyntheticCmd) Help() string {
	return `Writes how many people a stream predicts for each combination of values: whole counts, without the combinations that
have none. It is made only from released answers, so it is free, and anybody who may have the answers may have it.
Counts for questions that were asked are about as exact as their answers. It knows nothing about anything that nobody
asked.

  discreet stream synthetic --policy clinic.yaml --as ana > people.csv
  discreet stream synthetic --policy clinic.yaml --as ana -o people.parquet`
}

func (c *streamSyntheticCmd) Run(ctx context.Context, s console.Screen) error {
	if c.Output != "" {
		if _, err := chooseTableWriter(c.Output); err != nil {
			return err
		}
		if err := console.CanWrite(c.Output); err != nil {
			return err
		}
	}
	db, info, err := c.openOne(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	done := console.Waiting(s.Err, "adding up")
	t, err := db.Synthetic(ctx, info.Dataset, info.Name, c.As)
	done()
	if err != nil {
		return err
	}
	if c.Output != "" {
		if err := saveTable(ctx, c.Output, t); err != nil {
			return err
		}
	}
	facts := syntheticJSON{t.Dataset, t.Stream, t.Columns, len(t.Rows), t.Total, nil, c.Output}
	switch {
	case c.JSON && c.Output == "":
		facts.Rows = [][]any{}
		for _, r := range t.Rows {
			row := make([]any, 0, len(r.Values)+1)
			for _, v := range r.Values {
				row = append(row, v)
			}
			facts.Rows = append(facts.Rows, append(row, r.Count))
		}
		facts.Columns = append(append([]string{}, t.Columns...), render.CountColumn(t))
		return console.PrintJSON(s.Out, facts)
	case c.JSON:
		return console.PrintJSON(s.Out, facts)
	case c.Output == "":
		return render.SyntheticCSV(s.Out, t, false, keepText)
	}
	fmt.Fprintf(s.Out, "wrote %s: %d combinations, %d people in all\n", console.ShellQuote(c.Output), len(t.Rows), t.Total)
	return nil
}

type syntheticJSON struct {
	Dataset      string   `json:"dataset"`
	Stream       string   `json:"stream"`
	Columns      []string `json:"columns"`
	Combinations int      `json:"combinations"`
	Total        int64    `json:"total"`
	Rows         [][]any  `json:"rows,omitempty"`
	File         string   `json:"file,omitempty"`
}

func keepText(text string) string { return text }

func chooseTableWriter(file string) (func(context.Context, string, *api.SyntheticTable) error, error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".csv":
		return writeCSV, nil
	case ".parquet":
		return writeParquet, nil
	}
	return nil, console.Misuse(fmt.Errorf("%s: write to a file that ends in .csv or .parquet", console.ShellQuote(file)))
}

// saveTable makes the file whole or not at all.
func saveTable(ctx context.Context, file string, t *api.SyntheticTable) (err error) {
	write, err := chooseTableWriter(file)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), ".discreet-synthetic-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", console.ShellQuote(file), err)
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "table")
	if err := write(ctx, made, t); err != nil {
		return fmt.Errorf("%s cannot be written: %w", console.ShellQuote(file), err)
	}
	if err := os.Rename(made, file); err != nil {
		return fmt.Errorf("%s cannot be written: %w", console.ShellQuote(file), err)
	}
	return nil
}

func writeCSV(_ context.Context, file string, t *api.SyntheticTable) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(render.SyntheticCSV(io.Writer(f), t, false, keepText), f.Close())
}

// writeParquet lets a DuckDB write that holds nothing but this table.
func writeParquet(ctx context.Context, file string, t *api.SyntheticTable) (err error) {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close(), connector.Close()) }()
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	var columns []string
	for _, name := range t.Columns {
		columns = append(columns, quoteSQLName(name)+" VARCHAR")
	}
	columns = append(columns, quoteSQLName(render.CountColumn(t))+" BIGINT")
	if _, err := conn.ExecContext(ctx, "CREATE TABLE people ("+strings.Join(columns, ", ")+")"); err != nil {
		return err
	}
	err = conn.Raw(func(raw any) error {
		a, err := duckdb.NewAppenderFromConn(raw.(driver.Conn), "", "people")
		if err != nil {
			return err
		}
		for _, r := range t.Rows {
			row := make([]driver.Value, 0, len(r.Values)+1)
			for _, v := range r.Values {
				row = append(row, v)
			}
			if err := a.AppendRow(append(row, r.Count)...); err != nil {
				return errors.Join(err, a.Close())
			}
		}
		return a.Close()
	})
	if err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "COPY people TO '"+strings.ReplaceAll(file, "'", "''")+"' (FORMAT parquet)")
	return err
}

func quoteSQLName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
