package architecture

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Message is a text in the source that a person may see: a refusal, a note, help, a line of the
// log, a label of the page.
type Message struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// notForPeople are folders whose texts only developers see.
var notForPeople = []string{"internal/test", "internal/architecture", "internal/server/web/dist", "benchmarks", "dist", "site"}

// Messages returns the texts of a tree that people may see, in Go, in the page's TypeScript, in
// Python and in R, without those of tests. What has fewer than three words is a name more often
// than a message, and is left out; so is SQL.
func Messages(dir string) ([]Message, error) {
	var all []Message
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if name == "." {
				return nil
			}
			skipped := slices.Contains([]string{"testdata", "tests", "node_modules", "vendor"}, d.Name())
			if skipped || d.Name()[0] == '.' || slices.Contains(notForPeople, name) {
				return fs.SkipDir
			}
			return nil
		}
		read := readerOf(name)
		if read == nil {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		found, err := read(name, text)
		all = append(all, found...)
		return err
	})
	return all, err
}

func readerOf(name string) func(name string, text []byte) ([]Message, error) {
	switch base := filepath.Base(name); {
	case strings.HasSuffix(name, "_test.go") || strings.HasPrefix(base, "test_"):
		return nil
	case strings.HasSuffix(name, ".go"):
		return goMessages
	case strings.HasSuffix(name, ".ts"), strings.HasSuffix(name, ".tsx"), strings.HasSuffix(name, ".R"):
		return quotedMessages
	case strings.HasSuffix(name, ".py") && strings.HasPrefix(name, "python/src/"):
		return quotedMessages
	}
	return nil
}

// goMessages reads constant texts, of which several may be added up, and the help of flags.
func goMessages(name string, text []byte) ([]Message, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out []Message
	say := func(p token.Pos, text string) {
		if isMessage(text) {
			out = append(out, Message{name, set.Position(p).Line, text})
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				say(n.Tag.Pos(), reflect.StructTag(tag).Get("help"))
				say(n.Tag.Pos(), reflect.StructTag(tag).Get("doc"))
			}
			return n.Tag == nil
		case *ast.BinaryExpr:
			if text, ok := constantText(n); ok {
				say(n.Pos(), text)
				return false
			}
		case *ast.BasicLit:
			if text, ok := constantText(n); ok {
				say(n.Pos(), text)
			}
		}
		return true
	})
	return out, nil
}

// constantText returns the text of an expression; ... stands for a part that is not constant.
func constantText(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		l, left := constantText(e.X)
		r, right := constantText(e.Y)
		switch {
		case left && right:
			return l + r, true
		case left:
			return l + "...", true
		case right:
			return "..." + r, true
		}
	}
	return "", false
}

var (
	quoted  = regexp.MustCompile("\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`[^`]*`|>[^<>{}=;()]+<")
	comment = regexp.MustCompile(`(?m)^\s*(?://|#).*$|/\*(?s:.*?)\*/`)
	aWord   = regexp.MustCompile(`[A-Za-z]{2,}`)
	sqlText = regexp.MustCompile(`^\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|GRANT|REVOKE|BEGIN|COMMIT|SET|CALL|LOCK|COPY|PRAGMA|ATTACH|` +
		`FROM|WHERE|GROUP BY|ORDER BY|JOIN|LEFT JOIN|VALUES|CASE|CAST|AND|OR|SHOW|DECLARE|EXPLAIN|TRUNCATE|RETURNING|LIMIT|DO)\b`)
)

// quotedMessages reads what stands in quotes, and between tags.
func quotedMessages(name string, text []byte) ([]Message, error) {
	text = comment.ReplaceAllFunc(text, func(c []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(c, []byte("\n"))) })
	var out []Message
	for _, at := range quoted.FindAllIndex(text, -1) {
		found := strings.Join(strings.Fields(strings.Trim(string(text[at[0]:at[1]]), "\"'`<>")), " ")
		if isMessage(found) {
			out = append(out, Message{name, 1 + bytes.Count(text[:at[0]], []byte("\n")), found})
		}
	}
	return out, nil
}

func isMessage(text string) bool {
	plain := len(aWord.FindAllString(text, 3)) > 2 && strings.Contains(strings.TrimSpace(text), " ")
	return plain && !sqlText.MatchString(text) && strings.ContainsFunc(text, func(r rune) bool { return 'a' <= r && r <= 'z' })
}
