package model

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
)

// WritePMML writes the model as a RegressionModel of PMML 4.4, which many programs read. Numbers
// beyond their bounds count as the bound and missing numbers as the middle there too. PMML cannot
// clip rows to a radius. For classes that changes scores and no class, so the document has scores
// and no probabilities where rows are clipped; a model of a number that clips is refused.
func (m *Model) WritePMML(w io.Writer) error {
	clips := m.Radius < maxRowLength(m.Encoding)*(1-1e-9)
	if clips && !m.Encoding.Target.Categorical() {
		return fmt.Errorf("%w: rows are clipped to a length of %.4g, which PMML cannot do; train with a radius of %.4g, or use "+
			"discreet predict", ErrPMML, m.Radius, maxRowLength(m.Encoding))
	}
	doc := pmml{Version: "4.4", Space: "http://www.dmg.org/PMML-4_4", Copyright: m.Guarantee.Words}
	doc.Model.Name, doc.Model.Function, doc.Model.Method = "discreet", "classification", "none"
	if m.Loss == "logistic" && !clips {
		doc.Model.Method = "logit"
	}
	if !m.Encoding.Target.Categorical() {
		doc.Model.Function = "regression"
	}
	for i := range m.Encoding.Features {
		c := &m.Encoding.Features[i]
		doc.Fields = append(doc.Fields, c.pmml())
		f := pmmlMining{Name: c.Name, Invalid: "asMissing"}
		if !c.Categorical() {
			f.Outliers, f.Low, f.High, f.Missing = "asExtremeValues", c.amount(float64(c.Lo)), c.amount(float64(c.Hi)), c.amount(c.Middle())
			f.Invalid = ""
		}
		doc.Model.Mining = append(doc.Model.Mining, f)
	}
	doc.Fields = append(doc.Fields, m.Encoding.Target.pmml())
	doc.Model.Mining = append(doc.Model.Mining, pmmlMining{Name: m.Encoding.Target.Name, Usage: "target"})
	for _, c := range m.Coefficients() {
		if c.Feature == "" {
			doc.Model.Tables = append(doc.Model.Tables, pmmlTable{Target: c.Class, Intercept: c.Weight})
			continue
		}
		t := &doc.Model.Tables[len(doc.Model.Tables)-1]
		if c.Value != "" || m.categorical(c.Feature) {
			t.Categories = append(t.Categories, pmmlCategory{c.Feature, c.Value, c.Weight})
		} else {
			t.Numbers = append(t.Numbers, pmmlNumber{c.Feature, c.Weight})
		}
	}
	if len(m.Weights) == 1 && m.Encoding.Target.Categorical() {
		doc.Model.Tables = append(doc.Model.Tables, pmmlTable{Target: m.Encoding.Target.Values[0]})
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", " ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (m *Model) categorical(name string) bool {
	for i := range m.Encoding.Features {
		if c := &m.Encoding.Features[i]; c.Name == name {
			return c.Categorical()
		}
	}
	return false
}

// amount is a number of steps in the column's unit, as PMML writes it.
func (c *Column) amount(steps float64) string { return fmt.Sprint(steps * c.Unit()) }

func (c *Column) pmml() pmmlField {
	f := pmmlField{Name: c.Name, Kind: "continuous", Type: "double"}
	if c.Categorical() {
		f.Kind, f.Type = "categorical", "string"
	}
	for _, v := range c.Values {
		f.Values = append(f.Values, pmmlValue{v})
	}
	return f
}

type pmml struct {
	XMLName   xml.Name    `xml:"PMML"`
	Version   string      `xml:"version,attr"`
	Space     string      `xml:"xmlns,attr"`
	Copyright string      `xml:"Header>Annotation"`
	Fields    []pmmlField `xml:"DataDictionary>DataField"`
	Model     pmmlModel   `xml:"RegressionModel"`
}

type pmmlField struct {
	Name   string      `xml:"name,attr"`
	Kind   string      `xml:"optype,attr"`
	Type   string      `xml:"dataType,attr"`
	Values []pmmlValue `xml:"Value"`
}

type pmmlValue struct {
	Value string `xml:"value,attr"`
}

type pmmlModel struct {
	Name     string       `xml:"modelName,attr"`
	Function string       `xml:"functionName,attr"`
	Method   string       `xml:"normalizationMethod,attr"`
	Mining   []pmmlMining `xml:"MiningSchema>MiningField"`
	Tables   []pmmlTable  `xml:"RegressionTable"`
}

type pmmlMining struct {
	Name     string `xml:"name,attr"`
	Usage    string `xml:"usageType,attr,omitempty"`
	Outliers string `xml:"outliers,attr,omitempty"`
	Low      string `xml:"lowValue,attr,omitempty"`
	High     string `xml:"highValue,attr,omitempty"`
	Missing  string `xml:"missingValueReplacement,attr,omitempty"`
	Invalid  string `xml:"invalidValueTreatment,attr,omitempty"`
}

type pmmlTable struct {
	Intercept  float64        `xml:"intercept,attr"`
	Target     string         `xml:"targetCategory,attr,omitempty"`
	Numbers    []pmmlNumber   `xml:"NumericPredictor"`
	Categories []pmmlCategory `xml:"CategoricalPredictor"`
}

type pmmlNumber struct {
	Name        string  `xml:"name,attr"`
	Coefficient float64 `xml:"coefficient,attr"`
}

type pmmlCategory struct {
	Name        string  `xml:"name,attr"`
	Value       string  `xml:"value,attr"`
	Coefficient float64 `xml:"coefficient,attr"`
}

// maxRowLength is how long a row can be: a number is from -1 to 1, a value is one 1, and so is the
// intercept.
func maxRowLength(e *Encoding) float64 { return math.Sqrt(float64(len(e.Features) + 1)) }
