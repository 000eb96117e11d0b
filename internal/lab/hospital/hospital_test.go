package hospital

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The attacks rely on there being one person with HIV in 1003A, whatever the seed.
func TestTargetIsAlone(t *testing.T) {
	for seed := range uint64(20) {
		h := New(200, seed)
		for _, p := range h.Patients {
			if (p.ZIP == "1003A" && p.Diagnosis == "HIV") != (p.ID == Target) {
				t.Errorf("seed %d: %+v", seed, p)
			}
			if p.Age < 10 || p.Age > 97 || p.Cents <= 0 || p.Cents > 6*(5000+97*1000+20000) {
				t.Errorf("seed %d: nobody is like %+v", seed, p)
			}
		}
	}
	if !reflect.DeepEqual(New(50, 3), New(50, 3)) || reflect.DeepEqual(New(50, 3), New(50, 4)) {
		t.Error("a hospital is not its seed's")
	}
}

// Neighbours differ in one person and all of that person's visits.
func TestWithout(t *testing.T) {
	h := New(50, 1)
	w := h.Without(Target)
	if len(w.Patients) != 49 || len(h.Patients) != 50 {
		t.Errorf("%d of %d patients are left", len(w.Patients), len(h.Patients))
	}
	visits := 0
	for _, v := range h.Visits {
		if v.Patient == Target {
			visits++
		}
	}
	if visits == 0 || len(w.Visits) != len(h.Visits)-visits {
		t.Errorf("%d of %d visits are left, and %d were the target's", len(w.Visits), len(h.Visits), visits)
	}
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	h := New(10, 1)
	if err := h.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"patients": len(h.Patients), "visits": len(h.Visits)} {
		text := must(os.ReadFile(filepath.Join(dir, name+".csv")))
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if len(lines) != n+1 || !strings.HasPrefix(lines[0], "pid,") {
			t.Errorf("%s has %d lines; want %d", name, len(lines), n+1)
		}
	}
	if err := h.Write(filepath.Join(dir, "patients.csv")); err == nil {
		t.Error("a hospital was written into a file")
	}
}

// Questions are their seed's, and there is something of everything.
func TestWorkload(t *testing.T) {
	a := Workload(2000, 1)
	if !slices.Equal(a, Workload(2000, 1)) || slices.Equal(a, Workload(2000, 2)) {
		t.Error("a workload is not its seed's")
	}
	different := map[string]bool{}
	for _, q := range a {
		different[q] = true
	}
	if len(different) < 1000 || len(different) == 2000 || !different["smoker = true"] || !different["sex IN ('F')"] {
		t.Errorf("%d of 2000 are different", len(different))
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
