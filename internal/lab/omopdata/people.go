// Package omopdata makes up a database of the OMOP common data model: the same people for the same
// seed, as SQL for PostgreSQL. It is for tests and documentation. None of the people exist; the
// concepts are those of the published vocabulary.
package omopdata

import (
	"fmt"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/detrand"
)

// SQL returns the statements that make a database with so many people.
func SQL(people int, seed uint64) []string {
	m := &maker{dice: detrand.New("omop", seed), rows: map[string][]string{}, next: map[string]int{}}
	for id := 1; id <= people; id++ {
		m.person(id)
	}
	out := append(append([]string{}, ddl...), vocabulary()...)
	for _, table := range m.order {
		rows := m.rows[table]
		for len(rows) > 0 {
			n := min(len(rows), 1000)
			out = append(out, "INSERT INTO "+table+" VALUES "+strings.Join(rows[:n], ", "))
			rows = rows[n:]
		}
	}
	return out
}

type maker struct {
	dice  detrand.Choices
	rows  map[string][]string
	next  map[string]int
	order []string // of the tables, so that what is referred to is there first
}

// add adds a row. Texts and dates are quoted, and nil is NULL.
func (m *maker) add(table string, values ...any) {
	if m.rows[table] == nil {
		m.order = append(m.order, table)
	}
	cells := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			cells[i] = "NULL"
		case time.Time:
			cells[i] = "'" + v.Format("2006-01-02") + "'"
		case string:
			cells[i] = "'" + v + "'"
		default:
			cells[i] = fmt.Sprint(v)
		}
	}
	m.rows[table] = append(m.rows[table], "("+strings.Join(cells, ", ")+")")
}

// id numbers the rows of a table.
func (m *maker) id(table string) int {
	m.next[table]++
	return m.next[table]
}

func (m *maker) chance(percent int) bool { return m.dice.Below(100) < percent }
func (m *maker) pick(of ...int) int      { return of[m.dice.Below(len(of))] }

// patient is somebody who is being made up.
type patient struct {
	id, born           int
	diabetes, pressure bool
	asthma             bool
	told               map[int]bool // which chronic conditions were recorded
}

func (m *maker) person(id int) {
	p := &patient{id: id, born: 1930 + m.dice.Below(85), told: map[int]bool{}}
	age := 2020 - p.born
	p.diabetes = age >= 35 && m.chance(6+age/4)
	p.pressure = age >= 30 && m.chance(10+age/2)
	p.asthma = m.chance(9)
	m.add("person", id, m.pick(Male, Female, Female), p.born, 1+m.dice.Below(12), nil, nil, m.pick(8527, 8527, 8527, 8516, 8515),
		m.pick(38003564, 38003564, 38003564, 38003563), nil, nil, 1+m.dice.Below(2), fmt.Sprintf("MRN%06d", id), nil, nil)
	from := time.Date(max(2015, p.born), 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, m.dice.Below(1400))
	to := from.AddDate(0, 0, 300+m.dice.Below(2400))
	m.add("observation_period", m.id("observation_period"), id, from, to, ehr)
	visits := 1 + m.dice.Below(5)
	if p.diabetes || p.pressure {
		visits += 2 + m.dice.Below(8)
	}
	if m.dice.One(60) {
		visits += 40 // somebody always comes
	}
	day, long := from, int(to.Sub(from).Hours()/24)
	for range visits {
		day = day.AddDate(0, 0, 1+m.dice.Below(2*long/(visits+1)))
		if day.After(to) {
			break
		}
		m.visit(p, day)
	}
	if m.chance(40) {
		m.add("observation", m.id("observation"), id, 40766362, from, ehr, nil, nil, m.pick(45883458, 45881517, 45883537, 45883537),
			nil, nil)
	}
	if age > 65 && m.chance(age-60) {
		m.add("death", id, to, nil, ehr, nil)
	}
	if m.dice.One(10) {
		m.add("note", m.id("note"), id, from, "Mr Smith of 1 High Street")
	}
}

// visit is an encounter with what was found and done.
func (m *maker) visit(p *patient, day time.Time) {
	visit, kind, last := m.id("visit_occurrence"), m.pick(Outpatient, Outpatient, Outpatient, Outpatient, Emergency, Inpatient), day
	if kind == Inpatient {
		last = day.AddDate(0, 0, 1+m.dice.Below(6)+m.dice.Below(6))
	}
	m.add("visit_occurrence", visit, p.id, kind, day, nil, last, nil, ehr, nil, 1+m.dice.Below(2), "enc", nil, nil)
	condition := func(concept int) {
		m.add("condition_occurrence", m.id("condition_occurrence"), p.id, concept, day, nil, nil, ehr, nil, nil, visit, "E11.9", nil)
	}
	drug := func(concept, days int) {
		m.add("drug_exposure", m.id("drug_exposure"), p.id, concept, day, day.AddDate(0, 0, days), ehr, m.dice.Below(4), days, days,
			nil, visit, nil)
	}
	measure := func(concept int, value float64, unit int) {
		m.add("measurement", m.id("measurement"), p.id, concept, day, nil, nil, ehr, nil, fmt.Sprintf("%.1f", value), nil, unit, nil,
			nil, visit, nil)
	}
	spread := func(n int) float64 { return float64(m.dice.Below(n)+m.dice.Below(n)) / 10 }
	measure(Systolic, 105+spread(200)+map[bool]float64{true: 15}[p.pressure], 8876)
	if p.diabetes {
		if !p.told[Diabetes] || m.chance(30) {
			condition(Diabetes)
		}
		if m.chance(70) {
			measure(HbA1c, 6+spread(18), 8554)
		}
		if p.told[Diabetes] && m.chance(60) {
			drug(Metformin, m.pick(30, 60, 90, 90))
		}
		p.told[Diabetes] = true
	} else if m.chance(15) {
		measure(HbA1c, 4.8+spread(6), 8554)
	}
	if p.pressure && (!p.told[Hypertension] || m.chance(20)) {
		condition(Hypertension)
		p.told[Hypertension] = true
		drug(m.pick(Lisinopril, Lisinopril, 1545958), 90)
	}
	if p.asthma && !p.told[Asthma] {
		condition(Asthma)
		p.told[Asthma] = true
		drug(1154343, 30)
	}
	if m.chance(45) {
		condition(m.pick(260139, 4112343, 4112343, 4112343, 80180, 255573, 4329847))
		drug(1125315, 7)
	}
	if kind != Outpatient && m.chance(40) {
		m.add("procedure_occurrence", m.id("procedure_occurrence"), p.id, m.pick(4163872, 4163872, 4230911), day, ehr, 1, visit, nil)
	}
}
