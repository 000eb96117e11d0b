package traindemo

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/learn"
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
