package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// WriteFile writes to a file that appears when it is whole, or not at all; or to the screen, where
// no file is named. What is there and is no plain file, such as /dev/null or a pipe, is written to
// and never replaced.
func WriteFile(out io.Writer, file string, write func(io.Writer) error) (err error) {
	if file == "" {
		return write(out)
	}
	if at, err := os.Stat(file); err == nil && !at.Mode().IsRegular() {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("%s cannot be written: %w", ShellQuote(file), err)
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".discreet-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", ShellQuote(file), err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err = write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err = errors.Join(f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", ShellQuote(file), err)
	}
	return nil
}
