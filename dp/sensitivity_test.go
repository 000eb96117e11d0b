package dp

import (
	"math/big"
	"testing"
)

func panics(f func()) (did bool) {
	defer func() { did = recover() != nil }()
	f()
	return
}

func TestSensitivityKeepsItsNorm(t *testing.T) {
	one, two := NewL1(big.NewInt(3)), NewL2Squared(big.NewInt(2))
	if one.Norm() != L1 || one.L1().Int64() != 3 || two.Norm() != L2 || two.L2Squared().Int64() != 2 {
		t.Errorf("%v, %v", one, two)
	}
	for name, f := range map[string]func(){
		"l1 as l2":       func() { one.L2Squared() },
		"l2 as l1":       func() { two.L1() },
		"none as l1":     func() { Sensitivity{}.L1() },
		"zero":           func() { NewL1(big.NewInt(0)) },
		"negative":       func() { NewL2Squared(big.NewInt(-1)) },
		"none as l2":     func() { Sensitivity{}.L2Squared() },
		"zero l2":        func() { NewL2Squared(new(big.Int)) },
		"negative in l1": func() { NewL1(big.NewInt(-5)) },
		"none of each":   func() { NewL1Each(big.NewInt(5), new(big.Int)) },
		"each of l2":     func() { two.Each() },
		"each of none":   func() { Sensitivity{}.Each() },
	} {
		if !panics(f) {
			t.Errorf("%s: no panic", name)
		}
	}
}

// A sensitivity cannot be changed through what it was made of or what it returns.
func TestSensitivityIsImmutable(t *testing.T) {
	d := big.NewInt(3)
	s := NewL1(d)
	d.SetInt64(1)
	s.L1().SetInt64(1)
	if s.L1().Int64() != 3 {
		t.Errorf("the bound became %v", s)
	}
	one := big.NewInt(1)
	s = NewL1Each(big.NewInt(3), one)
	one.SetInt64(3)
	s.Each().SetInt64(3)
	if s.Each().Int64() != 1 || s.L1().Int64() != 3 {
		t.Errorf("the bound became %v", s)
	}
	// One number never moves further than all of them.
	if s := NewL1Each(big.NewInt(3), big.NewInt(4)); s.Each().Int64() != 3 || s.String() != "3 (l1)" {
		t.Errorf("each of %v moves by %v", s, s.Each())
	}
}

func TestSensitivityString(t *testing.T) {
	for want, s := range map[string]Sensitivity{
		"3 (l1)": NewL1(big.NewInt(3)), "3 (l2)": NewL2Squared(big.NewInt(9)), "sqrt 2 (l2)": NewL2Squared(big.NewInt(2)), "none": {},
		"3 (l1), each at most 2": NewL1Each(big.NewInt(3), big.NewInt(2)),
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if L1.String() != "l1" || L2.String() != "l2" || Norm(7).String() != "Norm(7)" {
		t.Error("norms have other names")
	}
}

func TestParseNeighbours(t *testing.T) {
	for text, want := range map[string]Neighbours{"": AddRemove, "add-remove": AddRemove, "substitute": Substitute} {
		got, err := ParseNeighbours(text)
		if err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		if back, err := ParseNeighbours(got.String()); err != nil || back != want {
			t.Errorf("%v does not read back", got)
		}
	}
	for _, text := range []string{"add/remove", "Substitute", "swap", " "} {
		if _, err := ParseNeighbours(text); err == nil {
			t.Errorf("%q was taken for a relation", text)
		}
	}
}
