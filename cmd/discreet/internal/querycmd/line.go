package querycmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/peterh/liner"
)

// lineReader is where the lines of a session come from.
type lineReader interface {
	// read shows the prompt and returns a line without its end; errLineAborted after
	// Ctrl-C, and [io.EOF] after Ctrl-D.
	read(prompt string) (string, error)
	// remember makes a line one of those that the up key brings back.
	remember(line string)
	close() error
}

var errLineAborted = errors.New("the line was aborted")

// maxLineBytes is the longest line without an editor. No question is as long.
const maxLineBytes = 1 << 20

// plainReader reads lines from what is no terminal, or one that cannot move its cursor.
type plainReader struct {
	in  *bufio.Scanner
	out io.Writer
}

func newPlainReader(in io.Reader, out io.Writer) *plainReader {
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxLineBytes)
	return &plainReader{s, out}
}

func (p *plainReader) read(prompt string) (string, error) {
	fmt.Fprint(p.out, prompt)
	if p.in.Scan() {
		return p.in.Text(), nil
	}
	if err := p.in.Err(); err != nil {
		return "", err
	}
	return "", io.EOF
}

func (p *plainReader) remember(string) {}
func (p *plainReader) close() error    { return nil }

// editorReader reads lines from a terminal, with keys that move, history and completion.
type editorReader struct{ *liner.State }

// newEditorReader takes the terminal until close. The completer gets a line up to the cursor, and
// returns where the last word begins and what it could become.
func newEditorReader(complete func(line string) (int, []string)) editorReader {
	s := liner.NewLiner()
	s.SetCtrlCAborts(true)
	s.SetTabCompletionStyle(liner.TabPrints)
	s.SetMultiLineMode(true)
	s.SetBeep(false)
	s.SetWordCompleter(func(line string, pos int) (string, []string, string) {
		// The editor counts letters, and not bytes.
		letters := []rune(line)
		before, after := string(letters[:pos]), string(letters[pos:])
		start, words := complete(before)
		return before[:start], words, after
	})
	return editorReader{s}
}

func (e editorReader) read(prompt string) (string, error) {
	line, err := e.Prompt(prompt)
	switch {
	case errors.Is(err, liner.ErrPromptAborted):
		return "", errLineAborted
	case err != nil:
		return "", err
	case !utf8.ValidString(line):
		return strings.ToValidUTF8(line, "\ufffd"), nil
	}
	return line, nil
}

func (e editorReader) remember(line string) { e.AppendHistory(line) }
func (e editorReader) close() error         { return e.Close() }
