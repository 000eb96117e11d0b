package textfile

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Moment is a template of dates and times, in the words of PostgreSQL's to_date and to_timestamp.
type Moment struct {
	// Pattern is a regular expression that texts of this shape match as a whole. Days that no
	// calendar has match too.
	Pattern string
	// Strptime is the same in the signs of strptime.
	Strptime string
	// Clock says that there is a time of day.
	Clock bool
	// ShortYear says that years have two digits.
	ShortYear bool
}

type word struct {
	text, strptime, pattern, fixed string
	part                           string // what it says; each part is there once
}

// The longer of two words that begin alike comes first.
var words = []word{
	{"YYYY", "%Y", "[0-9]{4}", "[0-9]{4}", "year"},
	{"YY", "%y", "[0-9]{2}", "[0-9]{2}", "year"},
	{"MONTH", "%B", "[A-Za-z]{3,9}", "[A-Za-z]{3,9}", "month"},
	{"MON", "%b", "[A-Za-z]{3}", "[A-Za-z]{3}", "month"},
	{"MM", "%m", "[0-9]{1,2}", "[0-9]{2}", "month"},
	{"DD", "%d", "[0-9]{1,2}", "[0-9]{2}", "day"},
	{"HH24", "%H", "[0-9]{1,2}", "[0-9]{2}", "hour"},
	{"HH12", "%I", "[0-9]{1,2}", "[0-9]{2}", "hour of twelve"},
	{"MI", "%M", "[0-9]{1,2}", "[0-9]{2}", "minute"},
	{"SS", "%S", "[0-9]{1,2}", "[0-9]{2}", "second"},
	{"MS", "%g", "[0-9]{3}", "[0-9]{3}", "fraction"},
	{"US", "%f", "[0-9]{1,6}", "[0-9]{6}", "fraction"},
	{"AM", "%p", "[AaPp][Mm]", "[AaPp][Mm]", "half of the day"},
	{"PM", "%p", "[AaPp][Mm]", "[AaPp][Mm]", "half of the day"},
}

const knownWords = "YYYY, YY, MM, Mon, Month, DD, HH24, HH12, MI, SS, MS, US, AM, and signs between them"

// ParseMoment reads a template. Its error says what is wrong with it, as the end of a sentence.
func ParseMoment(text string) (Moment, error) {
	m, seen := Moment{}, map[string]bool{}
	var pattern, strptime strings.Builder
	last := false // whether the last word was digits, so that nothing tells the next from it
	for rest := text; rest != ""; {
		w, ok := nextWord(rest)
		if !ok {
			c := []rune(rest)[0]
			if letter(c) && !(c == 'T' && seen["day"]) {
				return m, fmt.Errorf("has the letter %q that is not a word of a template; the words are %s", c, knownWords)
			}
			pattern.WriteString(regexp.QuoteMeta(string(c)))
			strptime.WriteString(strings.ReplaceAll(string(c), "%", "%%"))
			last, rest = false, rest[len(string(c)):]
			continue
		}
		if seen[w.part] {
			return m, fmt.Errorf("says the %s twice", w.part)
		}
		seen[w.part] = true
		after, touches := nextWord(rest[len(w.text):])
		digits := strings.HasPrefix(w.pattern, "[0")
		if digits && (last || touches && strings.HasPrefix(after.pattern, "[0")) {
			pattern.WriteString(w.fixed)
		} else {
			pattern.WriteString(w.pattern)
		}
		strptime.WriteString(w.strptime)
		m.Clock, m.ShortYear = m.Clock || strings.HasPrefix(w.part, "hour"), m.ShortYear || w.text == "YY"
		last, rest = digits, rest[len(w.text):]
	}
	for _, part := range []string{"year", "month", "day"} {
		if !seen[part] {
			return m, fmt.Errorf("does not say where the %s is; a date is spelt as in DD.MM.YYYY", part)
		}
	}
	if seen["half of the day"] != seen["hour of twelve"] {
		return m, fmt.Errorf("needs HH12 and AM together, or HH24")
	}
	if seen["hour"] && seen["hour of twelve"] {
		return m, fmt.Errorf("says the hour twice")
	}
	m.Pattern, m.Strptime = pattern.String(), strptime.String()
	return m, nil
}

// nextWord returns the word at the beginning of a text, in letters of any case.
func nextWord(text string) (word, bool) {
	for _, w := range words {
		if len(text) >= len(w.text) && strings.EqualFold(text[:len(w.text)], w.text) {
			return w, true
		}
	}
	return word{}, false
}

func letter(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '"' || c < ' '
}

// Number is how numbers are spelt, by the example of 1234.56.
type Number struct {
	// Pattern is a regular expression that texts of this shape match as a whole. Where there are
	// signs between thousands they are there between all, or nowhere.
	Pattern string
	// Drop is the signs between thousands, and Mark is the decimal mark.
	Drop, Mark string
}

// blanks are what files have between thousands for a space: an ordinary one, one that does not
// break, and a narrow one.
const blanks = " \u00a0\u202f"

var number = regexp.MustCompile(`^1([.,' ’]?)234(?:([.,])56)?$`)

// ParseNumber reads an example: 1234.56, 1234,56, 1,234.56, 1.234,56, 1 234,56 or 1'234.56, and
// the same without 56 where there are whole numbers only. Its error is the end of a sentence.
func ParseNumber(text string, whole bool) (Number, error) {
	parts := number.FindStringSubmatch(text)
	if parts == nil || parts[1] != "" && parts[1] == parts[2] {
		return Number{}, errors.New("must be how 1234.56 is spelt in the file, such as 1234,56 or 1.234,56 or 1 234,56 or 1,234.56")
	}
	if whole && parts[2] != "" {
		return Number{},
			errors.New("has digits after the decimal mark, and the column's type is integer; write it as in 1.234, or make the " +
				"type decimal")
	}
	n := Number{Drop: parts[1], Mark: parts[2]}
	if n.Drop == " " {
		n.Drop = blanks
	}
	digits := "[0-9]+"
	if n.Drop != "" {
		digits = "([1-9][0-9]{0,2}([" + n.Drop + "][0-9]{3})+|[0-9]+)"
	}
	n.Pattern = `\s*[+-]?` + digits
	if n.Mark != "" {
		n.Pattern += "([" + n.Mark + "][0-9]*)?([eE][+-]?[0-9]{1,3})?"
	}
	n.Pattern += `\s*`
	return n, nil
}

type Truth struct{ Yes, No string }

// ParseTruth reads two words, as in ja/nein. Its error is the end of a sentence.
func ParseTruth(text string) (Truth, error) {
	yes, no, ok := strings.Cut(text, "/")
	yes, no = strings.TrimSpace(yes), strings.TrimSpace(no)
	if !ok || yes == "" || no == "" || strings.Contains(no, "/") || strings.EqualFold(yes, no) {
		return Truth{}, errors.New("must be the word for true and the word for false, as in yes/no")
	}
	return Truth{yes, no}, nil
}
