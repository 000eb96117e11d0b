package chart

import (
	"strings"
	"unicode"
)

// superscriptReplacer writes a number as an exponent.
var superscriptReplacer = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹", "-", "⁻")

const (
	superscriptSigns = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"
	plainSigns       = "0123456789−"
)

// fromSuperscript returns the sign of which a rune is the superscript, and whether it is one.
func fromSuperscript(r rune) (rune, bool) {
	if i := strings.IndexRune(superscriptSigns, r); i >= 0 {
		n := len([]rune(superscriptSigns[:i]))
		return []rune(plainSigns)[n], true
	}
	return r, false
}

// cleanLabel shows as ? what would move the cursor of a terminal, turn the direction of
// the text around it, or make an XML document invalid.
func cleanLabel(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || r&0xfffe == 0xfffe {
			return '?'
		}
		return r
	}, s)
}

// asciiSpellings spells in ASCII what charts about privacy are full of.
var asciiSpellings = strings.NewReplacer("ε", "epsilon", "δ", "delta", "ρ", "rho", "σ", "sigma",
	"α", "alpha", "μ", "mu", "−", "-", "–", "-", "—", "-", "…", "...", "·", "*",
	"×", "x", "≤", "<=", "≥", ">=", "½", "1/2", "∞", "infinity", "√", "sqrt ")

// spellASCII spells a text in ASCII. Powers of ten become 1e-6, and what has no spelling
// becomes a question mark.
func spellASCII(s string) string {
	var b strings.Builder
	in := []rune(asciiSpellings.Replace(s))
	for i := 0; i < len(in); i++ {
		r, up := fromSuperscript(in[i])
		switch {
		case up && (i == 0 || !isSuperscript(in[i-1])):
			before := b.String()
			b.Reset()
			if times, ok := strings.CutSuffix(before, "*10"); ok {
				b.WriteString(times + "e")
			} else if alone, ok := strings.CutSuffix(before, "10"); ok && !endsInNumber(alone) {
				b.WriteString(alone + "1e")
			} else {
				b.WriteString(before + "^")
			}
			fallthrough
		case up:
			if r == '−' {
				r = '-'
			}
			b.WriteRune(r)
		case r < 0x20 || r > 0x7e:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func endsInNumber(s string) bool {
	return s != "" && strings.ContainsRune("0123456789.", rune(s[len(s)-1]))
}

func isSuperscript(r rune) bool {
	_, up := fromSuperscript(r)
	return up
}
