package pgtext

// Value is a part of a JSON text, written as it stands there.
type Value string

// Field returns the value of a key of an object, the last where there are several, as -> does. It
// reports false where there is none, and where the value is no object.
func (v Value) Field(key string) (Value, bool, error) {
	found, ok := Value(""), false
	err := v.each('{', func(name string, part Value) error {
		read, err := unescape(name)
		if err == nil && read == key {
			found, ok = part, true
		}
		return err
	})
	return found, ok, err
}

// Element returns an element of an array, counted from 0, or from -1 backwards.
func (v Value) Element(n int64) (Value, bool, error) {
	if n < 0 {
		count, err := v.Len()
		if n += int64(count); err != nil || n < 0 {
			return "", false, err
		}
	}
	found, ok, at := Value(""), false, int64(0)
	err := v.each('[', func(_ string, part Value) error {
		if at == n {
			found, ok = part, true
		}
		at++
		return nil
	})
	return found, ok, err
}

// ElementOfJSONB is Element for jsonb, where a single value is an array of itself, as PostgreSQL
// keeps it.
func (v Value) ElementOfJSONB(n int64) (Value, bool, error) {
	if kind := v.Kind(); kind != "object" && kind != "array" {
		return v, n == 0 || n == -1, nil
	}
	return v.Element(n)
}

// Len is how many elements an array has.
func (v Value) Len() (n int, err error) {
	err = v.each('[', func(string, Value) error { n++; return nil })
	return n, err
}

// Kind is what json_typeof says.
func (v Value) Kind() string {
	r := &jsonReader{text: string(v)}
	if r.space(); r.at >= len(v) {
		return ""
	}
	switch v[r.at] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// Text is the value as a text, as ->> returns it: a string without its quotes, and nothing for
// null.
func (v Value) Text() (text string, null bool, err error) {
	switch v.Kind() {
	case "null":
		return "", true, nil
	case "string":
		r := &jsonReader{text: string(v), to: &jsonbWriter{}}
		r.space()
		s, err := r.str()
		return s, false, err
	}
	return string(v), false, nil
}

// each calls do with the members of an object or the elements of an array, if it is one.
func (v Value) each(open byte, do func(name string, part Value) error) error {
	r := &jsonReader{text: string(v)}
	if !r.next(open) {
		return nil
	}
	end := byte(']')
	if open == '{' {
		end = '}'
	}
	for i := 0; !r.next(end); i++ {
		if i > 0 && !r.next(',') {
			return ErrJSON
		}
		name := ""
		r.space()
		if open == '{' {
			if r.at >= len(r.text) || r.text[r.at] != '"' {
				return ErrJSON
			}
			var err error
			if name, err = r.str(); err != nil {
				return err
			}
			if !r.next(':') {
				return ErrJSON
			}
			r.space()
		}
		from := r.at
		if err := r.value(); err != nil {
			return err
		}
		if err := do(name, Value(r.text[from:r.at])); err != nil {
			return err
		}
	}
	return nil
}
