package generate

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// letters are characters of patterns and of the texts that they are held against: of ASCII, those
// whose case is peculiar, marks, ends of planes, and signs of patterns themselves.
var letters = []string{"a", "b", "Z", "z", "9", "0", "_", " ", "-", "é", "É", "ß", "ẞ", "k", "K", "\u212a", "s", "ſ", "σ", "ς",
	"Σ", "İ", "ı", "i", "\n", "\t", "\r", "\v", "\u0085", "\u00a0", "\u2028", "\u0301", "\ud7ff", "\U0001F600",
	"\U0010ffff", ".", "*", "(", "]", "\\", "'"}

// Subject makes a text that patterns are held against.
func Subject(d Dice) string {
	var b strings.Builder
	if d.One(4) {
		b.WriteString(Target)
	}
	for range d.Below(7) {
		b.WriteString(detrand.Pick(d, letters))
	}
	return b.String()
}

// Pattern makes a regular expression of PostgreSQL's; some are not taken.
func Pattern(d Dice) string {
	out := branches(d, 3)
	if d.One(12) {
		out = "(?i)" + out
	}
	return out
}

func branches(d Dice, depth int) string {
	out := branch(d, depth)
	for d.One(4) {
		out += "|" + branch(d, depth)
	}
	return out
}

func branch(d Dice, depth int) string {
	var b strings.Builder
	if d.One(5) {
		b.WriteString(detrand.Pick(d, []string{"^", `\A`}))
	}
	for range 1 + d.Below(4) {
		b.WriteString(atom(d, depth))
		switch d.Below(12) {
		case 0:
			b.WriteString("*")
		case 1:
			b.WriteString("+?")
		case 2:
			b.WriteString("?")
		case 3:
			n := d.Below(4)
			b.WriteString(detrand.Pick(d, []string{fmt.Sprintf("{%d}", n), fmt.Sprintf("{%d,}", n),
				fmt.Sprintf("{%d,%d}", n, n+d.Below(3))}))
		}
	}
	if d.One(5) {
		b.WriteString(detrand.Pick(d, []string{"$", `\Z`}))
	}
	return b.String()
}

func atom(d Dice, depth int) string {
	switch d.Below(12) {
	case 0:
		return "."
	case 1:
		return detrand.Pick(d, []string{`\d`, `\w`, `\s`, `\D`, `\W`, `\S`, `\y`, `\YZ`, `\mZ`, `z\M`, `\n`, `\t`, `\u00e9`})
	case 2, 3:
		return class(d)
	case 4, 5:
		if depth > 0 {
			return detrand.Pick(d, []string{"(", "(?:"}) + branches(d, depth-1) + ")"
		}
	case 6:
		return Target
	}
	return plainly(detrand.Pick(d, letters))
}

// plainly is a character of a text as a pattern writes it.
func plainly(c string) string {
	if strings.Contains(`.*+?()[]{}|^$\`, c) {
		return `\` + c
	}
	return c
}

func class(d Dice) string {
	var b strings.Builder
	b.WriteString("[")
	if d.One(3) {
		b.WriteString("^")
	}
	for range 1 + d.Below(3) {
		b.WriteString(detrand.Pick(d, []string{"a-f", "0-9", "Z", "_", "é-ü", "[:alpha:]", "[:space:]", "[:punct:]", `\d`, `\w`,
			"\\u0000-\\u007f", ".", "(", `\\`, "\U0001F600-\U0001F64F"}))
	}
	return b.String() + "]"
}

// Similar makes a pattern of SIMILAR TO.
func Similar(d Dice) string {
	var b strings.Builder
	for range 1 + d.Below(4) {
		b.WriteString(detrand.Pick(d, []string{"%", "_", "(a|" + Target + ")", "[a-z]+", "Z", "z{1,2}", ".", "^", `\%`, "é",
			"[^[:digit:]]*", "9?"}))
	}
	return b.String()
}
