// Package traindemo measures what private training gives, on data that nobody has to be protected
// in: rows that are made up ([Made]), or the Adult census of 1994 from files of the reader
// ([ReadAdult]).
//
// [Sweep] trains by every method at every price, on several random parts of the rows, and says how
// often the models are wrong about the others. [Promise] puts what the theorems promise beside what
// is observed. Both see exact errors, which is why they are for data like this and for nobody's
// own. Rows, parts and noise come from internal/detrand: the same seed gives the same numbers.
package traindemo

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
)

// ErrDemo is returned for a demonstration that makes no sense, or files that hold something else.
var ErrDemo = errors.New("this cannot be demonstrated")

// Data is rows of codes, as an engine hands them to a training: one for each feature, and the
// target's at the end.
type Data struct {
	Name     string
	Encoding *learn.Encoding
	Rows     [][]int64
}

// Split deals the rows at random into those to train on, four of five, and those to test with. The
// rows themselves are shared.
func (d *Data) Split(seed uint64) (train, test *Data) {
	order := make([]int, len(d.Rows))
	dice := detrand.New("split "+d.Name, seed)
	for i := range order {
		order[i] = i
		j := dice.Below(i + 1)
		order[i], order[j] = order[j], order[i]
	}
	train, test = &Data{Name: d.Name, Encoding: d.Encoding}, &Data{Name: d.Name, Encoding: d.Encoding}
	for at, i := range order {
		if at*5 < len(order)*4 {
			train.Rows = append(train.Rows, d.Rows[i])
		} else {
			test.Rows = append(test.Rows, d.Rows[i])
		}
	}
	return train, test
}

// Weights is how many weights a model of the data has, the intercept's among them.
func (d *Data) Weights() int {
	n := 1
	for i := range d.Encoding.Features {
		n += max(1, len(d.Encoding.Features[i].Values))
	}
	return n
}

// table fills a plan's table.
func (d *Data) table(p *learn.Plan) *learn.Table {
	t := p.NewTable()
	for _, row := range d.Rows {
		t.Add(row)
	}
	return t
}

// refuseUnusable refuses data that nothing can be measured on.
func (d *Data) refuseUnusable() error {
	if len(d.Rows) < 100 {
		return fmt.Errorf("%w: there are %d rows; take 100 or more", ErrDemo, len(d.Rows))
	}
	if len(d.Encoding.Target.Values) != 2 {
		return fmt.Errorf("%w: the target has %d classes; the demonstration is for two", ErrDemo, len(d.Encoding.Target.Values))
	}
	return nil
}

// adultEncoding is the encoding of the Adult data set (Becker, Kohavi 1996). Names and values are
// those of its documentation; bounds are what such numbers can be, and were not read from the data:
// ages up to 100, a week of up to 100 hours, and so on. Complete rows have no "Never-worked". With
// the intercept a model has 6 + 98 + 1 = 105 weights.
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
		return nil, fmt.Errorf("%w: %s has no complete row of the Adult data set", ErrDemo, strings.Join(files, ", "))
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
		return fmt.Errorf("there are %d values, but the Adult data set has %d columns", len(cells), len(columns))
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
				return fmt.Errorf("%q is not a whole number for %s", text, c.Name)
			}
			row[i] = min(max(x, c.Lo), c.Hi)
			continue
		}
		if row[i] = int64(slices.Index(c.Values, text)); row[i] < 0 {
			return fmt.Errorf("%q is not one of the values of %s", text, c.Name)
		}
	}
	d.Rows = append(d.Rows, row)
	return nil
}

// The values of the made-up town.
var (
	jobNames    = []string{"clerk", "cook", "driver", "farmer", "manager", "nurse", "seller", "teacher", "technician", "none"}
	schoolNames = []string{"primary", "secondary", "trade", "college", "university"}
	homeNames   = []string{"alone", "couple", "family", "shared", "parents"}
	regionNames = []string{"north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west", "centre",
		"islands", "hills", "coast"}
)

// MakeTown makes up a town: four numbers, of which one is zero for almost everybody, and four
// categories, and whether somebody earns much, which goes with them. A model has 37 weights. Two in
// five earn much, and the best model is wrong about one in six.
func MakeTown(rows int, seed uint64) (*Data, error) {
	if rows < 100 || rows > 2_000_000 {
		return nil, fmt.Errorf("%w: you asked for %d rows; make up from 100 to 2000000", ErrDemo, rows)
	}
	one := big.NewRat(1, 1)
	d := &Data{Name: "made-up town", Encoding: &learn.Encoding{
		Features: []learn.Column{
			{Name: "age", Lo: 0, Hi: 100, Step: one},
			{Name: "hours", Lo: 0, Hi: 80, Step: one},
			{Name: "savings", Lo: 0, Hi: 1000, Step: one},
			{Name: "years", Lo: 0, Hi: 50, Step: one},
			{Name: "job", Values: jobNames},
			{Name: "school", Values: schoolNames},
			{Name: "home", Values: homeNames},
			{Name: "region", Values: regionNames},
		},
		Target: learn.Column{Name: "earns", Values: []string{"little", "much"}},
	}}
	dice := detrand.New("made-up town", seed)
	for range rows {
		d.Rows = append(d.Rows, makeInhabitant(dice))
	}
	return d, nil
}

func makeInhabitant(d detrand.Choices) []int64 {
	// The first values of a category are more frequent than the last.
	category := func(n int) int64 { return int64(min(d.Below(n), d.Below(n))) }
	age := int64(18 + d.Below(30) + d.Below(30))
	years := min(50, int64(d.Below(int(age)-15)))
	hours := int64(10 + d.Below(26) + d.Below(26))
	savings := int64(0)
	if d.One(10) {
		savings = int64(d.Below(500) + d.Below(500))
	}
	job, school, home, region := category(len(jobNames)), category(len(schoolNames)), category(len(homeNames)), category(len(regionNames))
	z := 0.05*float64(hours-35) + 0.03*float64(age-45) - 0.0012*float64((age-45)*(age-45))/10 + 0.06*float64(years-14) +
		0.006*float64(savings)
	z += []float64{-0.6, -1.5, -0.4, -1.8, 2.4, 0.3, -0.9, 0.6, 0.8, -3}[job] + []float64{-1.2, -0.7, 0, 0.9, 2}[school] +
		[]float64{-0.4, 0.9, 0.5, -0.6, -1.6}[home]
	z += 0.3*math.Sin(float64(region)) - 0.2
	earns := int64(0)
	if float64(d.Below(1<<20)) < (1<<20)/(1+math.Exp(-1.2*z)) {
		earns = 1
	}
	return []int64{age, hours, savings, years, job, school, home, region, earns}
}

// CSV writes the rows as people see them, with the number of each person in front; the target only
// where it is wanted.
func (d *Data) CSV(w io.Writer, person string, target bool) error {
	columns := append(d.Encoding.Features[:len(d.Encoding.Features):len(d.Encoding.Features)], d.Encoding.Target)
	if !target {
		columns = columns[:len(columns)-1]
	}
	out := bufio.NewWriter(w)
	out.WriteString(person)
	for _, c := range columns {
		out.WriteString("," + c.Name)
	}
	out.WriteByte('\n')
	for n, row := range d.Rows {
		out.WriteString(strconv.Itoa(n + 1))
		for i, c := range columns {
			if c.Categorical() {
				out.WriteString("," + c.Values[row[i]])
			} else {
				out.WriteString("," + strconv.FormatInt(row[i], 10))
			}
		}
		out.WriteByte('\n')
	}
	return out.Flush()
}

// Policy is a policy for the rows as a table of a name, in a folder.
func (d *Data) Policy(table, person, folder, budget string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "datasets:\n  %s:\n    engine: duckdb\n    source: %s\n    unit: %s.%s\n    budget: %s\n    analysts: {ana: {share: "+
		"1}}\n    tables:\n      %s:\n        unique: %s\n        columns:\n",
		table, folder, table, person, budget, table, person)
	for _, c := range append(d.Encoding.Features[:len(d.Encoding.Features):len(d.Encoding.Features)], d.Encoding.Target) {
		if c.Categorical() {
			fmt.Fprintf(&b, "          %s: {type: text, keys: [%s]}\n", c.Name, strings.Join(c.Values, ", "))
		} else {
			fmt.Fprintf(&b, "          %s: {type: integer, bounds: [%d, %d]}\n", c.Name, c.Lo, c.Hi)
		}
	}
	return b.String()
}
