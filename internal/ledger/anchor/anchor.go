package anchor

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/version"
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

// Format is the version of the layout of a document: the one that is read and written here. A field
// more in an anchor is another format, because what is not known is not read.
const Format = 1

const formatName = "discreet-anchor-"

// document is an anchor with its own hash.
type document struct {
	Format string          `json:"format"`
	Anchor json.RawMessage `json:"anchor"`
	SHA256 string          `json:"sha256"` // of the bytes of the anchor
}

func encode(a ledger.Anchor) ([]byte, error) {
	anchor, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(document{formatName + strconv.Itoa(Format), anchor, ledger.Hash(anchor)})
	return append(text, '\n'), err
}

func decode(text []byte) (ledger.Anchor, error) {
	if err := checkFormat(text); err != nil {
		return ledger.Anchor{}, err
	}
	var d document
	if err := decodeStrictly(text, &d); err != nil {
		return ledger.Anchor{}, errors.New("it is cut off or not an anchor")
	}
	if ledger.Hash([]byte(d.Anchor)) != d.SHA256 {
		return ledger.Anchor{}, errors.New("it was changed: it does not match its hash")
	}
	var a ledger.Anchor
	if err := decodeStrictly(d.Anchor, &a); err != nil {
		return ledger.Anchor{}, errors.New("its anchor cannot be read")
	}
	if a.Identity == "" || len(a.Hash) != 64 {
		return ledger.Anchor{}, errors.New("its anchor is not complete")
	}
	return a, nil
}

// newerError says that a newer version wrote the anchor.
type newerError struct{ has, by string }

func (e *newerError) Error() string { return "it has the format " + version.Clean(e.has) }

// checkFormat looks at nothing but the format. What a newer version wrote may have other fields,
// and names that version.
func checkFormat(text []byte) error {
	var head struct{ Format, Version string }
	if err := json.Unmarshal(text, &head); err != nil {
		return errors.New("it is cut off or not an anchor")
	}
	number, ok := strings.CutPrefix(head.Format, formatName)
	switch n, err := strconv.Atoi(number); {
	case !ok || err != nil || n < Format:
		return errors.New("it is not an anchor")
	case n > Format:
		return &newerError{number, head.Version}
	}
	return nil
}

// decodeStrictly decodes one JSON value that has nothing unknown in it or after it.
func decodeStrictly(text []byte, to any) error {
	if !json.Valid(text) { // a Decoder would not look at what follows
		return errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// DamagedError is returned when there is something where the anchor should be that does not check.
type DamagedError struct {
	Place string
	Err   error
}

func (e *DamagedError) Error() string {
	if newer, ok := e.Err.(*newerError); ok {
		return version.Newer("the anchor in "+e.Place, newer.has, strconv.Itoa(Format), newer.by)
	}
	return fmt.Sprintf("the anchor in %s is damaged: %v. Restore it from a backup that is as new as the ledger. If that is lost, "+
		"compare the ledger with the receipts that were given out, and only if it holds the last of them remove the damaged anchor "+
		"and run 'discreet ledger anchor --begin --reason ...'", e.Place, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// MovedError is returned when the anchor is not the one that was last loaded or stored here. It was
// left as it is.
type MovedError struct{ Place string }

func (e *MovedError) Error() string {
	return fmt.Sprintf("the anchor in %s was changed or removed by somebody else since it was last looked at: perhaps another copy of "+
		"the ledger is in use, "+
		"or a volume was unmounted. Stop the other copy, or mount the volume, then start again", e.Place)
}

// noSum stands for the sum where there is no anchor.
const noSum = "nothing"

// knownSums is what may be stored in a place as far as we know, by hash: what was loaded or stored
// last, and what was tried since, whose fate is not known. It is empty before the first look.
type knownSums []string

func (m knownSums) allows(sum string) bool { return slices.Contains(m, sum) }
func (m *knownSums) addTried(sum string)   { *m = append(*m, sum) }
func (m *knownSums) set(sum string)        { *m = append((*m)[:0], sum) }
