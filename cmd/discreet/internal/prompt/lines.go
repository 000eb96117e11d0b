package prompt

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

// LineReader is where the lines of a session come from.
type LineReader interface {
	// Read shows the prompt and returns a line without its end; ErrLineAborted after
	// Ctrl-C, and [io.EOF] after Ctrl-D.
	Read(prompt string) (string, error)
	// Remember makes a line one of those that the up key brings back.
	Remember(line string)
	Close() error
}

// ErrLineAborted is Ctrl-C at the prompt.
var ErrLineAborted = errors.New("the line was aborted")

// MaxLineBytes is the longest line without an editor. No question is as long.
const MaxLineBytes = 1 << 20

// plainReader reads lines from what is no terminal, or one that cannot move its cursor.
type plainReader struct {
	in  *bufio.Scanner
	out io.Writer
}

// NewPlainReader reads lines from what is no terminal, or one that cannot move its cursor.
func NewPlainReader(in io.Reader, out io.Writer) LineReader {
	s := bufio.NewScanner(in)
	s.Buffer(nil, MaxLineBytes)
	return &plainReader{s, out}
}

func (p *plainReader) Read(prompt string) (string, error) {
	fmt.Fprint(p.out, prompt)
	if p.in.Scan() {
		return p.in.Text(), nil
	}
	if err := p.in.Err(); err != nil {
		return "", err
	}
	return "", io.EOF
}

func (p *plainReader) Remember(string) {}
func (p *plainReader) Close() error    { return nil }

// editorReader reads lines from a terminal, with keys that move, history and completion.
type editorReader struct{ *liner.State }

// NewEditorReader takes the terminal until it is closed. The completer gets a line up to the
// cursor, and returns where the last word begins and what it could become.
func NewEditorReader(complete func(line string) (int, []string)) LineReader {
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

func (e editorReader) Read(prompt string) (string, error) {
	line, err := e.Prompt(prompt)
	switch {
	case errors.Is(err, liner.ErrPromptAborted):
		return "", ErrLineAborted
	case err != nil:
		return "", err
	case !utf8.ValidString(line):
		return strings.ToValidUTF8(line, "\ufffd"), nil
	}
	return line, nil
}

func (e editorReader) Remember(line string) { e.AppendHistory(line) }

// History is the file of what was typed before. Questions can tell what an analyst is
// after, or knows already, so nobody else may read it.
type History struct{ file *os.File }

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

// OpenHistory opens the file, which it makes, and returns its lines.
func OpenHistory() (h *History, lines []string, err error) {
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
	h = &History{f}
	if lines, err = h.read(); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return h, lines, nil
}

func (h *History) read() ([]string, error) {
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

// Add writes one line at once, so that nothing is lost when the session is killed.
func (h *History) Add(line string) error {
	if h == nil {
		return nil
	}
	_, err := h.file.WriteString(line + "\n")
	return err
}

// Close closes the file.
func (h *History) Close() error {
	if h == nil {
		return nil
	}
	return h.file.Close()
}
