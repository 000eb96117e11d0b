package spelling

import (
	"errors"
	"regexp"
	"strings"
)

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

// Truth is the words of a boolean.
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
