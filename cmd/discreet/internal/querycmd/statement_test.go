package querycmd

import (
	"slices"
	"strings"
	"testing"
)

func TestStatements(t *testing.T) {
	for _, c := range []struct {
		text string
		done []string
		rest string
		open bool
	}{
		{"", nil, "", false},
		{" \n-- nothing; at all\n/* ; */ ;;", nil, "", false},
		{"SELECT 1", nil, "SELECT 1", false},
		{"SELECT 1;", []string{"SELECT 1"}, "", false},
		{"a; b;\nc", []string{"a", " b"}, "\nc", false},
		{"a 'x;y' ; b", []string{"a 'x;y' "}, " b", false},
		{"a 'it''s;' ; b", []string{"a 'it''s;' "}, " b", false},
		{`a '\' ; b`, []string{`a '\' `}, " b", false},
		{`a E'\';' ; b`, []string{`a E'\';' `}, " b", false},
		{`a ce'\' ; b`, []string{`a ce'\' `}, " b", false},
		{`a "x;""y" ; b`, []string{`a "x;""y" `}, " b", false},
		{"a $$;$$ ; b", []string{"a $$;$$ "}, " b", false},
		{"a $t$;$$;$t$ ; b", []string{"a $t$;$$;$t$ "}, " b", false},
		{"a $1; b$x$; c", []string{"a $1", " b$x$"}, " c", false},
		{"a /* ; /* ; */ ; */ ; b", []string{"a /* ; /* ; */ ; */ "}, " b", false},
		{"a -- ;\n; b", []string{"a -- ;\n"}, " b", false},
		{"a 'x; b", nil, "a 'x; b", true},
		{`a; "x; b`, []string{"a"}, ` "x; b`, true},
		{"a /* ; b", nil, "a /* ; b", true},
		{"/* ; b", nil, "/* ; b", true},
		{"a $x$ ; b $y$", nil, "a $x$ ; b $y$", true},
		{"\xff; é;", []string{"\xff", " é"}, "", false},
		{"$", nil, "$", false},
		{"E'", nil, "E'", true},
		{`E'\`, nil, `E'\`, true},
	} {
		done, rest, open := splitStatements(c.text)
		if !slices.Equal(done, c.done) || rest != c.rest || open != c.open {
			t.Errorf("%q is %q, %q, %t", c.text, done, rest, open)
		}
	}
}

// Tokens are pieces of the text, in order, whatever the text is.
func FuzzTokens(f *testing.F) {
	for _, s := range []string{"SELECT 'a;' -- b\n; c", "$a$ $b$", `E'\'' "x`, "/* /* */", "1.5e-3..x$1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, _ := splitTokens(text)
		end := 0
		for _, x := range all {
			if x.start < end || x.end <= x.start || x.end > len(text) || x.text != text[x.start:x.end] {
				t.Fatalf("%q has the token %+v", text, x)
			}
			end = x.end
		}
		done, rest, _ := splitStatements(text)
		if n := len(strings.Join(done, "")) + len(rest); n > len(text) {
			t.Fatalf("%q became longer: %q, %q", text, done, rest)
		}
		if one, ok := oneLine(text); ok {
			if strings.ContainsAny(one, "\r\n") {
				t.Fatalf("%q is the lines %q", text, one)
			}
			again, _ := splitTokens(one)
			if !slices.EqualFunc(all, again, func(a, b token) bool { return a.kind == b.kind && a.text == b.text }) {
				t.Fatalf("%q means something else in one line: %q", text, one)
			}
		}
		start, _ := completer{}.complete(strings.TrimPrefix(text, `\`), 0)
		if start < 0 || start > len(text) {
			t.Fatalf("%q is completed at %d", text, start)
		}
		if _, err := readSettingCommand(text); err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
	})
}
