package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ledger/sqlite"
	"github.com/discreet-dp/discreet/ledger"
	"github.com/discreet-dp/discreet/policy"
)

type ledgerCmd struct {
	Show   showCmd   `cmd:"" help:"Show the last records."`
	Verify verifyCmd `cmd:"" help:"Check the ledger from its first record to its last."`
	Export exportCmd `cmd:"" help:"Write one row a charge, as CSV or JSON Lines, for an auditor."`
	Replay replayCmd `cmd:"" help:"Decide every charge once more, by other code."`
	Anchor anchorCmd `cmd:"" help:"Compare the ledger with what is known of it elsewhere."`
	Key    keyCmd    `cmd:"" help:"Make the owner's key, and record whose signature counts."`
	Topup  topupCmd  `cmd:"" help:"Give a dataset, a group or an analyst more budget, signed by the owner."`
	Renew  renewCmd  `cmd:"" help:"Begin the next window of a dataset whose budget is renewed."`
}

func (ledgerCmd) Help() string {
	return `The ledger has every charge, in a chain of hashes. A server that runs has it: stop that first.

  discreet ledger show --policy hospital.yaml --last 20
  discreet ledger verify --policy hospital.yaml
  discreet ledger topup --help`
}

// ledgerFlags say which ledger.
type ledgerFlags struct {
	Policy string `help:"The policy file whose ledger to read." placeholder:"FILE" short:"p"`
	File   string `arg:"" optional:"" help:"The ledger file, where no policy is given."`
}

// read opens the ledger for reading. The policy is nil where only a file was named.
func (f ledgerFlags) read() (*sqlite.Reader, *policy.Policy, error) {
	if (f.File == "") == (f.Policy == "") {
		return nil, nil, &usageError{errors.New("name a ledger file, or a policy with --policy")}
	}
	if f.Policy == "" {
		if perhapsPolicy(f.File) {
			return nil, nil, &usageError{fmt.Errorf("%s is no ledger; did you mean --policy %s?", f.File, f.File)}
		}
		r, err := sqlite.Read(f.File)
		return r, nil, err
	}
	p, err := policy.Load(f.Policy)
	if err != nil {
		return nil, nil, err
	}
	r, err := sqlite.Read(p.Ledger)
	return r, p, err
}

// perhapsPolicy reports whether a file is there that is named as policies are, and is nothing that a ledger could be.
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

// allKinds are the kinds of records, in the order in which they are listed.
var allKinds = []ledger.Kind{
	ledger.KindLedger, ledger.KindCharge, ledger.KindAnswer, ledger.KindVersion, ledger.KindRenewal, ledger.KindOwner, ledger.KindTopUp, ledger.KindRecovery, ledger.KindNote, ledger.KindIncident, ledger.KindRelease,
}

// kinds lists how many records there are of each kind, but the first.
func kinds(n map[ledger.Kind]uint64) string {
	var out []string
	for _, k := range allKinds[1:] {
		if n[k] > 0 {
			out = append(out, fmt.Sprintf("%d %s", n[k], k))
		}
	}
	if len(out) == 0 {
		return "nothing yet"
	}
	return strings.Join(out, ", ")
}

// clock shows a time of a record.
func clock(t time.Time) string { return t.UTC().Format(time.DateTime) }

// fingerprint is what people compare instead of a key: the first half of the key's SHA-256, in hexadecimal.
func fingerprint(key string) string {
	raw, err := hex.DecodeString(key)
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}
