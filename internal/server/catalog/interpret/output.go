package interpret

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

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
		return formatFloat(float64(v)), nil
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
func formatFloat(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case math.IsNaN(f):
		return "NaN"
	case f == math.Trunc(f) && math.Abs(f) < 1e15:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strings.Replace(strconv.FormatFloat(f, 'g', -1, 64), "e+0", "e+", 1)
}

// formatTime writes a time in UTC.
func formatTime(v time.Time, t uint32) string {
	switch t {
	case oid.Date:
		return v.UTC().Format("2006-01-02")
	case oid.Timestamp:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	}
	return v.UTC().Format("2006-01-02 15:04:05.999999") + "+00"
}
