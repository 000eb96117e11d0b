// Package hospital makes up the data of demonstrations, documentation and tests: a [Hospital], and
// a wholesaler with the shape of TPC-H ([Shop]). The same seed makes the same people. None of them
// exists.
package hospital

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Target is the person whom the attacks of the demonstration are after: the only
// patient with HIV in ZIP code 1003A.
const Target = 37

const DemoBudget = "{epsilon: 2, per_query: {default: 0.1, max: 1}}"

// Hospital is a set of made-up patients and their visits.
type Hospital struct {
	Patients []Patient
	Visits   []Visit
}

type Patient struct {
	ID        int
	Age       int
	Sex       string
	ZIP       string
	Diagnosis string
	Smoker    bool
	Cents     int // the cost of all treatment
}

type Visit struct {
	Patient int
	Day     string
	Ward    string
	Cents   int
}

var (
	zips      = []string{"1001A", "1002B", "1003A", "1004C", "1005D"}
	diagnoses = []string{"asthma", "diabetes", "flu", "fracture", "HIV", "hypertension"}
	wards     = []string{"emergency", "internal", "surgery"}
)

// New makes a hospital of n people.
func New(n int, seed uint64) *Hospital {
	r := &random{seed}
	h := &Hospital{}
	for id := 1; id <= n; id++ {
		p := Patient{ID: id, Age: r.age(), Sex: pickText(r, "F", "F", "F", "F", "F", "M", "M", "M", "M", "X"),
			ZIP:       zips[r.below(len(zips))],
			Diagnosis: diagnoses[r.below(len(diagnoses))], Smoker: r.below(5) == 0}
		if id == Target {
			p.ZIP, p.Diagnosis = "1003A", "HIV"
		} else if p.ZIP == "1003A" && p.Diagnosis == "HIV" {
			p.Diagnosis = "flu"
		}
		for range 1 + r.below(6) {
			v := Visit{id, fmt.Sprintf("2025-%02d-%02d", 1+r.below(12), 1+r.below(28)), wards[r.below(len(wards))],
				5000 + r.below(p.Age*1000+20000)}
			p.Cents += v.Cents
			h.Visits = append(h.Visits, v)
		}
		h.Patients = append(h.Patients, p)
	}
	return h
}

// Without returns the hospital without one person.
func (h *Hospital) Without(id int) *Hospital {
	w := &Hospital{}
	for _, p := range h.Patients {
		if p.ID != id {
			w.Patients = append(w.Patients, p)
		}
	}
	for _, v := range h.Visits {
		if v.Patient != id {
			w.Visits = append(w.Visits, v)
		}
	}
	return w
}

// Write writes patients.csv and visits.csv into a folder, which it makes.
func (h *Hospital) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var p, v strings.Builder
	p.WriteString("pid,age,sex,zip,diagnosis,smoker,cost\n")
	for _, x := range h.Patients {
		fmt.Fprintf(&p, "%d,%d,%s,%s,%s,%t,%s\n", x.ID, x.Age, x.Sex, x.ZIP, x.Diagnosis, x.Smoker, formatCents(x.Cents))
	}
	v.WriteString("pid,day,ward,cost\n")
	for _, x := range h.Visits {
		fmt.Fprintf(&v, "%d,%s,%s,%s\n", x.Patient, x.Day, x.Ward, formatCents(x.Cents))
	}
	if err := os.WriteFile(filepath.Join(dir, "patients.csv"), []byte(p.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "visits.csv"), []byte(v.String()), 0o644)
}

func formatCents(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// Dataset returns the policy of a hospital in a folder, indented to stand under "datasets:".
func Dataset(name, folder, budget string) string {
	return fmt.Sprintf(`  %s:
    engine: duckdb
    source: %s
    unit: patients.pid
    budget: %s
    analysts: {ana: {share: 1}, ben: {share: 0.5}}
    tables:
      patients:
        unique: pid
        columns:
          age:       {type: integer, bounds: [0, 110], nullable: false}
          sex:       {type: text, keys: [F, M, X]}
          zip:       {type: text, keys: [%s]}
          diagnosis: {type: text, keys: [%s]}
          smoker:    {type: boolean}
          cost:      {type: decimal, bounds: [0, 10000], granularity: 0.01}
      visits:
        path: pid -> patients.pid
        max_rows: 6
        max_groups: 2
        columns:
          day:  {type: date}
          ward: {type: text, keys: [%s]}
          cost: {type: decimal, bounds: [0, 2000], granularity: 0.01}
`, name, folder, budget, strings.Join(zips, ", "), strings.Join(diagnoses, ", "), strings.Join(wards, ", "))
}

// random is splitmix64. It makes up people and never noise, so it may be
// predictable, and has to be.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int) int { return int(r.next() % uint64(n)) }

// age is the sum of a few dice, so that most people are in the middle.
func (r *random) age() int { return 10 + r.below(30) + r.below(30) + r.below(30) }

func pickText(r *random, from ...string) string { return from[r.below(len(from))] }

// Stream returns the policy of a stream over the patients of a hospital of n people, to stand
// behind [Dataset].
func Stream(n int, alpha, budget string) string {
	return fmt.Sprintf(`    streams:
      patients:
        table: patients
        columns: {sex: , diagnosis: , smoker: , age: {width: 10}}
        size: %d
        alpha: %s
        budget: %s
`, n, alpha, budget)
}

// Workload makes up n questions to the stream: conditions on one to four of its columns, each met
// by any of some values. The same seed makes the same questions.
func Workload(n int, seed uint64) []string {
	r := &random{seed}
	out := make([]string, n)
	for i := range out {
		out[i] = r.condition()
	}
	return out
}

func (r *random) condition() string {
	parts := []func() string{
		func() string { return "sex IN (" + r.someOf([]string{"F", "M", "X"}) + ")" },
		func() string { return "diagnosis IN (" + r.someOf(diagnoses) + ")" },
		func() string { return "smoker = " + pickText(r, "true", "false") },
		func() string {
			lo := r.below(10)
			return fmt.Sprintf("age >= %d AND age < %d", 10*lo, 10*(lo+1+r.below(11-lo)))
		},
	}
	var chosen []string
	for len(chosen) == 0 {
		for _, part := range parts {
			if r.below(2) == 0 {
				chosen = append(chosen, part())
			}
		}
	}
	return strings.Join(chosen, " AND ")
}

// someOf picks some of a list, one at least, as constants of SQL.
func (r *random) someOf(from []string) string {
	var out []string
	for len(out) == 0 {
		for _, v := range from {
			if r.below(2) == 0 {
				out = append(out, "'"+v+"'")
			}
		}
	}
	return strings.Join(out, ", ")
}
