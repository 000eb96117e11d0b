package labels

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func readLabels(text string, s Spec) *Labels { return must(Read(strings.NewReader(text), s)) }

func TestScore(t *testing.T) {
	for _, c := range []struct {
		file   string
		spec   Spec
		values string
		ids    string
		want   int64
	}{
		{"label\n1\n0\n1\n1\n", Spec{Column: "label", Steps: 1}, "1 0 0 1", "", 3},
		{"label\n1\n0\n1\n1\n", Spec{Column: "label", Steps: 1}, "1.0 0e0 +1 01", "", 4},
		{"label\r\ncat\r\ndog\r\n\"a, b\"\r\n", Spec{Column: "label", Steps: 1}, "cat cat cat", "", 1},
		{"label\ncat\ndog\n", Spec{Column: "label", Steps: 1}, "unheard-of Cat", "", 0},
		{"x,label\n9, cat \n8,dog\n", Spec{Column: "label", Steps: 1}, "cat dog", "", 2},
		{"id,label\na,1\nb,0\nc,1\n", Spec{Column: "label", ID: "id", Steps: 1}, "1 1 1", "c b a", 2},
		{"id,label\na,1\nb,0\nc,0\n", Spec{Column: "label", ID: "id", Steps: 1}, "0 0 1", "c b a", 3},
		{"label\n0.25\n1\n0\n", Spec{Column: "label", Steps: 100}, "0.25 0.5 1", "", 100 + 50 + 0},
		{"label\n0.25\n", Spec{Column: "label", Steps: 4}, "0.374999", "", 4},
		{"label\n0.25\n", Spec{Column: "label", Steps: 4}, "0.375", "", 3}, // up from the middle
		{"\xef\xbb\xbflabel\n1\n", Spec{Column: "label", Steps: 1, Size: 1}, "1", "", 1},
	} {
		l := readLabels(c.file, c.spec)
		checked, err := l.Check(Predictions{strings.Fields(c.values), strings.Fields(c.ids)})
		if err != nil {
			t.Errorf("%q %q: %v", c.file, c.values, err)
			continue
		}
		v, err := l.Score(checked)
		if err != nil || v.Len() != 1 || v.Open()[0] != c.want {
			t.Errorf("%q %q: %v %v, want %d", c.file, c.values, v.Open(), err, c.want)
		}
	}
}

// One label moves a score by at most Steps, and nothing else about the labels is seen: neither the
// check nor the key nor what is printed.
func TestNeighbours(t *testing.T) {
	for _, steps := range []int64{1, 4} {
		spec := Spec{Column: "label", ID: "id", Steps: steps}
		for _, other := range []string{"0", "0.25", "0.5", "1"} {
			a, b := readLabels("id,label\nx,1\ny,0\nz,1\n", spec), readLabels("id,label\nx,"+other+"\ny,0\nz,1\n", spec)
			for _, p := range []Predictions{
				{[]string{"1", "0", "0"}, []string{"x", "y", "z"}},
				{[]string{"0.5", "0", "0"}, []string{"z", "y", "x"}},
				{[]string{"0.5", "0"}, []string{"z", "y"}},
				{[]string{"0.5", "0", "1"}, []string{"z", "y", "y"}},
				{[]string{"0.5", "0", "1"}, []string{"z", "y", "w"}},
				{[]string{"2", "0", "cat"}, []string{"z", "y", "x"}},
				{[]string{"", "0", "1"}, []string{"z", "y", "x"}},
				{[]string{"1", "0", "1"}, nil},
			} {
				ca, erra := a.Check(p)
				cb, errb := b.Check(p)
				if fmt.Sprint(erra) != fmt.Sprint(errb) {
					t.Errorf("%v: %v against %v", p, erra, errb)
				}
				if erra != nil {
					if !errors.As(erra, new(*PredictionsError)) {
						t.Errorf("%v: %T", p, erra)
					}
					continue
				}
				if ca.Key() != cb.Key() {
					t.Errorf("%v: the key depends on labels", p)
				}
				va, _ := a.Score(ca)
				vb, _ := b.Score(cb)
				if d := va.Open()[0] - vb.Open()[0]; d > steps || d < -steps {
					t.Errorf("%v: one label moves the score by %d", p, d)
				}
				if _, err := a.Score(cb); err != errOther {
					t.Error("predictions for other labels are scored")
				}
			}
		}
	}
	l := readLabels("label\nextraordinary\nextraordinary\n", Spec{Column: "label", Steps: 1})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if text := fmt.Sprintf(verb, l) + fmt.Sprintf(verb, *l); strings.Contains(text, "extraordinary") {
			t.Errorf("%s shows a label: %s", verb, text)
		}
	}
}

func TestKey(t *testing.T) {
	l := readLabels("id,label\nx,1\ny,0\n", Spec{Column: "label", ID: "id", Steps: 1})
	key := func(values, ids string) string {
		c := must(l.Check(Predictions{strings.Fields(values), strings.Fields(ids)}))
		return c.Key()
	}
	if key("1 0", "x y") != key("0.0 1.00", "y x") {
		t.Error("the order or the spelling is in the key")
	}
	seen := map[string]string{}
	for _, values := range []string{"1 0", "0 1", "1 1", "0 0", "10 0", "1 00x", "a b", "ab c", "a bc"} {
		k := key(values, "x y")
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have one key", values, other)
		}
		seen[k] = values
	}
}

// What is wrong with a file is said to the owner without a value.
func TestFileErrors(t *testing.T) {
	for _, c := range []struct {
		file string
		spec Spec
		want string
	}{
		{"", Spec{Column: "label", Steps: 1}, "it is empty"},
		{"label\n", Spec{Column: "label", Steps: 1}, "has no rows"},
		{"secret\nsecret\n", Spec{Column: "label", Steps: 1}, `no column "label"`},
		{"label\nsecret\n", Spec{Column: "label", ID: "id", Steps: 1}, `no column "id"`},
		{"label\nsecret\n", Spec{Column: "label", ID: "label", Steps: 1}, "both"},
		{"label\nsecret\n\nsecret\n", Spec{Column: "label", Steps: 1}, "line 3 is empty"},
		{"label,x\nsecret,1\n,2\n", Spec{Column: "label", Steps: 1}, "the label in line 3 is missing"},
		{"label\nsecret\nsecret,2\n", Spec{Column: "label", Steps: 1}, "line 3: wrong number of fields"},
		{"label\nse\"cret\n", Spec{Column: "label", Steps: 1}, "line 2"},
		{"label\nsecret\n", Spec{Column: "label", Steps: 10}, "the label in line 2 is not a number from 0 to 1"},
		{"label\n0.5\n1.5\n", Spec{Column: "label", Steps: 10}, "the label in line 3 is not a number from 0 to 1"},
		{"label\n0.5\n0.55\n", Spec{Column: "label", Steps: 10}, "the label in line 3 is not a multiple of 1/10"},
		{"id,label\nsecret,1\nsecret,1\n", Spec{Column: "label", ID: "id", Steps: 1}, "the identifier in line 3 appears twice"},
		{"id,label\n,1\n", Spec{Column: "label", ID: "id", Steps: 1}, "the identifier in line 2 is missing"},
		{"label\nsecret\nsecret\n", Spec{Column: "label", Steps: 1, Size: 3}, "has 2 rows, but the policy says 3"},
		{"label\n" + strings.Repeat("secret", 50) + "\n", Spec{Column: "label", Steps: 1}, "the label in line 2 is longer"},
		{"label\nsecret\xff\n", Spec{Column: "label", Steps: 1}, "the label in line 2 is not UTF-8"},
		{"label\n1\n", Spec{Column: "label"}, "steps"},
	} {
		_, err := Read(strings.NewReader(c.file), c.spec)
		if !errors.As(err, new(*FileError)) || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(strings.ToLower(err.Error()), "secret") || strings.Contains(err.Error(), "0.55") {
			t.Errorf("%q: %v, want %s", c.file, err, c.want)
		}
	}
	if _, err := load(filepath.Join(t.TempDir(), "none.csv"), Spec{Column: "label", Steps: 1}); !errors.As(err, new(*FileError)) {
		t.Error(err)
	}
}

func TestReadPredictions(t *testing.T) {
	for _, c := range []struct {
		file, id   string
		values     string
		ids, wrong string
	}{
		{"1\n0\n1\n", "", "1 0 1", "", ""},
		{"prediction\n1\n0\n", "", "1 0", "", ""},
		{"label\n1\n0\n", "", "1 0", "", ""},
		{"x,Prediction\n9,1\n8,0\n", "", "1 0", "", ""},
		{"9,1\n8,0\n", "", "", "", "none is called prediction"},
		{"id,prediction\na,1\nb,0\n", "id", "1 0", "a b", ""},
		{"prediction,id\n1,a\n0,b\n", "id", "1 0", "a b", ""},
		{"1\n0\n", "id", "", "", "must name their columns"},
		{"1\n\n0\n", "", "", "", "line 2 is empty"},
		{"id,prediction\na,1\nb\n", "id", "", "", "cannot be read"},
		{"", "", "", "", ""},
	} {
		p, err := ReadPredictions(strings.NewReader(c.file), "label", c.id)
		if c.wrong != "" {
			if !errors.As(err, new(*PredictionsError)) || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q: %v, want %s", c.file, err, c.wrong)
			}
			continue
		}
		if err != nil || strings.Join(p.Values, " ") != c.values || strings.Join(p.IDs, " ") != c.ids {
			t.Errorf("%q: %v, %v", c.file, p, err)
		}
	}
}

func TestStore(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "labels.tsv.gz")
	write := func(text string, at int) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write([]byte(text))
		z.Close()
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(int64(1_000_000+at), 0)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	s := NewStore(path, Spec{Column: "label", Steps: 1})
	if _, err := s.Labels(); err == nil {
		t.Error("a file that is not there was read")
	}
	write("id\tlabel\n1\tyes\n2\tno\n", 0)
	a, err := s.Labels()
	if err != nil || a.Size() != 2 {
		t.Fatal(err)
	}
	write("id\tlabel\n1\tyes\n2\tno\n", 1)
	if b, err := s.Labels(); b != a || err != nil {
		t.Error("the same contents are other labels", err)
	}
	write("id\tlabel\n1\tno\n2\tno\n", 2)
	b, err := s.Labels()
	if err != nil || b == a || b.Version() == a.Version() {
		t.Error("another file is the same labels", err)
	}
	write("id\tlabel\n1\n", 3)
	if _, err := s.Labels(); err == nil {
		t.Error("a broken file was read")
	}
}

// FuzzRead looks for files that make the reader fail.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"label\n1\n0\n", "id,label\na,1\nb,0.5\n", "label\n\n", "\"la\nbel\",label\n1,2\n", "id\tlabel\na\t1\n",
		"\xef\xbb\xbflabel\r\n1\r\n"} {
		f.Add(text, int64(1))
		f.Add(text, int64(4))
	}
	f.Fuzz(func(t *testing.T, text string, steps int64) {
		for _, id := range []string{"", "id"} {
			l, err := Read(strings.NewReader(text), Spec{Column: "label", ID: id, Steps: steps})
			if err != nil {
				if !errors.As(err, new(*FileError)) {
					t.Errorf("%T", err)
				}
				continue
			}
			p, err := ReadPredictions(strings.NewReader(text), "label", id)
			if err != nil {
				continue // a file of labels need not be one of predictions
			}
			c, err := l.Check(p)
			if err != nil {
				if !errors.As(err, new(*PredictionsError)) {
					t.Errorf("%T", err)
				}
				continue
			}
			// What predicts the labels themselves is perfect.
			if v, err := l.Score(c); err != nil || v.Open()[0] != l.Size()*steps {
				t.Errorf("%q: %v of %d, %v", text, v.Open(), l.Size()*steps, err)
			}
		}
	})
}

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
			l := must(Read(strings.NewReader(file.String()), Spec{Column: "label", Steps: steps}))
			b.ResetTimer()
			for range b.N {
				c := must(l.Check(Predictions{Values: values}))
				c.Key()
				if _, err := l.Score(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
