package chart

import (
	"image/color"
	"strings"
	"sync"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"github.com/discreet-dp/discreet/internal/numeric"
)

// A script is how a text is written: its size, weight and colour. The letters are
// those of Liberation Sans, which is as wide as Arial and Helvetica, so that a
// browser that has only one of these sets an SVG document as it was measured here.
type script struct {
	size  float64
	bold  bool
	color color.NRGBA
}

var regularFont, boldFont = sync.OnceValue(fontParser(liberationsansregular.TTF)), sync.OnceValue(fontParser(liberationsansbold.TTF))

func fontParser(ttf []byte) func() *opentype.Font {
	return func() *opentype.Font {
		f, err := opentype.Parse(ttf)
		if err != nil {
			panic(err) // the font is part of the program
		}
		return f
	}
}

func (s script) face() font.Face {
	f := font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Length(s.size)}, Face: regularFont()}
	if s.bold {
		f.Font.Weight, f.Face = xfont.WeightBold, boldFont()
	}
	return f
}

func (s script) superscript() script {
	s.size *= 0.72
	return s
}

// A piece is a part of a text that is on the line, or raised above it. Exponents
// are raised here because the font has only some of the superscripts.
type piece struct {
	text string
	up   bool
}

func splitExponents(text string) []piece {
	var out []piece
	for _, r := range text {
		r, up := fromSuperscript(r)
		if len(out) == 0 || out[len(out)-1].up != up {
			out = append(out, piece{up: up})
		}
		out[len(out)-1].text += string(r)
	}
	return out
}

func (s script) width(text string) float64 {
	w := 0.0
	for _, p := range splitExponents(text) {
		t := s
		if p.up {
			t = s.superscript()
		}
		f := t.face()
		w += float64(f.Width(p.text))
	}
	return w
}

// fit returns a script and a text no wider than a width: smaller by up to a quarter,
// and then cut off.
func (s script) fit(text string, width float64) (script, string) {
	least := s.size * 0.75
	for s.width(text) > width && s.size > least {
		s.size = max(least, s.size-0.5)
	}
	if s.width(text) <= width {
		return s, text
	}
	all := []rune(text)
	longest, _ := numeric.BisectWhole(0, len(all)+1, func(n int) bool { return s.width(string(all[:n])+"…") <= width })
	return s, string(all[:longest]) + "…"
}

// write puts a text on a canvas. Of its width the part align is left of x: 0, ½ or 1.
func (s script) write(c vg.Canvas, x, y, align float64, text string) {
	x -= align * s.width(text)
	c.SetColor(s.color)
	for _, p := range splitExponents(text) {
		t, rise := s, 0.0
		if p.up {
			t, rise = s.superscript(), s.size*0.36
		}
		f := t.face()
		// SVG drops a space at the beginning of a text, so it is not written.
		word := strings.TrimLeft(p.text, " ")
		x += float64(f.Width(p.text[:len(p.text)-len(word)]))
		if word != "" {
			c.FillString(f, vg.Point{X: vg.Length(x), Y: vg.Length(y + rise)}, word)
		}
		x += float64(f.Width(word))
	}
}

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
