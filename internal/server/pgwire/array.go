package pgwire

import (
	"encoding/binary"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/plan/syntax"
	"github.com/discreet-dp/discreet/internal/server/catalog/datum"
)

// elementOf is the type of an array's elements, where values of it can be sent; 0 for what is no
// such array.
func elementOf(oid uint32) uint32 {
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

// maxElements is how many elements an array is read with. The catalogue is asked about so many
// tables at once; a question takes far fewer.
const maxElements = 1 << 16

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
	return argument{api.Parameter{Kind: kindOf(of) + "[]", Text: arrayOf(texts)}, value}, nil
}

func decodeElements(types *pgtype.Map, n int, of uint32, format int16, data []byte) (texts []*string, err error) {
	raw, ok := splitArray(of, data)
	if format == pgtype.TextFormatCode {
		texts, ok = syntax.Elements(string(data), maxElements)
	}
	if !ok {
		return nil, failure(invalidText, "parameter $%d is no array of %s, in one dimension and with at most %d elements", n, typeName(of),
			maxElements)
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
	if _, ok := next(); !ok || count > maxElements {
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
