package textfile

import (
	"regexp"
	"testing"
)

func TestMoment(t *testing.T) {
	for _, c := range []struct{ template, text, strptime string }{
		{"DD.MM.YYYY", "13.12.2020", "%d.%m.%Y"},
		{"DD.MM.YYYY", "3.4.2020", "%d.%m.%Y"},
		{"mm/dd/yyyy", "12/13/2020", "%m/%d/%Y"},
		{"YYYYMMDD", "20201213", "%Y%m%d"},
		{"DD Mon YYYY", "3 Dec 2020", "%d %b %Y"},
		{"DD.MM.YY", "13.12.20", "%d.%m.%y"},
		{"DD.MM.YYYY HH24:MI:SS.US", "13.12.2020 1:05:07.5", "%d.%m.%Y %H:%M:%S.%f"},
		{"YYYY-MM-DDTHH24:MI", "2020-12-13T10:00", "%Y-%m-%dT%H:%M"},
		{"MM/DD/YYYY HH12:MI AM", "12/13/2020 1:05 pm", "%m/%d/%Y %I:%M %p"},
	} {
		m, err := ParseMoment(c.template)
		if err != nil || m.Strptime != c.strptime || !regexp.MustCompile("^(?:"+m.Pattern+")$").MatchString(c.text) {
			t.Errorf("%s: %+v, %v", c.template, m, err)
		}
	}
	for template, text := range map[string]string{"DD.MM.YYYY": "13-12-2020", "YYYYMMDD": "2020123", "DD.MM.YY": "13.12.2020"} {
		if m, err := ParseMoment(template); err != nil || regexp.MustCompile("^(?:"+m.Pattern+")$").MatchString(text) {
			t.Errorf("%s takes %s: %v", template, text, err)
		}
	}
	for _, bad := range []string{"", "DD.MM", "DD.DD.YYYY", "%d.%m.%Y", "YYYY-MM-DD HH12:MI", "YYYY-MM-DD HH24 HH12 AM", "DDD.MM.YYYY",
		"TDD.MM.YYYY", "DD.MM.YYYY 5", "dd.mm.jjjj", "DD.MM.YYYY\n"} {
		if m, err := ParseMoment(bad); err == nil {
			t.Errorf("%q: %+v", bad, m)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		example, text string
		whole, fits   bool
	}{
		{"1.234,56", "1.234,56", false, true}, {"1.234,56", "-12,5", false, true}, {"1.234,56", "1234567,5", false, true},
		{"1.234,56", "1.5", false, false}, {"1.234,56", "1.23.456", false, false}, {"1.234,56", "1,234.5", false, false},
		{"1 234,56", "12\u00a0345,6", false, true}, {"1234,56", "3,5e2", false, true}, {"1234,56", "3.5", false, false},
		{"1,234", "1,234,567", true, true}, {"1,234", "1,23", true, false}, {"1'234.56", "1'234.5", false, true},
		{"1234.56", "1234.5", false, true}, {"1234.56", "NaN", false, false},
	} {
		n, err := ParseNumber(c.example, c.whole)
		if err != nil || regexp.MustCompile("^(?:"+n.Pattern+")$").MatchString(c.text) != c.fits {
			t.Errorf("%s, %s: %+v, %v", c.example, c.text, n, err)
		}
	}
	for _, bad := range []string{"", "1,234,56", "comma", "1.234,5", "1234,567"} {
		if n, err := ParseNumber(bad, false); err == nil {
			t.Errorf("%q: %+v", bad, n)
		}
	}
	if _, err := ParseNumber("1.234,56", true); err == nil {
		t.Error("a whole number with digits behind the mark")
	}
}

func TestTruth(t *testing.T) {
	if b, err := ParseTruth("ja/nein"); err != nil || b != (Truth{"ja", "nein"}) {
		t.Error(b, err)
	}
	for _, bad := range []string{"", "ja", "ja/", "/nein", "a/b/c", "x/X"} {
		if b, err := ParseTruth(bad); err == nil {
			t.Errorf("%q: %+v", bad, b)
		}
	}
}
