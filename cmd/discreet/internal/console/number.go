package console

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/discreet-dp/discreet/dp"
)

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

// Shorten cuts a text.
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
