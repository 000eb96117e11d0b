package interpret

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgcatalog/oid"
)

// ParseValue reads a literal as PostgreSQL's input functions do, outside of a query.
func ParseValue(db Database, s string, t uint32) (datum.Value, error) {
	return (&run{db: db, ctx: context.Background(), limits: Limits{Steps: math.MaxInt, Bytes: math.MaxInt}}).parse(s, t)
}

// parse reads a literal as PostgreSQL's input functions do.
func (r *run) parse(s string, t uint32) (datum.Value, error) {
	t = oid.Base(t)
	if strange(t) {
		return nil, hint(Fail("0A000", "there are no values of type %s here", r.nameType(t)), "Only NULL can be one.")
	}
	bad := func() error {
		return Fail("22P02", "invalid input syntax for type %s: %s", r.nameType(t), strconv.Quote(clip(s)))
	}
	switch oid.KindOf(t) {
	case oid.KindBool:
		switch v := strings.ToLower(strings.TrimSpace(s)); {
		case v == "1" || v == "on" || v != "" && (strings.HasPrefix("true", v) || strings.HasPrefix("yes", v)):
			return datum.True, nil
		case v == "0" || v == "off" || v == "of" || v != "" && (strings.HasPrefix("false", v) || strings.HasPrefix("no", v)):
			return datum.False, nil
		}
		return nil, bad()
	case oid.KindInt:
		n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
		if err != nil && oid.IsReg(t) {
			o, err := r.db.ParseName(s, t)
			return datum.Int(o), err
		}
		if err != nil {
			return nil, bad()
		}
		return checkRange(datum.Int(n), t)
	case oid.KindFloat:
		if t == oid.Numeric {
			n, ok := datum.ParseNumeric(s)
			if !ok {
				return nil, bad()
			}
			return n, r.take(len(s))
		}
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || strings.ContainsAny(s, "xXpP_") {
			return nil, bad()
		}
		return datum.Float(f), nil
	case oid.KindTime:
		return r.parseTime(s, t)
	case oid.KindList:
		if oid.IsVector(t) {
			return r.parseVector(s, t)
		}
		return r.parseArray(s, t)
	case oid.KindRecord:
		return nil, unsupported("a composite literal")
	}
	switch {
	case t == oid.JSON || t == oid.JSONB:
		return normalDocument(r, s, t)
	case t == oid.Interval:
		span, ok := readSpan(s)
		if !ok {
			return nil, Fail("22007", "invalid input syntax for type interval: %s", strconv.Quote(clip(s)))
		}
		return span.value(), nil
	case t == oid.Char && s != "" && s[0] >= 0x80:
		s = fmt.Sprintf(`\%03o`, s[0]) // half of a character
	case t == oid.Char && len(s) > 1:
		s = s[:1]
	case t == oid.Name:
		s = datum.Truncate(s, 63)
	}
	return datum.Text(s), nil
}

// checkRange is a number as one of an integer type, or of oid and its kin.
func checkRange(n datum.Int, t uint32) (datum.Value, error) {
	switch {
	case t == oid.Int2 && n != datum.Int(int16(n)), t == oid.Int4 && n != datum.Int(int32(n)):
		return nil, Fail("22003", "%s out of range", oid.Types(nil).Format(t, -1))
	case t == oid.Int2 || t == oid.Int4 || t == oid.Int8 || t == oid.Xid8:
		return n, nil
	case n != datum.Int(uint32(n)) && n != datum.Int(int32(n)):
		return nil, Fail("22003", "value %d is out of range for type oid", n)
	}
	return datum.Int(uint32(n)), nil
}

// timeLayouts are the ways in which a time can be written.
var timeLayouts = []string{"2006-01-02 15:04:05.999999Z07", "2006-01-02 15:04:05.999999Z07:00", "2006-01-02T15:04:05.999999Z07:00",
	"2006-01-02 15:04:05.999999", "2006-01-02T15:04:05.999999", "2006-01-02 15:04", "2006-01-02"}

func (r *run) parseTime(s string, t uint32) (datum.Value, error) {
	v := strings.TrimSpace(s)
	if strings.EqualFold(v, "now") {
		return datum.Time{Time: time.Now().UTC()}, nil
	}
	for _, layout := range timeLayouts {
		if p, err := time.Parse(layout, v); err == nil {
			p = p.UTC()
			if t == oid.Date {
				p = p.Truncate(24 * time.Hour)
			}
			return datum.Time{Time: p}, nil
		}
	}
	if len(v) >= 10 && v[4] == '-' && v[7] == '-' && strings.Trim(v[:10], "-0123456789") == "" {
		return nil, Fail("22008", "date/time field value out of range: %s", strconv.Quote(clip(s)))
	}
	return nil, Fail("22007", "invalid input syntax for type %s: %s", r.nameType(t), strconv.Quote(clip(s)))
}

// parseVector reads an int2vector or oidvector: numbers with spaces between them.
func (r *run) parseVector(s string, t uint32) (datum.Value, error) {
	var out datum.List
	for _, f := range strings.Fields(s) {
		v, err := r.parse(f, oid.Elem(t))
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return r.list(out)
}

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

// format writes a value as PostgreSQL's output functions do.
func (r *run) format(v datum.Value, t uint32) (string, error) {
	t = oid.Base(t)
	switch v := v.(type) {
	case nil:
		return "", nil
	case datum.Bool:
		if v {
			return "t", nil
		}
		return "f", nil
	case datum.Int:
		if oid.IsReg(t) {
			return r.db.FormatName(uint32(v), t), nil
		}
		return strconv.FormatInt(int64(v), 10), nil
	case datum.Float:
		bits := 64
		if t == oid.Float4 {
			bits = 32
		}
		return formatFloat(float64(v), bits), nil
	case datum.Numeric:
		return v.String(), r.take(datum.Size(v))
	case datum.Text:
		return string(v), nil
	case datum.Time:
		return formatTime(v.Time, t), nil
	case *datum.Record:
		return r.formatRecord(v)
	case datum.List:
		return r.formatList(v, t)
	}
	return "", Fail("XX000", "a value of an unknown kind")
}

// formatRecord writes (a,"b c",), with nothing for NULL.
func (r *run) formatRecord(v *datum.Record) (string, error) {
	parts := make([]string, len(v.Values))
	n := 0
	for i, x := range v.Values {
		if x == nil {
			continue
		}
		s, err := r.format(x, v.Columns[i].OID)
		if err != nil {
			return "", err
		}
		if s == "" || strings.ContainsAny(s, "\"\\(), \t\n") {
			s = `"` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(s) + `"`
		}
		parts[i] = s
		if n += len(s); n > maxString {
			return "", tooLong()
		}
	}
	return "(" + strings.Join(parts, ",") + ")", r.step(len(parts))
}

// formatList writes {a,"b c",NULL}, or the numbers of a vector with spaces between them.
func (r *run) formatList(v datum.List, t uint32) (string, error) {
	parts := make([]string, len(v))
	n := 0
	for i, x := range v {
		s, err := r.format(x, oid.Elem(t))
		if err != nil {
			return "", err
		}
		switch {
		case x == nil:
			s = "NULL"
		case s == "" || strings.ContainsAny(s, "{}\"\\, \t\n") || strings.EqualFold(s, "null"):
			s = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(s) + `"`
		}
		parts[i] = s
		if n += len(s); n > maxString {
			return "", tooLong()
		}
	}
	if err := r.step(len(parts)); err != nil {
		return "", err
	}
	if oid.IsVector(t) {
		return strings.Join(parts, " "), nil
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

// formatFloat writes a double in as few digits as tell it from others.
func formatFloat(f float64, bits int) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	}
	s := strconv.FormatFloat(f, 'e', -1, bits)
	_, exponent, _ := strings.Cut(s, "e")
	if n, _ := strconv.Atoi(exponent); n >= -4 && (n < 15 && bits == 64 || n < 6) {
		return strconv.FormatFloat(f, 'f', -1, bits)
	}
	return s
}

func formatTime(v time.Time, t uint32) string {
	switch t {
	case oid.Date:
		return v.UTC().Format("2006-01-02")
	case oid.Timestamp:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	}
	return v.UTC().Format("2006-01-02 15:04:05.999999") + "+00"
}

// isMoment reports whether a type is a point in time that others can be taken from.
func isMoment(t uint32) bool { return t == oid.Timestamptz || t == oid.Timestamp }
