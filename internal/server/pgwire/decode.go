package pgwire

import (
	"encoding/binary"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/pgcatalog/datum"
	"github.com/discreet-dp/discreet/internal/pgtext"
	"github.com/discreet-dp/discreet/internal/planner/syntax"
	"github.com/discreet-dp/discreet/policy"
)

// argument is a value of a parameter, as questions take it and as the catalogue does.
type argument struct {
	question  api.Parameter
	catalogue datum.Value
}

func (a argument) size() int { return 64 + len(a.question.Text) + datum.Size(a.catalogue) }

// maxNumberDigits bounds numbers: what is longer is no measurement, and takes long to look at.
const maxNumberDigits = 400

// decode reads a value as it was sent. Errors name the type and the place and do not repeat the
// value, which is not ours to print.
func decode(types *pgtype.Map, n int, oid uint32, format int16, data []byte) (argument, error) {
	if format != pgtype.TextFormatCode && format != pgtype.BinaryFormatCode {
		return argument{}, failure(invalidParameter, "parameter $%d has an unknown format", n)
	}
	kind := kindOf(oid)
	if data == nil {
		return argument{question: api.Parameter{Kind: kind, Null: true}}, nil
	}
	if of := elementType(oid); of != 0 {
		return decodeArray(types, n, of, format, data)
	}
	var text string
	var err error
	if format == pgtype.BinaryFormatCode {
		text, err = decodeBinary(types, n, oid, data)
	} else {
		text, err = decodeText(n, oid, string(data))
	}
	if err != nil {
		return argument{}, err
	}
	return argument{api.Parameter{Kind: kind, Text: text}, catalogueValue(kind, text)}, nil
}

func catalogueValue(kind, text string) datum.Value {
	switch kind {
	case "integer":
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return datum.Int(i)
		}
	case "decimal":
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return datum.Float(f)
		}
	case "boolean":
		return datum.Bool(text == "true")
	}
	return datum.Text(text)
}

func malformedParameter(n int, oid uint32, code string) error {
	return failure(code, "parameter $%d is not a value of its type, %s", n, typeName(oid))
}

func typeName(oid uint32) string {
	switch oid {
	case int2OID:
		return "smallint"
	case int4OID:
		return "integer"
	case int8OID:
		return "bigint"
	case oidOID:
		return "oid"
	case float4OID:
		return "real"
	case float8OID:
		return "double precision"
	case numericOID:
		return "numeric"
	case boolOID:
		return "boolean"
	case dateOID:
		return "date"
	case timestampOID:
		return "timestamp"
	case timestamptzOID:
		return "timestamp with time zone"
	}
	return "text"
}

// decodeText reads the text format, and writes the value as questions do.
func decodeText(n int, oid uint32, text string) (string, error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", failure(invalidEncoding, "parameter $%d is not valid UTF-8, or has a zero byte", n)
	}
	trimmed := strings.TrimSpace(text)
	switch oid {
	case int2OID, int4OID, int8OID:
		return decodeInteger(n, oid, trimmed, map[uint32]int{int2OID: 16, int4OID: 32, int8OID: 64}[oid])
	case oidOID:
		u, err := strconv.ParseUint(trimmed, 10, 32)
		if err != nil {
			return "", malformedParameter(n, oid, invalidText)
		}
		return strconv.FormatUint(u, 10), nil
	case float4OID, float8OID, numericOID:
		return decodeDecimal(n, oid, trimmed)
	case boolOID:
		switch strings.ToLower(trimmed) {
		case "t", "tr", "tru", "true", "y", "ye", "yes", "on", "1":
			return "true", nil
		case "f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0":
			return "false", nil
		}
		return "", malformedParameter(n, oid, invalidText)
	case dateOID:
		bare, _ := cutZone(trimmed) // drivers add a zone to dates
		if days, ok := policy.ParseDate(bare); ok {
			return policy.FormatDate(days), nil
		}
		if micros, ok := policy.ParseTimestamp(bare); ok {
			return policy.FormatDate(floorDay(micros)), nil
		}
		return "", malformedParameter(n, oid, invalidText)
	case timestampOID, timestamptzOID:
		bare, from := cutZone(trimmed)
		away, fine := parseZoneOffset(from)
		if oid == timestampOID {
			away, fine = 0, true // it is not looked at, as PostgreSQL does
		}
		micros, ok := policy.ParseTimestamp(bare)
		if !ok || !fine {
			return "", malformedParameter(n, oid, invalidText)
		}
		return policy.FormatTimestamp(micros - away.Microseconds()), nil
	}
	return text, nil
}

// zonePattern is how far a time is from UTC, at its end.
var zonePattern = regexp.MustCompile(`(?: ?[+-][0-9]{2}(?::?[0-9]{2})?(?::?[0-9]{2})?| ?[zZ]| ?UTC)$`)

// cutZone takes the zone off a date or a time. The day of 2025-02-03 is none.
func cutZone(text string) (bare, from string) {
	if _, ok := policy.ParseDate(text); ok {
		return text, ""
	}
	from = zonePattern.FindString(text)
	return strings.TrimSuffix(text, from), from
}

func floorDay(micros int64) int64 {
	const day = 86_400_000_000
	if days := micros / day; micros%day >= 0 {
		return days
	}
	return micros/day - 1
}

func parseZoneOffset(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if text == "" || strings.EqualFold(text, "z") || text == "UTC" {
		return 0, true
	}
	digits := strings.ReplaceAll(text[1:], ":", "")
	var away time.Duration
	for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second} {
		if len(digits) < 2*i+2 {
			break
		}
		v, err := strconv.Atoi(digits[2*i : 2*i+2])
		if err != nil || v > 59 {
			return 0, false
		}
		away += time.Duration(v) * unit
	}
	if text[0] == '-' {
		away = -away
	}
	return away, away.Abs() < 16*time.Hour
}

func decodeInteger(n int, oid uint32, text string, bits int) (string, error) {
	i, err := strconv.ParseInt(text, 10, bits)
	switch {
	case err == nil:
		return strconv.FormatInt(i, 10), nil
	case strings.Contains(err.Error(), strconv.ErrRange.Error()):
		return "", malformedParameter(n, oid, outOfRange)
	}
	return "", malformedParameter(n, oid, invalidText)
}

var decimalPattern = regexp.MustCompile(`^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,6}))?$`)

// decodeDecimal reads a number and writes it without an exponent.
func decodeDecimal(n int, oid uint32, text string) (string, error) {
	switch strings.ToLower(strings.TrimLeft(text, "+-")) {
	case "nan":
		return "", failure(invalidText, "parameter $%d is not a number", n).withHint("you cannot ask about NaN")
	case "inf", "infinity":
		return "", failure(outOfRange, "parameter $%d is infinite", n).withHint("leave the bound out, or use a large number")
	}
	if len(text) > maxNumberDigits {
		return "", failure(outOfRange, "parameter $%d has more than %d digits", n, maxNumberDigits)
	}
	m := decimalPattern.FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[3] == "" {
		return "", malformedParameter(n, oid, invalidText)
	}
	exponent := 0
	if m[4] != "" {
		exponent, _ = strconv.Atoi(m[4])
	}
	digits, ok := new(big.Int).SetString(m[2]+m[3], 10)
	if !ok {
		return "", malformedParameter(n, oid, invalidText)
	}
	if m[1] == "-" {
		digits.Neg(digits)
	}
	return formatDecimal(n, digits, exponent-len(m[3]))
}

// formatDecimal writes digits * 10^exponent without an exponent.
func formatDecimal(n int, digits *big.Int, exponent int) (string, error) {
	text := new(big.Int).Abs(digits).String()
	switch {
	case digits.Sign() == 0:
		return "0", nil
	case exponent > maxNumberDigits || exponent < -2*maxNumberDigits || len(text) > maxNumberDigits:
		return "", failure(outOfRange, "parameter $%d has more than %d digits", n, maxNumberDigits)
	case exponent >= 0:
		text += strings.Repeat("0", exponent)
	default:
		if len(text) <= -exponent {
			text = strings.Repeat("0", 1-exponent-len(text)) + text
		}
		at := len(text) + exponent
		text = text[:at] + "." + text[at:]
	}
	if digits.Sign() < 0 {
		text = "-" + text
	}
	if len(text) > maxNumberDigits { // written out it must be one that could be sent as text
		return "", failure(outOfRange, "parameter $%d has more than %d digits", n, maxNumberDigits)
	}
	return text, nil
}

// decodeBinary reads the binary format, and writes the value as questions do.
func decodeBinary(types *pgtype.Map, n int, oid uint32, data []byte) (string, error) {
	switch oid {
	case textOID, varcharOID, bpcharOID, nameOID, unknownOID, jsonOID:
		return decodeText(n, textOID, string(data))
	}
	t, ok := types.TypeForOID(oid)
	if !ok {
		return "", failure(notSupported, "parameter $%d has a type that cannot be sent in binary; send it as text", n)
	}
	if oid == numericOID && len(data) > 2*maxNumberDigits {
		return "", failure(outOfRange, "parameter $%d has more than %d digits", n, maxNumberDigits)
	}
	value, err := t.Codec.DecodeValue(types, oid, pgtype.BinaryFormatCode, data)
	if err != nil {
		return "", malformedParameter(n, oid, invalidBinary)
	}
	switch v := value.(type) {
	case bool:
		return strconv.FormatBool(v), nil
	case int16:
		return strconv.FormatInt(int64(v), 10), nil
	case int32:
		return strconv.FormatInt(int64(v), 10), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case uint32:
		return strconv.FormatUint(uint64(v), 10), nil
	case float32:
		return decodeDecimal(n, oid, strconv.FormatFloat(float64(v), 'e', -1, 32))
	case float64:
		return decodeDecimal(n, oid, strconv.FormatFloat(v, 'e', -1, 64))
	case pgtype.Numeric:
		switch {
		case v.NaN:
			return decodeDecimal(n, oid, "nan")
		case v.InfinityModifier != pgtype.Finite:
			return decodeDecimal(n, oid, "infinity")
		case !v.Valid || v.Int == nil:
			return "", malformedParameter(n, oid, invalidBinary)
		}
		return formatDecimal(n, v.Int, int(v.Exp))
	case pgtype.InfinityModifier:
		return "", failure(outOfRange, "parameter $%d is infinite", n).withHint("leave the bound out, or use a distant date")
	case time.Time:
		if v = v.UTC(); v.Year() < 1 || v.Year() > 9999 {
			return "", malformedParameter(n, oid, outOfRange)
		}
		if oid == dateOID {
			return v.Format("2006-01-02"), nil
		}
		return policy.FormatTimestamp(v.UnixMicro()), nil
	case string:
		return decodeText(n, textOID, v)
	case byte:
		return string(rune(v)), nil
	}
	return "", failure(notSupported, "parameter $%d has a type that cannot be sent in binary; send it as text", n)
}

// elementType is the type of an array's elements, where values of it can be sent; 0 for what is no
// such array.
func elementType(oid uint32) uint32 {
	switch oid {
	case pgtype.Int2ArrayOID:
		return int2OID
	case pgtype.Int4ArrayOID:
		return int4OID
	case pgtype.Int8ArrayOID:
		return int8OID
	case pgtype.OIDArrayOID:
		return oidOID
	case pgtype.TextArrayOID:
		return textOID
	case pgtype.VarcharArrayOID:
		return varcharOID
	case pgtype.BPCharArrayOID:
		return bpcharOID
	case pgtype.NameArrayOID:
		return nameOID
	case pgtype.QCharArrayOID:
		return pgtype.QCharOID
	case pgtype.NumericArrayOID:
		return numericOID
	case pgtype.Float4ArrayOID:
		return float4OID
	case pgtype.Float8ArrayOID:
		return float8OID
	case pgtype.BoolArrayOID:
		return boolOID
	case pgtype.DateArrayOID:
		return dateOID
	case pgtype.TimestampArrayOID:
		return timestampOID
	case pgtype.TimestamptzArrayOID:
		return timestamptzOID
	}
	return 0
}

// maxArrayElements is how many elements an array is read with. The catalogue is asked about so many
// tables at once; a question takes far fewer.
const maxArrayElements = 1 << 16

// decodeArray reads an array of one dimension, and writes it as questions do, and for the catalogue
// as texts.
func decodeArray(types *pgtype.Map, n int, of uint32, format int16, data []byte) (argument, error) {
	texts, err := decodeElements(types, n, of, format, data)
	if err != nil {
		return argument{}, err
	}
	value := make(datum.List, len(texts))
	for i, t := range texts {
		if t != nil {
			value[i] = datum.Text(*t)
		}
	}
	return argument{api.Parameter{Kind: kindOf(of) + "[]", Text: pgtext.Array(texts)}, value}, nil
}

func decodeElements(types *pgtype.Map, n int, of uint32, format int16, data []byte) (texts []*string, err error) {
	raw, ok := splitArray(of, data)
	if format == pgtype.TextFormatCode {
		texts, ok = syntax.Elements(string(data), maxArrayElements)
	}
	if !ok {
		return nil, failure(invalidText, "parameter $%d is not an array of %s in one dimension with at most %d elements", n, typeName(of),
			maxArrayElements)
	}
	read := func(text string) (string, error) { return decodeText(n, of, text) }
	if format == pgtype.BinaryFormatCode {
		texts = raw
		read = func(text string) (string, error) { return decodeBinary(types, n, of, []byte(text)) }
	}
	for i, t := range texts {
		if t == nil {
			continue
		}
		text, err := read(*t)
		if err != nil {
			return nil, err
		}
		texts[i] = &text
	}
	return texts, nil
}

// splitArray reads the binary form of an array: how many dimensions, whether there are NULLs, the
// type of the elements, how many and from which number on; and each with its length before it.
func splitArray(of uint32, data []byte) ([]*string, bool) {
	next := func() (uint32, bool) {
		if len(data) < 4 {
			return 0, false
		}
		v := binary.BigEndian.Uint32(data)
		data = data[4:]
		return v, true
	}
	var head [3]uint32
	for i := range head {
		var ok bool
		if head[i], ok = next(); !ok {
			return nil, false
		}
	}
	if head[2] != of || head[0] > 1 {
		return nil, false
	}
	if head[0] == 0 {
		return nil, len(data) == 0
	}
	count, _ := next()
	if _, ok := next(); !ok || count > maxArrayElements {
		return nil, false
	}
	out := make([]*string, 0, min(int(count), len(data)/4))
	for range count {
		size, ok := next()
		switch {
		case !ok:
			return nil, false
		case size == 0xffff_ffff:
			out = append(out, nil)
			continue
		case uint64(size) > uint64(len(data)):
			return nil, false
		}
		text := string(data[:size])
		data = data[size:]
		out = append(out, &text)
	}
	return out, len(data) == 0
}
