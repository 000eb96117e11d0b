package datum

import (
	"strings"
)

// Quote writes a name as quote_ident does.
func Quote(s string) string {
	plain := s != ""
	for i, c := range []byte(s) {
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			plain = false
		}
	}
	if plain && !reserved[s] {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// Truncate cuts a text to at most n bytes, between characters.
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

// Split splits a name such as public."My table" into its parts, as SQL reads them.
func Split(s string) ([]string, bool) {
	var parts []string
	i := 0
	s = strings.TrimSpace(s)
	for {
		var b strings.Builder
		switch {
		case i < len(s) && s[i] == '"':
			closed := false
			for i++; i < len(s); i++ {
				if s[i] == '"' {
					if i+1 < len(s) && s[i+1] == '"' {
						i++
					} else {
						closed = true
						i++
						break
					}
				}
				b.WriteByte(s[i])
			}
			if !closed {
				return nil, false
			}
		default:
			for i < len(s) && s[i] != '.' && s[i] != '"' {
				b.WriteByte(s[i])
				i++
			}
		}
		text := b.String()
		if text == "" {
			return nil, false
		}
		if !strings.HasSuffix(s[:i], `"`) {
			text = strings.ToLower(strings.TrimSpace(text))
			if text == "" || strings.ContainsAny(text, " \t\n\r\f") {
				return nil, false
			}
		}
		if parts = append(parts, text); i == len(s) {
			return parts, len(parts) <= 3
		}
		if s[i] != '.' {
			return nil, false
		}
		i++
	}
}

// reservedWords are those that pg_get_keywords() of PostgreSQL 15 has as reserved in some way:
// quote_ident quotes them.
const reservedWords = `
all analyse analyze and any array as asc asymmetric authorization between bigint binary bit boolean both case cast char character check 
coalesce collate collation column concurrently constraint create cross current_catalog current_date current_role current_schema 
current_time current_timestamp current_user dec decimal default deferrable desc distinct do else end except exists extract false fetch 
float for foreign freeze from full grant greatest group grouping having ilike in initially inner inout int integer intersect interval into 
is isnull join lateral leading least left like limit localtime localtimestamp national natural nchar none normalize not notnull null nullif 
numeric offset on only or order out outer overlaps overlay placing position precision primary real references returning right row select 
session_user setof similar smallint some substring symmetric table tablesample then time timestamp to trailing treat trim true union unique 
user using values varchar variadic verbose when where window with xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces 
xmlparse xmlpi xmlroot xmlserialize xmltable
`

func Words() []string { return strings.Fields(reservedWords) }

// reserved are the words that are quoted as names.
var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range Words() {
		m[w] = true
	}
	return m
}()
