package policy

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	plainWord = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*([./ -][A-Za-z0-9_]+)*$`)
	// These words are something other than text to one version of YAML or another.
	notWords = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"}
)

// scalar writes a text as YAML that every YAML reader takes for that text. Whatever
// is not plainly a word is put in double quotes, where the escapes of Go are YAML's.
func scalar(text string) string {
	if plainWord.MatchString(text) && !slices.Contains(notWords, strings.ToLower(text)) {
		return text
	}
	return strconv.Quote(text)
}

// pathScalar writes a path, which needs quotes only where one of its ends does.
func pathScalar(near, far string) string {
	path := near + " -> " + far
	if plainWord.MatchString(near) && plainWord.MatchString(far) {
		return path
	}
	return strconv.Quote(path)
}

// listScalar writes a list of texts in one line.
func listScalar(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = scalar(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
