package ownercmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/internal/source/policydraft"
	"github.com/discreet-dp/discreet/policy"
)

type InitCmd struct {
	Output          string   `help:"Write the draft to this file, not to standard output. An existing file is not overwritten." placeholder:"FILE" short:"o"`
	Dataset         string   `help:"The dataset's name." placeholder:"NAME"`
	Unit            string   `help:"Whom to protect: row, or table.column such as patients.pid." placeholder:"UNIT"`
	Person          []string `help:"The column that identifies the person in a table where it has another name: visits=patient_id, or items=order_id->orders.oid." placeholder:"TABLE=COLUMN"`
	Analyst         string   `help:"The name of the first analyst." placeholder:"NAME"`
	Epsilon         string   `help:"The budget's epsilon." placeholder:"EPSILON"`
	Delta           string   `help:"The budget's delta." placeholder:"DELTA"`
	TrustDataBounds bool     `help:"Fill in bounds from the smallest and largest values of the data, and mark them as such. They reveal the people at the extremes."`
	Schema          []string `help:"The schemas of a PostgreSQL database or a Trino catalog to draft; all readable ones unless given." placeholder:"NAME"`
	OMOP            bool     `help:"The PostgreSQL database has the OMOP common data model: person is the unit, and the vocabulary is public." name:"omop"`
	JSON            bool     `help:"Print JSON." name:"json"`
	Files           []string `arg:"" help:"CSV, Parquet or DuckDB files; or the address of a PostgreSQL database or of a Trino cluster."`
}

func (InitCmd) Help() string {
	return `Types and nullability come from the schema. For a CSV file they come from all of its values, as do the formats of
dates and numbers and the texts that stand for missing values. You fill in bounds and keys yourself, because a
bound that is read off the data reveals the person at the extreme. The size of the data is counted, rounded up,
and declared under 'sizes'. You can use the draft at once, for counting.

  discreet init patients.csv visits.csv --unit patients.pid -o hospital.yaml
  discreet init patients.csv labs.csv --unit patients.pid --person labs=patient_id -o hospital.yaml
  discreet init claims.parquet --trust-data-bounds > claims.yaml

In a PostgreSQL database it reads the catalogue, and no rows: foreign keys become paths, enumerations and CHECK
constraints become keys and bounds, comments are kept, and the draft ends with the GRANTs that the role needs.
Give the password as PostgreSQL does: PGPASSWORD, ~/.pgpass or ?passfile=PATH.

  discreet init 'postgres://discreet@db.example.org/hospital?sslmode=verify-full' --unit patients.pid -o hospital.yaml
  discreet init 'postgres://discreet@db.example.org/cdm?sslmode=verify-full' --omop --schema cdm -o cdm.yaml

In a Trino cluster it reads information_schema, and no rows: types, columns that are never NULL, and comments.
Trino has no foreign keys, so the column of the person is guessed from the names of columns, and marked with a
question mark. The draft ends with the rules for its user.

  discreet init 'trino://discreet@trino.example.org:8443/lake/clinic?passwordfile=/etc/discreet/trino' -o clinic.yaml`
}

func (c *InitCmd) Run(ctx context.Context, s console.Screen) error {
	people, err := c.personColumns()
	if err != nil {
		return console.Misuse(err)
	}
	options := policy.DraftOptions{
		Dataset: c.Dataset, Unit: c.Unit, Analyst: c.Analyst, Epsilon: c.Epsilon, Delta: c.Delta, TrustDataBounds: c.TrustDataBounds,
		People: people,
	}
	draft := c.fromFiles
	switch trino := slices.ContainsFunc(c.Files, policy.IsTrino); {
	case slices.ContainsFunc(c.Files, policy.IsPostgres) || trino && !c.OMOP:
		draft = c.fromAddress
	case trino:
		return console.Misuse(errors.New("--omop is for a PostgreSQL database; draft without it"))
	case c.OMOP || len(c.Schema) > 0:
		return console.Misuse(errors.New("--omop and --schema are for a PostgreSQL database or a Trino cluster; name its address"))
	}
	text, err := draft(ctx, s, options)
	if err != nil {
		return err
	}
	return c.writeDraft(s, text)
}

func (c *InitCmd) fromFiles(ctx context.Context, s console.Screen, options policy.DraftOptions) (string, error) {
	files, err := c.relativePaths()
	if err != nil {
		return "", err
	}
	var stage console.Stage
	done := console.WaitingFor(s.Err, stage.Or("reading"))
	schemas, err := duckdb.Schemas(ctx, c.Files, duckdb.DraftOptions{Bounds: c.TrustDataBounds, Unit: c.Unit, People: options.People,
		Tell: stage.Tell})
	done()
	if err != nil {
		return "", err
	}
	for i := range schemas {
		schemas[i].Source = files[schemas[i].Source]
	}
	text, err := policy.Draft(schemas, options)
	if err != nil {
		return "", console.Misuse(err)
	}
	printDraftWarnings(s, schemas, policy.LeftOut(schemas, options))
	for _, doubt := range policy.Doubts(schemas, options) {
		fmt.Fprintf(s.Err, "note: %s\n", doubt)
	}
	done = console.WaitingFor(s.Err, stage.Or("counting"))
	text, err = c.counted(ctx, text, schemas, options, stage.Tell)
	done()
	return text, err
}

// fromAddress drafts from the catalogue of a database or a cluster.
func (c *InitCmd) fromAddress(ctx context.Context, s console.Screen, options policy.DraftOptions) (string, error) {
	if len(c.Files) > 1 {
		return "", console.Misuse(errors.New("a dataset with a PostgreSQL database or a Trino cluster has no other source; draft " +
			"them one by one"))
	}
	draft, check := policydraft.DraftPostgres, policy.CheckPostgres
	if policy.IsTrino(c.Files[0]) {
		draft, check = policydraft.DraftTrino, policy.CheckTrino
	}
	if err := check(c.Files[0]); err != nil {
		return "", console.Misuse(err)
	}
	done := console.Waiting(s.Err, "reading the catalogue")
	d, err := draft(ctx, c.Files[0], policydraft.Options{DraftOptions: options, Schemas: c.Schema, OMOP: c.OMOP})
	done()
	var misused *policydraft.OptionError
	switch {
	case errors.As(err, &misused):
		return "", console.Misuse(err)
	case err != nil:
		return "", err
	}
	for _, note := range d.Notes {
		fmt.Fprintf(s.Err, "note: %s\n", note)
	}
	printDraftWarnings(s, nil, policy.LeftOut(d.Schemas, d.Options))
	return d.Text, nil
}

// writeDraft prints the draft, or writes it into its file.
func (c *InitCmd) writeDraft(s console.Screen, text string) error {
	if c.Output == "" {
		if c.JSON {
			return console.PrintJSON(s.Out, map[string]string{"policy": text})
		}
		_, err := fmt.Fprint(s.Out, text)
		return err
	}
	f, err := os.OpenFile(c.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return console.Misuse(fmt.Errorf("%s already exists; choose another name, or remove it first", c.Output))
	} else if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(c.Output))
	}
	if c.JSON {
		return console.PrintJSON(s.Out, map[string]string{"file": c.Output})
	}
	fmt.Fprintf(s.Out, "wrote %s; read it, fill in what it asks for, then run: discreet check %s\n", c.Output, console.ShellQuote(c.Output))
	return nil
}

// personColumns reads which column says whose a row is.
func (c *InitCmd) personColumns() (map[string]string, error) {
	out := map[string]string{}
	for _, text := range c.Person {
		table, column, ok := strings.Cut(text, "=")
		if !ok || table == "" || column == "" {
			return nil, fmt.Errorf("--person is %q; write TABLE=COLUMN, such as visits=patient_id", text)
		}
		if out[table] != "" {
			return nil, fmt.Errorf("--person names two columns of the table %s; name one", table)
		}
		out[table] = column
	}
	return out, nil
}

// printDraftWarnings says beside the draft what its comments say too: nobody should find out later.
func printDraftWarnings(s console.Screen, schemas []policy.Schema, leftOut []string) {
	for _, name := range leftOut {
		fmt.Fprintf(s.Err, "note: the table %s is left out of the draft: none of its columns identifies the person; name one with "+
			"--person %s=COLUMN\n", name, name)
	}
	for _, t := range schemas {
		for _, note := range t.Notes {
			fmt.Fprintf(s.Err, "note: %s: %s\n", t.Table, note)
		}
		for _, col := range t.Columns {
			if len(col.OtherFormats) > 0 {
				fmt.Fprintf(s.Err, "note: %s.%s: AMBIGUOUS: %v %s, or %s; see the draft\n", t.Table, col.Name, col.Type, col.Format,
					strings.Join(col.OtherFormats, ", or "))
			}
		}
	}
}

// relativePaths spells the files as the draft should: relative to where it will be.
func (c *InitCmd) relativePaths() (map[string]string, error) {
	dir, err := filepath.Abs(filepath.Dir(c.Output))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range c.Files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		if out[f], err = filepath.Rel(dir, abs); err != nil {
			out[f] = abs
		}
	}
	return out, nil
}
