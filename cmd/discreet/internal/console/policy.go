package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/ledger/anywhere"
	"github.com/discreet-dp/discreet/internal/policywords"
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
		if looksLikePolicy(f.File) {
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

// looksLikePolicy reports whether a file is there that is named as policies are, and is nothing that
// a ledger could be.
func looksLikePolicy(path string) bool {
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
	a := policywords.Column(of, c)
	return []string{of.Name, c.Name, a.Type, a.Bounds, a.Keys, a.Sum, a.Group}
}
