package catalog

import (
	"math"
	"strings"
	"unicode/utf8"
)

// These are the functions on parts of texts.
func init() {
	sub := func(s string, from, count int64) string {
		// Characters are counted from 1, and what is before the text counts too.
		end := int64(math.MaxInt64)
		if count < math.MaxInt64-max(from, 0) {
			end = from + count
		}
		n := int64(1)
		begin, stop := -1, len(s)
		for i := range s {
			if n >= end {
				stop = i
				break
			}
			if n >= from && begin < 0 {
				begin = i
			}
			n++
		}
		if begin < 0 || begin > stop {
			return ""
		}
		return s[begin:stop]
	}
	for _, name := range []string{"substring", "substr"} {
		define(name+"(text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
			return r.text(sub(a[0].(string), a[1].(int64), math.MaxInt64))
		})
		define(name+"(text,int4,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
			if a[2].(int64) < 0 {
				return nil, fail("22011", "negative substring length not allowed")
			}
			return r.text(sub(a[0].(string), a[1].(int64), a[2].(int64)))
		})
	}
	define("substring(text,text) text", func(r *run, a []any, _ []uint32) (any, error) {
		s := a[0].(string)
		re, err := r.patternFor("~", a[1].(string), s)
		if err != nil {
			return nil, err
		}
		m := re.FindStringSubmatchIndex(s)
		switch {
		case m == nil:
			return nil, nil
		case len(m) > 2 && m[2] < 0:
			return nil, nil
		case len(m) > 2:
			return r.text(s[m[2]:m[3]])
		}
		return r.text(s[m[0]:m[1]])
	})
	define("left(text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, n := a[0].(string), a[1].(int64)
		if n < 0 {
			n = max(0, int64(utf8.RuneCountInString(s))+n)
		}
		return r.text(sub(s, 1, n))
	})
	define("right(text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, n := a[0].(string), a[1].(int64)
		if n < 0 {
			return r.text(sub(s, 1-n, math.MaxInt64))
		}
		return r.text(sub(s, max(1, int64(utf8.RuneCountInString(s))-n+1), math.MaxInt64))
	})
	position := func(r *run, a []any, _ []uint32) (any, error) {
		s, part := a[0].(string), a[1].(string)
		i := strings.Index(s, part)
		if i < 0 {
			return int64(0), r.step(1 + len(s)/64)
		}
		return int64(utf8.RuneCountInString(s[:i])) + 1, r.step(1 + len(s)/64)
	}
	define("strpos(text,text) int4", position)
	define("position(text,text) int4", position)
	pad := func(left bool) func(r *run, a []any, _ []uint32) (any, error) {
		return func(r *run, a []any, _ []uint32) (any, error) {
			s, n, fill := a[0].(string), a[1].(int64), " "
			if len(a) > 2 {
				fill = a[2].(string)
			}
			have := int64(utf8.RuneCountInString(s))
			switch {
			case n <= 0:
				return "", nil
			case have >= n:
				return r.text(sub(s, 1, n))
			case fill == "":
				return s, nil
			case n > maxString/4:
				return nil, tooLong()
			}
			runes := []rune(fill)
			var b strings.Builder
			for i := range n - have {
				b.WriteRune(runes[int(i)%len(runes)])
			}
			if left {
				return r.text(b.String() + s)
			}
			return r.text(s + b.String())
		}
	}
	define("lpad(text,int4) text", pad(true))
	define("lpad(text,int4,text) text", pad(true))
	define("rpad(text,int4) text", pad(false))
	define("rpad(text,int4,text) text", pad(false))
	define("split_part(text,text,int4) text", func(r *run, a []any, _ []uint32) (any, error) {
		s, n := a[0].(string), a[2].(int64)
		if n == 0 {
			return nil, fail("22023", "field position must not be zero")
		}
		parts := []string{s}
		if sep := a[1].(string); sep != "" {
			if err := r.take(16 * strings.Count(s, sep)); err != nil {
				return nil, err
			}
			parts = strings.Split(s, sep)
		}
		if n < 0 {
			n = int64(len(parts)) + n + 1
		}
		if n < 1 || n > int64(len(parts)) {
			return "", nil
		}
		return r.text(parts[n-1])
	})
}
