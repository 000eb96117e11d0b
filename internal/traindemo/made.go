package traindemo

import (
	"fmt"
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/detrand"
	"github.com/discreet-dp/discreet/learn"
)

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
		return nil, fmt.Errorf("%w: %d rows are asked for; make up from 100 to 2000000", ErrDemo, rows)
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

// makeInhabitant makes up one row.
func makeInhabitant(d detrand.Dice) []int64 {
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
