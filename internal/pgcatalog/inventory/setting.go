package inventory

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

//go:embed settings.tsv
var settingsText string

// Setting is a setting of PostgreSQL's, as pg_settings has it.
type Setting struct {
	Name        string
	Value       string // where nobody has set it, in its unit
	Unit        string // ms, kB, 8kB and so on, or none
	Type        string // bool, integer, real, enum or string
	Context     string // who may set it: user for everybody
	Min, Max    string
	Values      []string // of an enum
	Category    string
	Description string
	Versions    string
}

// Settings are all settings, in the order of their names.
var Settings = readSettings()

var settingsByName = func() map[string]*Setting {
	m := map[string]*Setting{}
	for i := range Settings {
		m[strings.ToLower(Settings[i].Name)] = &Settings[i]
	}
	return m
}()

// FindSetting is a setting by its name in any letter case, or nil.
func FindSetting(name string) *Setting { return settingsByName[strings.ToLower(name)] }

func readSettings() (out []Setting) {
	for _, r := range records(settingsText) {
		s := Setting{Name: r[0], Value: r[1], Unit: r[2], Type: r[3], Context: r[4], Min: r[5], Max: r[6], Category: r[8],
			Description: r[9], Versions: r[10]}
		if r[7] != "" {
			s.Values = strings.Split(r[7], ",")
		}
		out = append(out, s)
	}
	return out
}

// Current reports whether PostgreSQL 15 has it, whose catalogue this is.
func (s *Setting) Current() bool { return s.Versions != "18" }

// scales are the units of sizes, in bytes, and of times, in microseconds: the largest first.
var scales = [][]struct {
	name string
	size float64
}{
	{{"TB", 1 << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}},
	{{"d", 86400e6}, {"h", 3600e6}, {"min", 60e6}, {"s", 1e6}, {"ms", 1e3}, {"us", 1}},
}

// unit is the scale that a unit is of, and how large it is there; 0 where it is none.
func unit(name string) (scale int, size float64) {
	for i, all := range scales {
		for _, u := range all {
			if u.name == name {
				return i, u.size
			}
		}
	}
	if count := strings.TrimRight(name, "kMB"); count != "" && count != name { // 8kB
		n, _ := strconv.ParseFloat(count, 64)
		_, size = unit(strings.TrimPrefix(name, count))
		return 0, n * size
	}
	return 0, 0
}

// Read reads a value as SET does, and returns it in the setting's unit.
func (s *Setting) Read(text string) (string, error) {
	switch s.Type {
	case "bool":
		return Switch(text)
	case "enum":
		if w := strings.ToLower(text); slices.Contains(s.Values, w) {
			return w, nil
		}
		if on, err := Switch(text); err == nil && slices.Contains(s.Values, on) {
			return on, nil
		}
		return "", fmt.Errorf("it can be %s", strings.Join(s.Values, ", "))
	case "integer", "real":
		return s.readNumber(strings.TrimSpace(text))
	}
	return text, nil
}

func (s *Setting) readNumber(text string) (string, error) {
	digits := strings.TrimLeft(text, "+-.0123456789")
	n, err := strconv.ParseFloat(text[:len(text)-len(digits)], 64)
	wrong := fmt.Errorf("it must be a number from %s to %s", s.Min, s.Max)
	if s.Unit != "" {
		example := []string{"64kB, 32MB or 1GB", "500ms, 30s or 5min"}[func() int { i, _ := unit(s.Unit); return i }()]
		wrong = fmt.Errorf("it must be a number from %s to %s in %s, or with a unit, such as %s", s.Min, s.Max, s.Unit, example)
	}
	if err != nil {
		return "", wrong
	}
	if given := strings.TrimSpace(digits); given != "" {
		scale, size := unit(given)
		own, ownSize := unit(s.Unit)
		if size == 0 || ownSize == 0 || scale != own {
			return "", wrong
		}
		n *= size / ownSize
	}
	if s.Type == "integer" {
		if n = math.Ceil(n); !(math.Abs(n) < 1<<53) {
			return "", wrong
		}
	}
	lo, _ := strconv.ParseFloat(s.Min, 64)
	hi, _ := strconv.ParseFloat(s.Max, 64)
	if !(n >= lo && n <= hi) {
		return "", wrong
	}
	return strconv.FormatFloat(n, 'f', -1, 64), nil
}

// Show writes a value as SHOW does: in the largest unit that leaves a whole number.
func (s *Setting) Show(value string) string {
	n, err := strconv.ParseFloat(value, 64)
	if s.Unit == "" || err != nil || n <= 0 {
		return value
	}
	scale, size := unit(s.Unit)
	for _, u := range scales[scale] {
		if whole := n * size / u.size; whole >= 1 && whole == math.Trunc(whole) {
			return strconv.FormatFloat(whole, 'f', -1, 64) + u.name
		}
	}
	return value + s.Unit
}

// Switch reads on and off as PostgreSQL does, but for abbreviations.
func Switch(text string) (string, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes", "1", "t", "y":
		return "on", nil
	case "off", "false", "no", "0", "f", "n":
		return "off", nil
	}
	return "", fmt.Errorf("it must be on or off")
}
