package textfile

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestScan(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct{ name, text, want, copied string }{
		{"plain", "i,s\n1,a\n2,b\n", "2 rows", "i,s\n1,a\n2,b\n"},
		{"mark, Windows, no end", "\ufeffi,s\r\n1,a\r\n2,b", "2 rows", "i,s\r\n1,a\r\n2,b\n"},
		{"too few", "i,s\n1,a\n2\n3,c\n", "2 rows, line 3 has 1 values, but the header has 2", "i,s\n1,a\n3,c\n"},
		{"too many", "i,s\n1,a,x\n3,c\n", "1 rows, line 2 has 3 values, but the header has 2", "i,s\n3,c\n"},
		{"delimiters at the end", "i,s\n1,a,,\n3,c\n", "2 rows", "i,s\n1,a\n3,c\n"},
		{"encoding", "i,s\n1,\xff\n3,c\n", "1 rows, line 2 is not UTF-8", "i,s\n3,c\n"},
		{"carriage return", "i,s\n1,a\rb\n3,\"a\rb\"\n", "1 rows, line 2 has a carriage return inside", "i,s\n3,\"a\rb\"\n"},
		{"length", "i,s\n1," + long + "\n3,c\n", "1 rows, line 2 is longer than 2000000 bytes", "i,s\n3,c\n"},
		{"quotes", "i,s\n1,\"a,\"\"b\"\"\nc\"\n2\n", "1 rows, line 4 has 1 values, but the header has 2", "i,s\n1,\"a,\"\"b\"\"\nc\"\n"},
		{"quotes inside", "i,s\n1,5'11\"\n2,a\"b\"\n", "2 rows", "i,s\n1,5'11\"\n2,a\"b\"\n"},
		{"quote without end", "i,s\n1,a\n2,\"b\n3,c\n", "1 rows, BROKEN line 3 has a quote that is not closed", ""},
		{"a quote swallows", "i,s\n2,\"b\n3,\"c\"\n", "0 rows, BROKEN line 3 has something between a closing quote and the next " +
			"delimiter", ""},
		{"blanks beside quotes", " \"i\" ,s\n 1, \"a,\"\"b\n\"  ,,\r\n2, x\"", "2 rows", "\"i\",s\n 1,\"a,\"\"b\n\"\r\n2, x\"\n"},
		{"empty lines", "i,s\n\n1,a\n\n", "1 rows", "i,s\n\n1,a\n\n"},
		{"a return too many", "i,s\r\n1,a\r\n\r\r\n2,b\r\r\n3,c\r\n\r", "2 rows, line 3 has 1 values, but the header has 2, line 4 has " +
			"a carriage return inside", "i,s\r\n1,a\r\n3,c\r\n\r\n"},
		{"an empty value and a return too many", "i\r\n1\r\n\r\r\n2\r\n", "2 rows, line 3 has a carriage return inside",
			"i\r\n1\r\n2\r\n"},
		{"after lines in quotes", "i,s\n1,\"a\nb\",\r\r\n2,\"a\nb\"\r\n", "1 rows, line 2 has 3 values, but the header has 2",
			"i,s\n2,\"a\nb\"\r\n"},
		{"between a quote and a return", "i,s\n1,\"a\nb\"\r\r\n2,c\n", "0 rows, BROKEN line 3 has something between a closing quote " +
			"and the next delimiter", ""},
		{"nothing", "", "0 rows", ""},
		{"many", "i,s\n" + strings.Repeat("1\n", 9), "0 rows, line 2 has 1 values, but the header has 2, line 3 has 1 values, but " +
			"the header has 2, line 4 has 1 values, but the header has 2, line 5 has 1 values, but the header has 2, line 6 has 1 " +
			"values, but the header has 2, 9 bad", "i,s\n"},
	} {
		var copied bytes.Buffer
		r, err := Scan(strings.NewReader(c.text), Shape{Delimiter: ','}, &copied)
		if got := show(r); err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
		if r.Broken == nil && copied.String() != c.copied {
			t.Errorf("%s: copied %.80q", c.name, copied.String())
		}
	}
}

func show(r Report) string {
	out := fmt.Sprintf("%d rows", r.Rows)
	for _, l := range r.First {
		out += ", " + l.String()
	}
	if r.Bad > Named {
		out += fmt.Sprintf(", %d bad", r.Bad)
	}
	if r.Broken != nil {
		out += ", BROKEN " + r.Broken.String()
	}
	return out
}

// What has a delimiter of several bytes is copied with another one, and then means the same.
func TestCopied(t *testing.T) {
	for text, want := range map[string]string{
		"i¦s\n1¦a\r\n":                       "i,s\n1,a\r\n",
		"i¦\"s\"\n\"a\"\"¦\n\" ¦x\n":         "i,\"s\"\n\"a\"\"¦\n\",x\n",
		"i¦s\n1,2¦a\"b\n ¦\n\"\"¦ \"b\"¦¦\n": "i,s\n\"1,2\",\"a\"\"b\"\n ,\n\"\",\"b\"\n",
	} {
		var copied bytes.Buffer
		shape := Shape{Delimiter: '¦'}
		r, err := Scan(strings.NewReader(text), shape, &copied)
		if err != nil || r.Broken != nil || r.Bad > 0 || !r.Rewritten || copied.String() != want || shape.Copied().Delimiter != ',' {
			t.Errorf("%q: %q, %+v, %v", text, copied.String(), r, err)
		}
		again, err := Scan(strings.NewReader(want), shape.Copied(), nil)
		if err != nil || again.Rows != r.Rows || again.Bad > 0 || again.Rewritten {
			t.Errorf("%q: %+v, %v", want, again, err)
		}
	}
}

// Without quotes every line is a row by itself, whatever is in it.
func TestUnquoted(t *testing.T) {
	r, err := Scan(strings.NewReader("i¦s\n1¦\"a\n2¦b\"x\n3\n"), Shape{Delimiter: '¦', Unquoted: true}, nil)
	if got := show(r); err != nil || got != "2 rows, line 4 has 1 values, but the header has 2" {
		t.Error(got, err)
	}
}

// Every byte is a character, wherever a buffer of the reader ends and whatever stands beside it.
func TestEncodings(t *testing.T) {
	all := "x"
	for b := 0x80; b < 0x100; b++ {
		all += string([]byte{byte(b)})
	}
	line, end := "1,"+all+"\n", 1<<15
	file := "h\xf6,s\n" + strings.Repeat(line, end/len(line)*2) + "2\n"
	for encoding, want := range map[Encoding]string{Latin1: "\u0080\u0081\u0082", Windows1252: "€\u0081‚"} {
		var copied bytes.Buffer
		r, err := Scan(iotest.OneByteReader(strings.NewReader(file)), Shape{Delimiter: ',', Encoding: encoding}, &copied)
		lines := strings.Split(copied.String(), "\n")
		if err != nil || r.Bad != 1 || !r.Rewritten || r.Rows != int64(len(lines)-2) || lines[0] != "hö,s" ||
			!strings.Contains(lines[1], want) {
			t.Errorf("%s: %+v, %v, %.20q", encoding, r, err, lines)
		}
		for _, l := range lines[1 : len(lines)-1] {
			if l != lines[1] {
				t.Fatalf("%s: %q is read as %q", encoding, line, l)
			}
		}
		whole, err := io.ReadAll(encoding.Reader(strings.NewReader(file)))
		if err != nil || strings.TrimSuffix(string(whole), "2\n") != copied.String() {
			t.Errorf("%s: where buffers end decides: %v", encoding, err)
		}
	}
}

// A line that one person adds, and whose quotes are as they should be, takes no other line away and
// adds none: where it stands, the others are judged as before.
func TestOneLineDecidesAboutItselfAlone(t *testing.T) {
	others := []string{"1,a\n", "2\n", "3,\"x\ny\"\n", "4,\xff\n", "5,\"q\"\"q\"\n"}
	count := func(lines []string) Report {
		r, err := Scan(strings.NewReader("i,s\n"+strings.Join(lines, "")), Shape{Delimiter: ','}, nil)
		if err != nil || r.Broken != nil {
			t.Fatal(r, err)
		}
		return r
	}
	before := count(others)
	for _, line := range []string{"7,a\n", "7\n", "7,a,b,c\n", "7,\"\n,,\n\"\n", "7,\xff\n", "7,a\"\n", "7,a\rb\n"} {
		for i := range len(others) + 1 {
			with := append(append(append([]string{}, others[:i]...), line), others[i:]...)
			after := count(with)
			if after.Rows+after.Bad != before.Rows+before.Bad+1 {
				t.Errorf("%q at %d: %+v, before %+v", line, i, after, before)
			}
		}
	}
}
