package streamcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/cmd/discreet/internal/console"
)

// questionFile is a file of questions, one a line.
type questionFile struct {
	file  string
	texts []string
	lines []int // where each stands
}

const (
	// maxQuestionBytes is how long a line may be: as long as a question.
	maxQuestionBytes = 64 << 10
	// maxQuestions is what fits into memory without thinking about it.
	maxQuestions = 10_000_000
)

// readWorkload reads the questions of a file, or of standard input: at most limit of them, where
// that is above 0. Empty lines and those that begin with # are none.
func readWorkload(in io.Reader, file string, limit int) (*questionFile, error) {
	w := &questionFile{file: console.ShellQuote(file)}
	if file == "-" {
		w.file = "standard input"
	} else {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, console.Misuse(fmt.Errorf("%s: there is no such file", w.file))
		} else if err != nil {
			return nil, console.Misuse(fmt.Errorf("%s: %w", w.file, errors.Unwrap(err)))
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, console.Misuse(fmt.Errorf("%s is a folder: name a file of questions, one a line", w.file))
		}
		in = f
	}
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, maxQuestionBytes)
	for n := 1; scan.Scan(); n++ {
		text := scan.Text()
		if n == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		text = strings.TrimSpace(text)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		if !utf8.ValidString(text) {
			return nil, w.atLine(n, console.Misuse(errors.New("this is not UTF-8; store the file as UTF-8")))
		}
		if len(w.texts) == maxQuestions {
			return nil, console.Misuse(fmt.Errorf("%s: there are more than %d questions; replay the first of them with --limit",
				w.file, maxQuestions))
		}
		w.texts, w.lines = append(w.texts, text), append(w.lines, n)
		if len(w.texts) == limit {
			break
		}
	}
	if err := scan.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, console.Misuse(fmt.Errorf("%s: the line after the first %d questions is longer than %d bytes; "+
			"write one condition a line", w.file, len(w.texts), maxQuestionBytes))
	} else if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", w.file, err)
	}
	if len(w.texts) == 0 {
		return nil, console.Misuse(fmt.Errorf("%s: there is no question in it; write one condition a line, "+
			"such as sex = 'F' AND age >= 30", w.file))
	}
	return w, nil
}

// lineError says which line of a file is wrong.
type lineError struct {
	file string
	line int
	error
}

func (e *lineError) Error() string { return fmt.Sprintf("%s, line %d: %v", e.file, e.line, e.error) }
func (e *lineError) Unwrap() error { return e.error }

func (w *questionFile) atLine(line int, err error) error { return &lineError{w.file, line, err} }

// locate says on which line a question stands that cannot be asked.
func (w *questionFile) locate(err error) error {
	var bad *api.WorkloadError
	if !errors.As(err, &bad) || bad.Index < 0 || bad.Index >= len(w.texts) {
		return err
	}
	return w.atLine(w.lines[bad.Index], console.Locate(bad.Err, w.texts[bad.Index]))
}
