package querycmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// history is the file of what was typed before. Questions can tell what an analyst is
// after, or knows already, so nobody else may read it.
type history struct{ file *os.File }

// What is kept: so many lines, from a file of at most this size.
const maxHistoryLines, maxHistoryBytes = 1000, 1 << 20

// historyPath follows the XDG rules: a path that is not absolute does not count.
func historyPath() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "discreet", "history"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, ".local", "state", "discreet", "history"), nil
}

// openHistory opens the file, which it makes, and returns its lines.
func openHistory() (h *history, lines []string, err error) {
	path, err := historyPath()
	if err != nil {
		return nil, nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	h = &history{f}
	if lines, err = h.read(); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return h, lines, nil
}

func (h *history) read() ([]string, error) {
	info, err := h.file.Stat()
	if err != nil || !info.Mode().IsRegular() { // people link it to /dev/null
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := h.file.Chmod(0o600); err != nil {
			return nil, err
		}
	}
	if info.Size() > maxHistoryBytes {
		if _, err := h.file.Seek(-maxHistoryBytes, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(h.file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && utf8.ValidString(line) {
			lines = append(lines, line)
		}
	}
	if len(lines) <= 2*maxHistoryLines && info.Size() <= maxHistoryBytes {
		return lines, nil
	}
	// It is shortened now and then, and not with every line.
	lines = lines[max(0, len(lines)-maxHistoryLines):]
	if err := h.file.Truncate(0); err != nil {
		return nil, err
	}
	_, err = h.file.WriteString(strings.Join(lines, "\n") + "\n")
	return lines, err
}

// add writes one line at once, so that nothing is lost when the session is killed.
func (h *history) add(line string) error {
	if h == nil {
		return nil
	}
	_, err := h.file.WriteString(line + "\n")
	return err
}

func (h *history) close() error {
	if h == nil {
		return nil
	}
	return h.file.Close()
}
