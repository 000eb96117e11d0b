package learn

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/detrand"
)

func someModels(t testing.TB) []*Model {
	var out []*Model
	for _, classes := range []int{0, 2, 3} {
		for _, b := range []Budget{{Epsilon: eps("0.9")}, {Epsilon: eps("0.3"), Delta: eps("1e-7")}, {Rho: 123456789123}} {
			for _, method := range []string{Output, Objective} {
				p := prepared(encoding(classes), Spec{Method: method, Budget: b, Evaluate: 987654321, Radius: 2}, Group{dp.Substitute, 2})
				m := fitted(p, randomTable(p, 300, 1), 1)
				out = append(out, m)
			}
		}
	}
	out[0].Receipt = &Receipt{Dataset: "d", Unit: "person", Neighbours: "substitute", Sequence: 1 << 60, Hash: "abc", DataVersion: 3}
	return out
}

func TestWriteAndRead(t *testing.T) {
	for _, m := range someModels(t) {
		var text, again bytes.Buffer
		if err := m.Write(&text); err != nil {
			t.Fatal(err)
		}
		back := must(ReadModel(bytes.NewReader(text.Bytes())))
		if !reflect.DeepEqual(back, m) {
			t.Errorf("%+v\nis read as\n%+v", m, back)
		}
		if err := back.Write(&again); err != nil || again.String() != text.String() {
			t.Errorf("%v, or the text differs", err)
		}
		for _, bad := range []string{"", "{}", "null", "[]", text.String() + "x", text.String() + text.String(),
			strings.Replace(text.String(), `"version": 1`, `"version": 2`, 1),
			strings.Replace(text.String(), `"version": 1`, `"version": 1, "more": 1`, 1),
			strings.Replace(text.String(), `"step": "1"`, `"step": "1e1000000000"`, 1),
			strings.Replace(text.String(), `"name": "age"`, `"name": "age", "more": 1`, 1),
			strings.Replace(text.String(), `"name": "age"`, `"name": "score"`, 1),
			strings.Replace(text.String(), `"weights": [`, `"weights": [[1],`, 1),
			strings.Replace(text.String(), `"neighbours": "sub`, `"neighbours": "x`, 1),
			strings.Replace(text.String(), `"method": "o`, `"method": "x`, 1),
			strings.Replace(text.String(), `"radius": `, `"radius": -`, 1),
		} {
			if bad == text.String() {
				t.Fatal("nothing was replaced")
			}
			if _, err := ReadModel(strings.NewReader(bad)); !errors.Is(err, ErrModel) {
				t.Errorf("%.40q: %v", bad, err)
			}
		}
	}
}

// TestCoefficients: the coefficients in units of the columns say what the model predicts.
func TestCoefficients(t *testing.T) {
	for _, m := range someModels(t) {
		dice := detrand.New("coefficients", 1)
		for range 20 {
			codes := randomRow(dice, m.Encoding)
			row, values := map[string]string{}, map[string]float64{}
			for i := range m.Encoding.Features {
				c := &m.Encoding.Features[i]
				if c.Categorical() {
					row[c.Name] = c.Values[codes[i]]
				} else {
					values[c.Name] = float64(codes[i]) * c.Unit()
					row[c.Name] = fmt.Sprint(values[c.Name])
				}
			}
			p := must(m.Predict(row))
			if same, err := m.PredictCodes(codes); err != nil || same.Class != p.Class || math.Abs(same.Value-p.Value) > 1e-4 {
				t.Errorf("%+v by codes, and %+v by text: %v", same, p, err)
			}
			scores := map[string]float64{}
			for _, c := range m.Coefficients() {
				switch {
				case c.Feature == "":
					scores[c.Class] += c.Weight
				case c.Value == "":
					scores[c.Class] += c.Weight * values[c.Feature]
				case c.Value == row[c.Feature]:
					scores[c.Class] += c.Weight
				}
				if (c.Deviation > 0) != (m.Method == Output) {
					t.Fatalf("%s: %+v", m.Method, c)
				}
			}
			target := &m.Encoding.Target
			switch {
			case !target.Categorical():
				want := math.Max(0, math.Min(100, scores[""]))
				if math.Abs(p.Value-want) > 1e-4 {
					t.Errorf("%v against %v", p.Value, want)
				}
			case len(target.Values) == 2:
				if z := scores[target.Values[1]]; math.Abs(1/(1+math.Exp(-z))-p.Scores[target.Values[1]]) > 1e-5 {
					t.Errorf("%v against %v", z, p.Scores)
				}
			default:
				for class, z := range scores {
					if z > scores[p.Class]+1e-6 {
						t.Errorf("%s with %v is not the best: %v", p.Class, class, scores)
					}
				}
			}
		}
		var text bytes.Buffer
		if err := m.WritePMML(&text); err != nil {
			t.Fatal(err)
		}
		var back struct {
			Model struct {
				Tables []struct {
					Numbers    []struct{} `xml:"NumericPredictor"`
					Categories []struct{} `xml:"CategoricalPredictor"`
				} `xml:"RegressionTable"`
			} `xml:"RegressionModel"`
		}
		if err := xml.Unmarshal(text.Bytes(), &back); err != nil || len(back.Model.Tables) != max(1, m.Encoding.Classes()) ||
			len(back.Model.Tables[0].Numbers) != 2 || len(back.Model.Tables[0].Categories) != 3 {
			t.Errorf("%v\n%s", err, text.String())
		}
	}
}

func TestPredict(t *testing.T) {
	m := someModels(t)[6]
	m.Encoding.Features[0].Kind = "date"
	good := map[string]string{"age": "1970-01-31", "colour": "red", "score": "3.5"}
	if _, err := m.Predict(good); err != nil {
		t.Error(err)
	}
	for column, texts := range map[string][]string{"age": {"x", "30", "NaN"}, "score": {"x", "NaN", "Inf", "1,5"}} {
		for _, text := range texts {
			row := map[string]string{"age": "", "colour": "", "score": "", column: text}
			if _, err := m.Predict(row); !errors.Is(err, ErrRow) {
				t.Errorf("%s %q: %v", column, text, err)
			}
			row[column] = ""
			if _, err := m.Predict(row); err != nil {
				t.Error(err)
			}
			delete(row, column)
			if _, err := m.Predict(row); !errors.Is(err, ErrRow) {
				t.Errorf("without %s: %v", column, err)
			}
		}
	}
	a, _ := m.Predict(map[string]string{"age": "2100-01-01", "colour": "none of them", "score": "1e300"})
	b, _ := m.Predict(map[string]string{"age": "1970-04-11", "colour": "", "score": "30"})
	if !reflect.DeepEqual(a, b) {
		t.Errorf("beyond the bounds: %+v against %+v", a, b)
	}
}
