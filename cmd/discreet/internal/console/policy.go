package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/anywhere"
	"github.com/discreet-dp/discreet/policy"
)

// LedgerFlags say which ledger.
type LedgerFlags struct {
	Policy string `help:"The policy file whose ledger to read." placeholder:"FILE" short:"p"`
	File   string `arg:"" optional:"" help:"The ledger file, or its address postgres://..., where no policy is given."`
}

// Read opens the ledger for reading. The policy is nil where only a file was named.
func (f LedgerFlags) Read() (anywhere.Reader, *policy.Policy, error) {
	if (f.File == "") == (f.Policy == "") {
		return nil, nil, Misuse(errors.New("name a ledger file, or a policy with --policy, and not both"))
	}
	if f.Policy == "" {
		if perhapsPolicy(f.File) {
			return nil, nil, Misuse(fmt.Errorf("%s is no ledger; did you mean --policy %s?", f.File, f.File))
		}
		r, err := anywhere.Read(f.File)
		return r, nil, err
	}
	p, err := policy.Load(f.Policy)
	if err != nil {
		return nil, nil, err
	}
	r, err := anywhere.Read(p.Ledger)
	return r, p, err
}

// perhapsPolicy reports whether a file is there that is named as policies are, and is nothing that
// a ledger could be.
func perhapsPolicy(path string) bool {
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	_, err = io.ReadFull(f, start)
	return err == nil && string(start) != magic
}

// DescribeColumn says what can be asked of a column, as the cells of a row.
func DescribeColumn(of *policy.Table, c *policy.Column) []string {
	bounds, sum := "-", "no"
	if c.Bounds != nil {
		bounds = c.Show(c.Bounds.LoSteps) + " .. " + c.Show(c.Bounds.HiSteps)
		if c.Type != policy.Date && c.Type != policy.Timestamp {
			sum = "yes"
		}
		if c.BoundsFromData {
			bounds += " (read off the data)"
		}
	} else if c.Type == policy.Integer || c.Type == policy.Decimal {
		sum = "needs bounds"
	}
	keys, group := "-", "no"
	switch n := len(c.PublicValues()); {
	case n > 0:
		keys, group = fmt.Sprintf("%d public", n), "yes"
	case c.Keys == policy.PrivateKeys:
		keys, group = "private", "yes"
	case of.Public:
		keys, group = "public data", "yes"
	}
	return []string{of.Name, c.Name, c.Type.String(), bounds, keys, sum, group}
}

// DescribeRelease says when answers leave a server, and who says so.
func DescribeRelease(r policy.Release, tick time.Duration) string {
	switch {
	case tick == 0:
		return "answers leave at once, so how long they take can be read off a clock; 'release: tick' in the policy hides most of it"
	case r.Chosen():
		return fmt.Sprintf("answers leave every %v, chosen by the size of the data; 'release' in the policy sets it", tick)
	}
	return fmt.Sprintf("answers leave every %v", tick)
}
