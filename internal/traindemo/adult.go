package traindemo

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/learn"
)

// adultEncoding is the encoding of the Adult data set (Becker, Kohavi 1996). Names and values are those of
// its documentation; bounds are what such numbers can be, and were not read from the data: ages up
// to 100, a week of up to 100 hours, and so on. Complete rows have no "Never-worked". With the
// intercept a model has 6 + 98 + 1 = 105 weights.
func adultEncoding() *learn.Encoding {
	one := big.NewRat(1, 1)
	number := func(name string, lo, hi int64) learn.Column {
		return learn.Column{Name: name, Lo: lo, Hi: hi, Step: one}
	}
	values := func(name, list string) learn.Column {
		return learn.Column{Name: name, Values: strings.Fields(list)}
	}
	return &learn.Encoding{
		Features: []learn.Column{
			number("age", 0, 100),
			values("workclass", "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay"),
			number("fnlwgt", 0, 1_500_000),
			values("education", "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th "+
				"10th Doctorate 5th-6th Preschool"),
			number("education-num", 1, 16),
			values("marital-status", "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse"),
			values("occupation", "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "+
				"Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces"),
			values("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
			values("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
			values("sex", "Female Male"),
			number("capital-gain", 0, 100_000),
			number("capital-loss", 0, 5_000),
			number("hours-per-week", 0, 100),
			values("native-country", "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan "+
				"Greece South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "+
				"Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand Yugoslavia "+
				"El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands"),
		},
		Target: values("income", "<=50K >50K"),
	}
}

// ReadAdult reads the complete rows of the Adult data set, from files as they are published,
// compressed with gzip or not.
func ReadAdult(files ...string) (*Data, error) {
	d := &Data{Name: "Adult", Encoding: adultEncoding()}
	for _, name := range files {
		if err := d.read(name); err != nil {
			return nil, err
		}
	}
	if len(d.Rows) == 0 {
		return nil, fmt.Errorf("%w: there is no complete row of the Adult data set in %s", ErrDemo, strings.Join(files, ", "))
	}
	return d, nil
}

// read adds the complete rows of a file.
func (d *Data) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDemo, err)
	}
	defer f.Close()
	in := bufio.NewReader(f)
	var text io.Reader = in
	if start, _ := in.Peek(2); string(start) == "\x1f\x8b" {
		if text, err = gzip.NewReader(in); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrDemo, name, err)
		}
	}
	n := 0
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		n++
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "|") { // the file of the test begins with a remark
			continue
		}
		if err := d.add(line); err != nil {
			return fmt.Errorf("%w: line %d of %s: %w", ErrDemo, n, name, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDemo, name, err)
	}
	return nil
}

// add adds a row, unless something is missing in it.
func (d *Data) add(line string) error {
	cells := strings.Split(line, ",")
	columns := append(slices.Clone(d.Encoding.Features), d.Encoding.Target)
	if len(cells) != len(columns) {
		return fmt.Errorf("there are %d values, and the Adult data set has %d columns", len(cells), len(columns))
	}
	if slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "?" }) {
		return nil
	}
	row := make([]int64, len(columns))
	for i, c := range columns {
		text := strings.TrimSpace(cells[i])
		if i == len(columns)-1 {
			text = strings.TrimSuffix(text, ".") // as the file of the test writes it
		}
		if !c.Categorical() {
			x, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return fmt.Errorf("%q is no whole number for %s", text, c.Name)
			}
			row[i] = min(max(x, c.Lo), c.Hi)
			continue
		}
		if row[i] = int64(slices.Index(c.Values, text)); row[i] < 0 {
			return fmt.Errorf("%q is none of the values of %s", text, c.Name)
		}
	}
	d.Rows = append(d.Rows, row)
	return nil
}
