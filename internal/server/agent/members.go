package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
)

var errObject = errors.New("it is not one object")

// members are the names in an object of JSON, as they are written. Two that are the same are an
// error: of two readers one would take the first, and the other the last.
func members(text []byte) (names []string, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil, errors.Join(err, errObject)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if slices.Contains(names, name.(string)) {
			return nil, errors.New("it has two members " + strconv.Quote(name.(string)))
		}
		if names = append(names, name.(string)); len(names) > mostMembers {
			return nil, errors.New("it has too many members")
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errObject
	}
	return names, nil
}

// mostMembers is far above what a call has, or a message.
const mostMembers = 100
