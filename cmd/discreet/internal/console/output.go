package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/lab/chart"
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

// PrintJSON prints an object with a line for each of its keys, so that a person
// can read it too.
func PrintJSON(w io.Writer, v any) error {
	members, err := objectMembers(v)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	separator := "{\n  "
	for _, m := range members {
		out.WriteString(separator + m.name + ": ")
		out.Write(m.value)
		separator = ",\n  "
	}
	out.WriteString("\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

// member is one of an object: its key, in quotes, and its value.
type member struct {
	name  string
	value json.RawMessage
}

// objectMembers returns the members of an object in their order.
func objectMembers(v any) (all []member, err error) {
	var compact bytes.Buffer
	e := json.NewEncoder(&compact)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	in := json.NewDecoder(&compact)
	if _, err := in.Token(); err != nil { // the opening brace
		return nil, err
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return nil, err
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		m := member{name: string(name)}
		if err := in.Decode(&m.value); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Ordered is an object of which only some keys are shown, in an order that a person reads them in.
type Ordered struct {
	Object any
	Keys   []string
}

func (o Ordered) MarshalJSON() ([]byte, error) {
	all, err := objectMembers(o.Object)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, key := range o.Keys {
		for _, m := range all {
			if m.name == strconv.Quote(key) {
				out = append(out, m.name+":"+string(m.value))
			}
		}
	}
	return []byte("{" + strings.Join(out, ",") + "}"), nil
}

// RoundOutward writes a number with so many digits, rounded to the given side; a number
// that these digits hold up to 1e-12 of it is written with them.
func RoundOutward(x float64, digits int, up bool) string {
	text := strconv.FormatFloat(x, 'g', digits, 64)
	for by := 1e-17; by < 1; by *= 2 {
		y, err := strconv.ParseFloat(text, 64)
		slack := 1e-12 * math.Abs(x)
		if err != nil || up && y >= x-slack || !up && y <= x+slack {
			return text
		}
		next := x + by*x
		if !up {
			next = x - by*x
		}
		text = strconv.FormatFloat(next, 'g', digits, 64)
	}
	return text
}

// Thousands writes a large number with commas.
func Thousands(n float64) string {
	text := strconv.FormatFloat(n, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Decimal is an amount as it was written.
func Decimal(a dp.Amount) float64 {
	f, err := strconv.ParseFloat(a.Short(), 64)
	if err != nil {
		return a.Float()
	}
	return f
}

func Shorten(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Timestamp shows a time of a record.
func Timestamp(t time.Time) string { return t.UTC().Format(time.DateTime) }

// Plural counts something, in the words for one and for many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Claim returns the claim that an account is read by: its epsilon, or its rho.
func Claim(byEpsilon bool, c dp.Cost) dp.Amount {
	if byEpsilon {
		return c.Epsilon
	}
	return c.Rho
}

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
		return Misuse(fmt.Errorf("%s: this folder does not exist; create it or name another", ShellQuote(filepath.Dir(file))))
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

// PrintColoured writes a table whose rows have colours.
func PrintColoured(w io.Writer, text string, colours []string) {
	const header = 2
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if i >= header && i-header < len(colours) && colours[i-header] != "" {
			line = colours[i-header] + line + "\x1b[0m"
		}
		fmt.Fprintln(w, line)
	}
}
