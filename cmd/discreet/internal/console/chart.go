package console

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/discreet-dp/discreet/internal/chart"
)

// CanSave refuses a file that cannot be written before the work, which takes seconds, and not after
// it.
func CanSave(file string) error {
	if _, err := ChartFormat(file); err != nil {
		return err
	}
	return CanWrite(file)
}

// CanWrite refuses a file in a folder that is not there.
func CanWrite(file string) error {
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !dir.IsDir() {
		return Misuse(fmt.Errorf("%s: there is no such folder; write to one that there is", ShellQuote(filepath.Dir(file))))
	}
	if at, err := os.Stat(file); err == nil && at.IsDir() {
		return Misuse(fmt.Errorf("%s is a folder: write to a file", ShellQuote(file)))
	}
	return nil
}

// SaveChart makes the file whole or not at all.
func SaveChart(file string, drawn chart.Chart) (err error) {
	draw, err := ChartFormat(file)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".discreet-plot-*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", ShellQuote(file), err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	err = errors.Join(draw(drawn, f), f.Chmod(0o644), f.Close())
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", ShellQuote(file), err)
	}
	if err = os.Rename(f.Name(), file); err != nil {
		return fmt.Errorf("%s cannot be written: %w", ShellQuote(file), err)
	}
	return nil
}

// ChartFormat returns how a file is written.
func ChartFormat(file string) (func(chart.Chart, *os.File) error, error) {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".svg":
		return func(c chart.Chart, f *os.File) error { return c.SVG(f) }, nil
	case ".png":
		return func(c chart.Chart, f *os.File) error { return c.PNG(f) }, nil
	}
	return nil, Misuse(fmt.Errorf("%s: write to a file that ends in .svg or .png", ShellQuote(file)))
}

// maxCurvePoints is how many places a curve is computed at.
const maxCurvePoints = 48

// CurvePoints are the numbers of queries at which the curves are computed: all, or closer
// together at the beginning, where the curves bend; on a logarithmic axis as far apart
// as they look.
func CurvePoints(times int, log bool) (out []int) {
	for i := 1; i <= maxCurvePoints; i++ {
		part := float64(i) / maxCurvePoints
		k := int(math.Round(float64(times) * part * math.Sqrt(part)))
		switch {
		case times <= maxCurvePoints:
			k = i
		case log:
			k = int(math.Round(math.Pow(float64(times), part)))
		}
		if k >= 1 && k <= times && (len(out) == 0 || k > out[len(out)-1]) {
			out = append(out, k)
		}
	}
	if out[0] != 1 {
		out = append([]int{1}, out...)
	}
	return out
}

// DrawChart writes a picture to a file, where one is wanted, and says so.
func DrawChart(s Screen, file string, drawn chart.Chart, quiet bool) error {
	if file == "" {
		return nil
	}
	if err := SaveChart(file, drawn); err != nil {
		return err
	}
	if !quiet {
		fmt.Fprintf(s.Out, "wrote %s\n", file)
	}
	return nil
}
