package ledgercmd

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/discreet-dp/discreet/ledger"
)

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
