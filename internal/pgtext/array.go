package pgtext

import "strings"

// Array writes an array of one dimension, as array_out does. An element that is nil is NULL.
func Array(elements []*string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, t := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		switch {
		case t == nil:
			b.WriteString("NULL")
		case *t == "" || strings.EqualFold(*t, "null") || strings.ContainsAny(*t, "{},\"\\ \t\n\r\v\f"):
			b.WriteByte('"')
			arrayEscaper.WriteString(&b, *t)
			b.WriteByte('"')
		default:
			b.WriteString(*t)
		}
	}
	b.WriteByte('}')
	return b.String()
}

var arrayEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
