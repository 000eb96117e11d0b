package books

import (
	"testing"

	"github.com/discreet-dp/discreet/dp"
)

// TestNumbersOfPromises: every number is on the side that promises less.
func TestNumbersOfPromises(t *testing.T) {
	for text, want := range map[string]string{
		factor(dp.One): "2.72", factor(parse("0.1")): "1.11", factor(3 * dp.One): "20.1", factor(5 * dp.One): "149",
		factor(10 * dp.One): "22,027", factor(100 * dp.One): "10^44", factor(1 << 38): "1.29",
		oneIn(parse("1e-6")): "1,000,000", oneIn(parse("0.003")): "333", oneIn(parse("7e-7")): "1,420,000",
		upTo(parse("0.3"), 4): "0.3", upTo(parse("3.14159"), 4): "3.142", upTo(parse("3.1411"), 4): "3.142",
		upTo(parse("1e-6"), 4): "1e-06", upTo(0, 4): "0", upTo(parse("99.999"), 4): "100",
	} {
		if text != want {
			t.Errorf("got %s; want %s", text, want)
		}
	}
}

func parse(text string) dp.Amount {
	a, err := dp.Parse(text)
	if err != nil {
		panic(err)
	}
	return a
}
