package console

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
)

// PrintJSON prints an object with a line for each of its keys, so that a person
// can read it too.
func PrintJSON(w io.Writer, v any) error {
	members, err := objectMembers(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	separator := "{\n  "
	for _, m := range members {
		out.WriteString(separator + m.name + ": ")
		out.Write(m.value)
		separator = ",\n  "
	}
	out.WriteString("\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

// member is one of an object: its key, in quotes, and its value.
type member struct {
	name  string
	value json.RawMessage
}

// objectMembers returns the members of an object in their order.
func objectMembers(v any) (all []member, err error) {
	var compact bytes.Buffer
	e := json.NewEncoder(&compact)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	in := json.NewDecoder(&compact)
	if _, err := in.Token(); err != nil { // the opening brace
		return nil, err
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, err
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		m := member{name: string(name)}
		if err := in.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Ordered is an object of which only some keys are shown, in an order that a person reads them in.
type Ordered struct {
	Object any
	Keys   []string
}

// MarshalJSON implements [json.Marshaler].
func (o Ordered) MarshalJSON() ([]byte, error) {
	all, err := objectMembers(o.Object)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range o.Keys {
		for _, m := range all {
			if m.name == strconv.Quote(key) {
				out = append(out, m.name+":"+string(m.value))
			}
		}
	}
	return []byte("{" + strings.Join(out, ",") + "}"), nil
}
