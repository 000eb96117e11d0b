package labels

import (
	"strconv"
	"strings"
	"testing"
)

// A million predictions: read, checked, named and scored.
func BenchmarkScore(b *testing.B) {
	const n = 1_000_000
	for _, steps := range []int64{1, 1000} {
		b.Run(strconv.FormatInt(steps, 10), func(b *testing.B) {
			var file strings.Builder
			file.WriteString("label\n")
			values := make([]string, n)
			for i := range values {
				values[i] = strconv.FormatFloat(float64(int64(i)*7919%(steps+1))/float64(steps), 'f', -1, 64)
				file.WriteString(values[i] + "\n")
			}
			l, err := Read(strings.NewReader(file.String()), Spec{Column: "label", Steps: steps})
			if err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for range b.N {
				c, err := l.Check(Predictions{Values: values})
				if err != nil {
					b.Fatal(err)
				}
				c.Key()
				if _, err := l.Score(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
