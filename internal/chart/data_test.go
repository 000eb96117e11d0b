package chart

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the results into testdata instead of comparing them")

// TestData draws the samples as text. A file of testdata has the name of a sample and
// holds cases separated by lines of ====, each the columns and lines of a terminal, and
// the word ascii if it knows no more, a line of ----, and the chart.
func TestData(t *testing.T) {
	for _, sample := range samples {
		t.Run(sample.name, func(t *testing.T) {
			file := filepath.Join("testdata", sample.name+".txt")
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cases := strings.Split(string(text), "====\n")
			for i, c := range cases {
				head, want, _ := strings.Cut(c, "----\n")
				var size Terminal
				if _, err := fmt.Sscan(head, &size.Width, &size.Height); err != nil {
					t.Fatalf("case %d: %v", i, err)
				}
				size.ASCII = strings.Contains(head, "ascii")
				var b strings.Builder
				if err := sample.chart.Text(&b, size); err != nil {
					t.Fatal(err)
				}
				if *rewrite {
					cases[i] = head + "----\n" + b.String()
				} else if got := b.String(); got != want {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", head, got, want)
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(strings.Join(cases, "====\n")), 0o666); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
