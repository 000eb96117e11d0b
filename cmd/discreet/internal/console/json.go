package console

import (
	"bytes"
	"encoding/json"
	"io"
)

// PrintJSON prints an object with a line for each of its keys, so that a person
// can read it too.
func PrintJSON(w io.Writer, v any) error {
	var compact bytes.Buffer
	e := json.NewEncoder(&compact)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	in := json.NewDecoder(&compact)
	if _, err := in.Token(); err != nil { // the opening brace
		return err
	}
	var out bytes.Buffer
	for separator := "{\n  "; in.More(); separator = ",\n  " {
		key, err := in.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return err
		}
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		out.WriteString(separator)
		out.Write(name)
		out.WriteString(": ")
		out.Write(value)
	}
	out.WriteString("\n}\n")
	_, err := w.Write(out.Bytes())
	return err
}
