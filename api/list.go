package api

import (
	"bytes"
	"encoding/json"
)

// List is a list that is never null in JSON.
type List[T any] []T

// MarshalJSON implements [json.Marshaler].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// marshal writes JSON and leaves the characters of HTML as they are: what is inside of a
// [json.Marshaler] cannot know what the encoder outside was told about them, which escapes them
// where it is to.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return out.Bytes(), err
}
