package ownercmd

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
	"github.com/discreet-dp/discreet/internal/ledger/openledger"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

type ledgerExportCmd struct {
	console.LedgerFlags
	Format string `help:"How to write: ${enum}." enum:"csv,jsonl" default:"csv"`
	Output string `help:"Write to this file, all or nothing; without it, to the screen." placeholder:"FILE" short:"o"`
	Force  bool   `help:"Replace the file if it exists."`
	All    bool   `help:"Also write the other records, each with its text, so that an auditor can recompute the chain of hashes."`
}

func (ledgerExportCmd) Help() string {
	return `Writes one row for each charge. Amounts are exact decimals; an empty cell (null in JSON) is a claim that is not
made, or not limited. Accounts are a JSON list with the amounts spent after the charge. In a CSV file a ' precedes
each cell that a spreadsheet would take for a formula. Answers are not exported, only their hashes.

  discreet ledger export --policy hospital.yaml --format csv --output charges.csv
  discreet ledger export hospital.ledger --format jsonl --all > ledger.jsonl`
}

// chargeColumns are the columns of a CSV file; those of otherColumns follow where all records are
// written.
var (
	chargeColumns = []string{"sequence", "time", "kind", "request", "analyst", "dataset", "data_version", "window", "query", "mechanisms",
		"epsilon", "rho", "delta", "accounts", "alerts", "answer", "answer_hash", "hash", "previous"}
	otherColumns = []string{"identity", "charge", "raised", "amount", "reason", "public_key", "signature", "anchor_sequence",
		"anchor_hash", "session", "record"}
)

func (c *ledgerExportCmd) Run(s console.Screen) error {
	r, p, err := c.Read()
	if err != nil {
		return err
	}
	defer r.Close()
	if c.Output == "" {
		rows, err := c.export(s, s.Out, r)
		if err == nil && console.IsTerminal(s.Err) {
			fmt.Fprintf(s.Err, "wrote %s\n", render.Count(int64(rows), "row"))
		}
		return err
	}
	own := []string{r.Path()}
	if p != nil {
		own = append(own, p.Path)
	}
	if err := c.refuseOverwriting(own); err != nil {
		return err
	}
	rows := 0
	err = writeWhole(c.Output, c.Force, func(w io.Writer) error {
		rows, err = c.export(s, w, r)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Out, "wrote %s to %s\n", render.Count(int64(rows), "row"), console.ShellQuote(c.Output))
	return nil
}

// ledgerFileSuffixes are how the names of a ledger's files go on.
var ledgerFileSuffixes = []string{"", "-journal", "-wal", "-shm", "-new", "-new-journal", ".lock", ".checkpoint0", ".checkpoint1"}

// refuseOverwriting refuses to write over something, and over the ledger or the policy at any rate.
func (c *ledgerExportCmd) refuseOverwriting(own []string) error {
	at, err := os.Lstat(c.Output)
	if err != nil {
		if dir, err := os.Stat(filepath.Dir(c.Output)); err != nil || !dir.IsDir() {
			return console.Misuse(fmt.Errorf("%s: this folder does not exist; create it or name another",
				console.ShellQuote(filepath.Dir(c.Output))))
		}
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(c.Output)); err == nil {
		if name, err := filepath.Abs(filepath.Join(dir, filepath.Base(c.Output))); err == nil && strings.HasPrefix(name, own[0]) &&
			slices.Contains(ledgerFileSuffixes, name[len(own[0]):]) {
			return console.Misuse(fmt.Errorf("%s belongs to the ledger: write to another file", console.ShellQuote(c.Output)))
		}
	}
	if err != nil {
		return nil
	}
	if at, err := os.Stat(c.Output); err == nil {
		for _, name := range own {
			if other, err := os.Stat(name); err == nil && os.SameFile(at, other) {
				return console.Misuse(fmt.Errorf("%s is the ledger to export, or its policy: write to another file",
					console.ShellQuote(c.Output)))
			}
		}
	}
	switch {
	case at.IsDir():
		return console.Misuse(fmt.Errorf("%s is a folder: write to a file", console.ShellQuote(c.Output)))
	case !c.Force:
		return console.Misuse(fmt.Errorf("%s already exists: write to another file, or add --force to replace it",
			console.ShellQuote(c.Output)))
	}
	return nil
}

// writeWhole writes a file that only its owner can read, as a whole or not at all.
func writeWhole(name string, replace bool, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".discreet-export-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", console.ShellQuote(name), err)
	}
	defer os.Remove(f.Name()) // what was renamed is not there any more
	out := bufio.NewWriterSize(f, 1<<16)
	if err := write(out); err != nil {
		f.Close()
		return err
	}
	if err := errors.Join(out.Flush(), f.Chmod(0o600), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("%s cannot be written: %w", console.ShellQuote(name), err)
	}
	if !replace {
		// A link is refused where somebody made the file meanwhile. Some file systems have none.
		switch err := os.Link(f.Name(), name); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return console.Misuse(fmt.Errorf("%s already exists: write to another file, or add --force to replace it",
				console.ShellQuote(name)))
		}
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return fmt.Errorf("%s cannot be written: %w", console.ShellQuote(name), err)
	}
	return nil
}

// export writes the rows. The first pass finds the answers, which come after their charges, and
// damage, before anything is written.
func (c *ledgerExportCmd) export(s console.Screen, w io.Writer, r openledger.Reader) (rows int, err error) {
	last, _ := r.Head()
	tell, done := console.Progress(s.Err, "reading")
	defer done()
	answers := map[uint64]keptAnswer{}
	for line, err := range r.Records() {
		if err != nil {
			return 0, err
		}
		if k := line.Record; k.Kind == ledger.KindAnswer {
			answers[k.Charge] = keptAnswer{k.Sequence, strings.Clone(k.AnswerHash)}
		}
		if line.Record.Sequence%4096 == 0 {
			tell(int(line.Record.Sequence), int(2*last))
		}
	}
	write, flush, err := c.writer(w)
	if err != nil {
		return 0, err
	}
	for line, err := range r.Records() {
		if err != nil {
			return rows, err
		}
		if line.Record.Sequence%4096 == 0 {
			tell(int(last+line.Record.Sequence), int(2*last))
		}
		if line.Record.Kind != ledger.KindCharge && !c.All {
			continue
		}
		row := newLedgerRow(line, answers)
		if c.All {
			row.Record = line.Body
		}
		if err := write(row); err != nil {
			return rows, err
		}
		rows++
	}
	return rows, flush()
}

// writer returns what writes a row, and what ends the writing.
func (c *ledgerExportCmd) writer(w io.Writer) (write func(ledgerRow) error, flush func() error, err error) {
	if c.Format == "jsonl" {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return func(row ledgerRow) error { return e.Encode(row.flat()) }, func() error { return nil }, nil
	}
	columns := chargeColumns
	if c.All {
		columns = append(append([]string{}, chargeColumns...), otherColumns...)
	}
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return nil, nil, err
	}
	cells := make([]string, 0, len(columns))
	write = func(row ledgerRow) error {
		var err error
		if cells, err = csvCells(cells[:0], &row, columns); err != nil {
			return err
		}
		return out.Write(cells)
	}
	return write, func() error { out.Flush(); return out.Error() }, nil
}

// csvCells returns the cells of a row: texts as they are, lists as JSON, what a record has not
// as nothing. A cell says what the field of the same name in JSON says.
func csvCells(cells []string, row *ledgerRow, columns []string) ([]string, error) {
	for _, name := range columns {
		text, err := csvCell(row, name)
		if err != nil {
			return nil, err
		}
		cells = append(cells, escapeFormula(text))
	}
	return cells, nil
}

func csvCell(row *ledgerRow, name string) (string, error) {
	switch name {
	case "sequence":
		return strconv.FormatUint(row.Sequence, 10), nil
	case "time":
		return row.Time, nil
	case "kind":
		return string(row.Kind), nil
	case "hash":
		return row.Hash, nil
	case "previous":
		return row.Previous, nil
	case "record":
		return row.Record, nil
	}
	if row.charge != nil {
		return row.charge.csvCell(name)
	}
	return row.entry.csvCell(name)
}

func (c *chargeRow) csvCell(name string) (string, error) {
	switch name {
	case "request":
		return c.Request, nil
	case "analyst":
		return c.Analyst, nil
	case "dataset":
		return c.Dataset, nil
	case "data_version":
		return c.DataVersion, nil
	case "window":
		return strconv.FormatUint(c.Window, 10), nil
	case "query":
		return c.Query, nil
	case "mechanisms":
		return c.Mechanisms, nil
	case "epsilon":
		return orNothing(c.Epsilon), nil
	case "rho":
		return orNothing(c.Rho), nil
	case "delta":
		return orNothing(c.Delta), nil
	case "accounts":
		return listCell(c.Accounts, true)
	case "alerts":
		return listCell(c.Alerts, len(c.Alerts) > 0)
	case "answer":
		return numberOrNothing(c.Answer), nil
	case "answer_hash":
		return orNothing(c.AnswerHash), nil
	}
	return "", nil
}

func (e *entryRow) csvCell(name string) (string, error) {
	switch name {
	case "identity":
		return e.Identity, nil
	case "charge":
		return numberOrNothing(e.Charge), nil
	case "answer_hash":
		return e.AnswerHash, nil
	case "analyst":
		return e.Analyst, nil
	case "dataset":
		return e.Dataset, nil
	case "data_version":
		return orNothing(e.DataVersion), nil
	case "window":
		if e.Window > 0 {
			return strconv.FormatUint(e.Window, 10), nil
		}
	case "raised":
		return listCell(e.Raised, len(e.Raised) > 0)
	case "amount":
		return listCell(e.Amount, e.Amount != nil)
	case "accounts":
		return listCell(e.Accounts, len(e.Accounts) > 0)
	case "reason":
		return e.Reason, nil
	case "public_key":
		return e.PublicKey, nil
	case "signature":
		return e.Signature, nil
	case "anchor_sequence":
		return numberOrNothing(e.AnchorSequence), nil
	case "anchor_hash":
		return e.AnchorHash, nil
	case "session":
		return e.Session, nil
	}
	return "", nil
}

func orNothing(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func numberOrNothing(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n, 10)
}

// listCell returns a list as JSON, or nothing where there is none.
func listCell[T []accountRow | []ledger.Alert | []string | *exactCost](list T, there bool) (string, error) {
	if !there {
		return "", nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(list)
	return string(bytes.TrimSuffix(text.Bytes(), []byte("\n"))), err
}
