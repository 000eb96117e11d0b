package interpret

import (
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// parseArray reads {a,"b",NULL}.
func (r *run) parseArray(s string, t uint32) (datum.Value, error) {
	a := &arrayReader{run: r, s: s, elem: oid.Elem(t)}
	a.skip()
	out, ok, err := a.list()
	if err != nil {
		return nil, err
	}
	if a.skip(); !ok || a.i != len(s) {
		return nil, Fail("22P02", "malformed array literal: %s", strconv.Quote(clip(s)))
	}
	return r.list(out)
}

// arrayReader reads the literal of an array from its beginning to its end.
type arrayReader struct {
	run  *run
	s    string
	i    int
	elem uint32
}

func (a *arrayReader) skip() {
	for a.i < len(a.s) && (a.s[a.i] == ' ' || a.s[a.i] == '\t' || a.s[a.i] == '\n') {
		a.i++
	}
}

// list reads from { to }. It is not ok where the text is malformed.
func (a *arrayReader) list() (out datum.List, ok bool, err error) {
	out = datum.List{}
	if a.i >= len(a.s) || a.s[a.i] != '{' {
		return nil, false, nil
	}
	a.i++
	if a.skip(); a.i < len(a.s) && a.s[a.i] == '}' {
		a.i++
		return out, true, nil
	}
	for {
		if a.skip(); a.i >= len(a.s) {
			return nil, false, nil
		}
		if a.s[a.i] == '{' {
			return nil, false, unsupported("an array of arrays")
		}
		v, ok, err := a.item()
		if !ok || err != nil {
			return nil, false, err
		}
		out = append(out, v)
		if a.skip(); a.i >= len(a.s) {
			return nil, false, nil
		}
		end := a.s[a.i]
		if a.i++; end == '}' {
			return out, true, nil
		}
		if end != ',' {
			return nil, false, nil
		}
	}
}

// item reads one element.
func (a *arrayReader) item() (datum.Value, bool, error) {
	var b strings.Builder
	quoted := a.s[a.i] == '"'
	stop := ",}{\""
	if quoted {
		a.i++
		stop = "\""
	}
	for ; a.i < len(a.s) && strings.IndexByte(stop, a.s[a.i]) < 0; a.i++ {
		if a.s[a.i] == '\\' && a.i+1 < len(a.s) {
			a.i++
		}
		b.WriteByte(a.s[a.i])
	}
	text := b.String()
	if quoted {
		a.i++
	} else if text = strings.TrimSpace(text); text == "" {
		return nil, false, nil
	}
	if !quoted && strings.EqualFold(text, "null") {
		return nil, true, nil
	}
	v, err := a.run.parse(text, a.elem)
	return v, err == nil, err
}
