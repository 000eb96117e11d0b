package interpret

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
	"github.com/discreet-dp/discreet/internal/server/catalog/ident"
	"github.com/discreet-dp/discreet/internal/server/catalog/oid"
)

// ParseValue reads a literal as PostgreSQL's input functions do, outside of a query.
func ParseValue(db Database, s string, t uint32) (datum.Value, error) {
	return (&run{db: db, ctx: context.Background(), limits: Limits{Steps: math.MaxInt, Bytes: math.MaxInt}}).parse(s, t)
}

// parse reads a literal as PostgreSQL's input functions do.
func (r *run) parse(s string, t uint32) (datum.Value, error) {
	t = oid.Base(t)
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
	case t == oid.Char && s != "" && s[0] >= 0x80:
		s = fmt.Sprintf(`\%03o`, s[0]) // half of a character
	case t == oid.Char && len(s) > 1:
		s = s[:1]
	case t == oid.Name:
		s = ident.Truncate(s, 63)
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

// parseTime reads a date or a timestamp.
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
