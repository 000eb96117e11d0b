package querycmd

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

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
