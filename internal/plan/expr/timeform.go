package expr

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

// patterns are the words of a form of times, as to_char has them, the longer ones first.
var patterns = []string{"HH24", "HH12", "HH", "MI", "SS", "MS", "US", "AM", "PM", "YYYY", "IYYY", "YY", "MONTH", "Month", "month", "MON",
	"Mon", "mon", "MM", "DAY", "Day", "day", "DDD", "DD", "DY", "Dy", "dy", "ID", "IW", "WW", "Q", "D", "W"}

// word is a part of a form: a pattern, or a text that stands for itself.
type word struct {
	pattern, text string
	fill          bool // FM: without spaces and zeros in front
}

// words takes a form apart. It is none where it has letters that mean nothing here.
func words(form string) ([]word, bool) {
	var out []word
	for form != "" {
		if rest, ok := strings.CutPrefix(form, `"`); ok { // a text in quotes
			quoted, after, _ := strings.Cut(rest, `"`)
			out, form = append(out, word{text: quoted}), after
			continue
		}
		w, rest := word{}, form
		if after, ok := strings.CutPrefix(rest, "FM"); ok {
			w.fill, rest = true, after
		}
		upper := strings.ToUpper(rest)
		for _, p := range patterns {
			// Names are written as the pattern is; of the others upper and lower case are one.
			if strings.HasPrefix(rest, p) || strings.ToUpper(p) == p && !named(p) && strings.HasPrefix(upper, p) {
				w.pattern = p
				break
			}
		}
		if w.pattern == "" {
			if c := form[0] | 0x20; c >= 'a' && c <= 'z' && c != 't' || strings.HasPrefix(form, "TZ") {
				return nil, false
			}
			w = word{text: form[:1]}
			rest = form
		}
		out, form = append(out, w), rest[max(1, len(w.pattern)):]
		if n := len(out); n > 1 && w.pattern == "SS" && out[n-2].pattern == "SS" { // SSSS, the seconds of a day
			return nil, false
		}
	}
	return out, true
}

// named reports whether a pattern is the name of a month or a day.
func named(p string) bool {
	return slices.Contains([]string{"MONTH", "MON", "DAY", "DY"}, strings.ToUpper(p))
}

// readForm reads a time by a form.
func readForm(text, form string) (tree.Moment, bool) {
	t := struct{ year, month, day, hour, minute, second, micros int }{year: 1, month: 1, day: 1}
	number := func(width int, into *int) bool {
		n := 0
		for n < len(text) && n < width && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		v, err := strconv.Atoi(text[:n])
		*into, text = v, text[n:]
		return err == nil
	}
	all, ok := words(form)
	for _, w := range all {
		switch w.pattern {
		case "":
			// Whatever separates may be separated by something else.
			if text != "" && w.text != "" && (text[0] < '0' || text[0] > '9') {
				text = text[min(len(text), len(w.text)):]
			}
		case "YYYY":
			ok = ok && number(4, &t.year)
		case "MM":
			ok = ok && number(2, &t.month)
		case "DD":
			ok = ok && number(2, &t.day)
		case "HH24":
			ok = ok && number(2, &t.hour)
		case "MI":
			ok = ok && number(2, &t.minute)
		case "SS":
			ok = ok && number(2, &t.second)
		case "US", "MS":
			before, width := len(text), map[string]int{"US": 6, "MS": 3}[w.pattern]
			ok = ok && number(width, &t.micros)
			for n := before - len(text); n < 6 && n > 0; n++ {
				t.micros *= 10
			}
		case "MON", "Mon", "mon", "MONTH", "Month", "month":
			t.month, text = readMonth(text, len(w.pattern) == 3)
		default:
			ok = false
		}
	}
	at := time.Date(t.year, time.Month(t.month), t.day, t.hour, t.minute, t.second, t.micros*1000, time.UTC)
	exact := at.Year() == t.year && int(at.Month()) == t.month && at.Day() == t.day && at.Hour() == t.hour && at.Minute() == t.minute &&
		at.Second() == t.second
	return tree.Moment(at.UnixMicro()), ok && exact && strings.TrimSpace(text) == "" && t.year >= 1 && t.year <= 9999
}

func readMonth(text string, short bool) (int, string) {
	for m := time.January; m <= time.December; m++ {
		name := m.String()
		if short {
			name = name[:3]
		}
		if len(text) >= len(name) && strings.EqualFold(text[:len(name)], name) {
			return int(m), text[len(name):]
		}
	}
	return 0, text
}
