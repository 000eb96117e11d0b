package anchor

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/discreet-dp/discreet/ledger"
)

// format is the version of the layout of a document.
const format = "discreet-anchor-1"

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
	text, err := json.Marshal(document{format, anchor, ledger.Hash(anchor)})
	return append(text, '\n'), err
}

func decode(text []byte) (ledger.Anchor, error) {
	var d document
	if err := strictly(text, &d); err != nil {
		return ledger.Anchor{}, errors.New("it is cut off or not an anchor")
	}
	if d.Format != format {
		return ledger.Anchor{}, errors.New("it has a format that this program does not know")
	}
	if ledger.Hash([]byte(d.Anchor)) != d.SHA256 {
		return ledger.Anchor{}, errors.New("it was changed: it does not have its hash")
	}
	var a ledger.Anchor
	if err := strictly(d.Anchor, &a); err != nil {
		return ledger.Anchor{}, errors.New("its anchor does not read")
	}
	if a.Identity == "" || len(a.Hash) != 64 {
		return ledger.Anchor{}, errors.New("its anchor is not complete")
	}
	return a, nil
}

// strictly decodes one JSON value that has nothing unknown in it or after it.
func strictly(text []byte, to any) error {
	if !json.Valid(text) { // a Decoder would not look at what follows
		return errors.New("not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}
