package policydraft

import (
	"errors"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

// table is what the model says about a table.
type table struct {
	note string
	// A private table's rows are somebody's, by person_id. So many of one person count.
	maxRows, maxGroups int
	// A public table has a column that is different in every row, or none.
	public  bool
	unique  string
	leftOut string
}

const (
	addresses = "It says where people live, but a row does not belong to one person, because several can share it."
	staff     = "It is about staff. If everybody may know it, list it with public: true; this budget does not protect the people in it."
	freeText  = "It is free text, which names people. No guarantee for answers about it would be worth much."
	large     = "Everybody may know it, but it is large, and all of it would be copied. If analysts need it, list it with public: true."
	derived   = "A tool makes it from other tables. If each row is about one person, list it with a path to person.person_id."
)

// tables are those of the model, in the order in which a draft shows them.
var tables = []struct {
	name string
	table
}{
	{"person", table{maxRows: 1, maxGroups: 1, note: "One row per person, as the model says; where the database does not enforce " +
		"that, one row of each person counts."}},
	{"observation_period", table{maxRows: 2, maxGroups: 2, note: "When somebody was under observation: most people have one period, " +
		"so 2 are enough."}},
	{"visit_occurrence", table{maxRows: 20, maxGroups: 5, note: "Encounters. 20 a year are many for outpatients; if the chronically " +
		"ill have more, the rest are left out."}},
	{"visit_detail", table{maxRows: 20, maxGroups: 5, note: "Parts of encounters, such as a stay on a ward."}},
	{"condition_occurrence", table{maxRows: 10, maxGroups: 10, note: "Diagnoses. Few rows in each group, because the same diagnosis is " +
		"often recorded again; more groups, because one person has several."}},
	{"drug_exposure", table{maxRows: 20, maxGroups: 10, note: "Prescriptions and administrations: about one a month of the same drug, " +
		"and several drugs."}},
	{"procedure_occurrence", table{maxRows: 10, maxGroups: 5, note: "What was done."}},
	{"device_exposure", table{maxRows: 5, maxGroups: 3, note: "Implants, supplies and instruments."}},
	{"measurement", table{maxRows: 20, maxGroups: 5, note: "Laboratory values and vital signs. It is best to ask about one " +
		"measurement_concept_id at a time."}},
	{"observation", table{maxRows: 10, maxGroups: 5, note: "Everything else: history, habits, answers in interviews."}},
	{"death", table{maxRows: 1, maxGroups: 1, note: "At most one row per person, as the model says; where the database does not " +
		"enforce that, one counts."}},
	{"specimen", table{maxRows: 10, maxGroups: 5, note: "Samples."}},
	{"payer_plan_period", table{maxRows: 5, maxGroups: 3, note: "Who paid, and when."}},
	{"drug_era", table{maxRows: 10, maxGroups: 10, note: "Exposures to an ingredient, made of drug_exposure."}},
	{"dose_era", table{maxRows: 10, maxGroups: 10, note: "Times of a constant dose, made of drug_exposure."}},
	{"condition_era", table{maxRows: 5, maxGroups: 10, note: "Times with a condition, made of condition_occurrence."}},
	{"episode", table{maxRows: 5, maxGroups: 3, note: "Courses of a disease or of a treatment."}},
	{"concept", table{public: true, unique: "concept_id", note: "The vocabulary is published, and says nothing about anybody. Join any " +
		"..._concept_id with concept_id to ask by name: that finds one row and costs nothing by itself. GROUP BY concept_name takes at " +
		"most 100,000 names, and the whole vocabulary has millions: make a smaller table, chosen by the vocabulary and not by the data, " +
		"and name it as the source."}},
	{"concept_ancestor", table{public: true, note: "Which concepts are kinds of which. Ask with IN (SELECT descendant_concept_id FROM " +
		"concept_ancestor WHERE ancestor_concept_id = ...). It is large: remove it if nobody asks by hierarchy."}},
	{"vocabulary", table{public: true, unique: "vocabulary_id", note: "Published."}},
	{"domain", table{public: true, unique: "domain_id", note: "Published."}},
	{"concept_class", table{public: true, unique: "concept_class_id", note: "Published."}},
	{"relationship", table{public: true, unique: "relationship_id", note: "Published."}},
	{"concept_relationship", table{leftOut: large}},
	{"concept_synonym", table{leftOut: large}},
	{"drug_strength", table{leftOut: large}},
	{"source_to_concept_map", table{leftOut: "It has the codes of the source, which may be its own. If everybody may know them, " +
		"list it with public: true."}},
	{"location", table{leftOut: addresses}},
	{"location_history", table{leftOut: addresses}},
	{"care_site", table{leftOut: staff}},
	{"provider", table{leftOut: staff}},
	{"note", table{leftOut: freeText}},
	{"note_nlp", table{leftOut: freeText}},
	{"cost", table{leftOut: "The subject of a row depends on cost_domain_id, so no path leads to a person. Make a view that joins it to " +
		"one person_id, and list that with trusted: true."}},
	{"fact_relationship", table{leftOut: "The subject of a row depends on its domains, and it may connect two people."}},
	{"episode_event", table{leftOut: "The subject of a row depends on its field, so the only path to a person is by episode_id -> " +
		"episode.episode_id."}},
	{"cohort", table{leftOut: "Its subjects depend on the definition. If they are people, list it with path: subject_id -> " +
		"person.person_id."}},
	{"cohort_definition", table{leftOut: derived}},
	{"metadata", table{leftOut: "It is about the database."}},
	{"cdm_source", table{leftOut: "It is about the database."}},
}

// column is what the model and the world say about a column.
type column struct {
	lowest, highest string
	keys            string
	comment         string
	private         bool
	identifier      bool
	leftOut         string
}

// When something can have happened, and when somebody can be born. What is beyond counts as the
// nearer end.
const (
	firstDay, lastDay   = "1980-01-01", "2029-12-31"
	firstYear, lastYear = "1900", "2029"
)

// byName are columns by their names, where a table's own is not below.
var byName = map[string]column{
	"person_id":      {identifier: true},
	"year_of_birth":  {lowest: firstYear, highest: lastYear, comment: "Anybody older than that counts as born in the first year."},
	"month_of_birth": {lowest: "1", highest: "12"},
	"day_of_birth":   {lowest: "1", highest: "31"},
	"birth_datetime": {lowest: firstYear + "-01-01 00:00:00", highest: lastYear + "-12-31 23:59:59"},
	"gender_concept_id": {keys: "8507 8532 8521 8551 0",
		comment: "8507 male, 8532 female, 8521 other, 8551 unknown, 0 not mapped: the list of the vocabulary, which everybody may know."},
	"race_concept_id": {keys: "8515 8516 8527 8557 8657 8522 8552 0", comment: "8515 Asian, 8516 Black or African American, 8527 " +
		"White, 8557 " +
		"Native Hawaiian or Other Pacific Islander, 8657 American Indian or Alaska Native, 8522 other, 8552 unknown, 0 not mapped."},
	"ethnicity_concept_id": {keys: "38003563 38003564 0", comment: "38003563 Hispanic or Latino, 38003564 not, 0 not mapped."},
	"visit_concept_id": {keys: "9201 9202 9203 262 581477 581476 5083 32036 42898160 0", comment: "9201 inpatient, 9202 outpatient, 9203 " +
		"emergency room, 262 emergency room and inpatient, 581477 office, 581476 home, 5083 telehealth, 32036 laboratory, 42898160 " +
		"non-hospital institution, 0 not mapped."},
	"value_as_number": {lowest: "0", highest: "1000", comment: "One column for every kind of value, so no bounds fit all: 1000 does " +
		"for glucose in mg/dl and cuts platelets per microlitre. The noise of SUM and AVG depends on the bounds, that of quantiles " +
		"hardly. In a question, least(greatest(value_as_number, 3), 20) narrows them for one kind."},
	"days_supply": {lowest: "0", highest: "365", comment: "At most a year, as for an implant; most prescriptions are " +
		"for 90 days or less."},
	"quantity":                   {lowest: "0", highest: "1000"},
	"refills":                    {lowest: "0", highest: "24"},
	"drug_exposure_count":        {lowest: "0", highest: "200"},
	"condition_occurrence_count": {lowest: "0", highest: "200"},
	"gap_days":                   {lowest: "0", highest: "365"},
	"dose_value":                 {lowest: "0", highest: "1000"},
	"care_site_id":               {private: true, comment: "The list of sites may reveal the few who were at one."},
	"provider_id":                {leftOut: "is left out: it names staff, whom this budget does not protect."},
	"location_id":                {leftOut: "is left out: it stands for an address."},
	"sig":                        {leftOut: "is left out: it is free text."},
	"stop_reason":                {leftOut: "is left out: it is free text."},
	"lot_number":                 {leftOut: "is left out: nobody needs it to count people."},
	"unique_device_id":           {leftOut: "is left out: it names one device, and so the person who has it."},
	"production_id":              {leftOut: "is left out: it names one device, and so the person who has it."},
	"value_as_string":            {leftOut: "is left out: it is free text."},
	"range_low":                  {leftOut: "is left out: it is the laboratory's range, not a value."},
	"range_high":                 {leftOut: "is left out: it is the laboratory's range, not a value."},
	"measurement_time":           {leftOut: "is left out: measurement_datetime says it."},
	"valid_start_date":           {leftOut: "is left out: it is about the vocabulary's releases."},
	"valid_end_date":             {leftOut: "is left out: it is about the vocabulary's releases."},
	"specimen_source_id":         {leftOut: "is left out: it is the source's own."},
}

// byEnd are columns by how their names end, the first that fits.
var byEnd = []struct {
	end string
	column
}{
	{"_source_value", column{leftOut: "is left out: it is the source's own text, which may name people."}},
	{"_source_concept_id", column{leftOut: "is left out: it has the source's codes; the standard ones are listed."}},
	{"_type_concept_id", column{leftOut: "is left out: it says how the record was made, not whom it is about."}},
	{"_field_concept_id", column{leftOut: "is left out: it is about the model."}},
	{"_event_id", column{leftOut: "is left out: it leads to different tables in different rows."}},
	{"_concept_id", column{private: true}},
	{"_datetime", column{lowest: firstDay + " 00:00:00", highest: lastDay + " 23:59:59"}},
	{"_date", column{lowest: firstDay, highest: lastDay}},
	{"_id", column{identifier: true}},
}

// rule finds what is known about a column of a private table.
func rule(name string) (column, bool) {
	name = strings.ToLower(name)
	if c, ok := byName[name]; ok {
		return c, true
	}
	for _, c := range byEnd {
		if strings.HasSuffix(name, c.end) {
			return c.column, true
		}
	}
	return column{}, false
}

const (
	model   = "of the common data model"
	shown   = "there are thousands: those that many people have are shown"
	outside = "is left out: the common data model does not have it, so nothing is known about it."
)

// describeColumn says what is known about a column. What the database says is not overruled.
func describeColumn(c *policy.SchemaColumn) {
	known, ok := rule(c.Name)
	switch {
	case c.Type == policy.NoType:
		return
	case !ok:
		c.LeftOut = outside
		return
	case known.leftOut != "":
		c.LeftOut = known.leftOut
		return
	}
	c.Comment = strings.TrimSpace(c.Comment + " " + known.comment)
	if c.Identifier = known.identifier; c.Identifier || c.From != "" {
		return
	}
	c.Identifier = false
	switch {
	case known.private && (c.Type == policy.Integer || c.Type == policy.Text):
		c.PrivateKeys, c.From = true, shown
	case known.keys != "" && c.Type == policy.Integer:
		c.Keys, c.From = strings.Fields(known.keys), model
	case known.lowest != "":
		c.Lowest, c.Highest, c.From = known.lowest, known.highest, "proposed; widen or narrow them to fit what you know"
		if c.Type == policy.Date || c.Type == policy.Timestamp {
			c.From = "proposed; narrow them to when your data begins"
		}
	}
}

// OMOPUnit finds who is protected: every person_id of the table person.
func OMOPUnit(schemas []policy.Schema) (string, error) {
	for _, s := range schemas {
		if !strings.EqualFold(s.Table, "person") || s.LeftOut != "" {
			continue
		}
		if name := columnNamed(s, "person_id"); name != "" {
			return s.Table + "." + name, nil
		}
	}
	return "", errors.New("there is no readable table person with a column person_id, so this is not an OMOP common data model; " +
		"name its schema with --schema if there are several, or leave out --omop")
}

func columnNamed(s policy.Schema, name string) string {
	for _, c := range s.Columns {
		if strings.EqualFold(c.Name, name) && c.LeftOut == "" {
			return c.Name
		}
	}
	return ""
}

// ApplyOMOP says what is known about tables, and puts them into the order of the model: people
// first, what everybody may know after them, and then what is left out.
func ApplyOMOP(schemas []policy.Schema) ([]policy.Schema, error) {
	unit, err := OMOPUnit(schemas)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(schemas)
	for i := range out {
		out[i].Columns = slices.Clone(out[i].Columns)
		describeTable(&out[i], unit)
	}
	slices.SortStableFunc(out, func(a, b policy.Schema) int { return modelIndex(a) - modelIndex(b) })
	return out, nil
}

// modelIndex is where a table is in the model.
func modelIndex(s policy.Schema) int {
	for i, t := range tables {
		if strings.EqualFold(t.name, s.Table) {
			return i
		}
	}
	return len(tables)
}

func describeTable(s *policy.Schema, unit string) {
	at := modelIndex(*s)
	if at == len(tables) {
		s.LeftOut, s.Trusted = s.Table+" is not a table of the common data model.", false
		return
	}
	t := tables[at]
	if s.LeftOut != "" { // a view, for which the owner has to answer
		return
	}
	s.Notes = append(s.Notes, t.note)
	person := columnNamed(*s, "person_id")
	switch {
	case t.leftOut != "":
		s.LeftOut = s.Table + ". " + t.leftOut
	case t.public:
		describePublic(s, t.table)
	case person == "":
		s.LeftOut = s.Table + " has no readable column person_id, so nothing says whose rows these are."
	default:
		if !strings.HasPrefix(unit, s.Table+".") {
			s.Path, s.PathNote = person+" -> "+unit, ""
		}
		s.MaxRows, s.MaxGroups = t.maxRows, t.maxGroups
		for i := range s.Columns {
			describeColumn(&s.Columns[i])
		}
	}
}

// describePublic says what is known about a table of the vocabulary.
func describePublic(s *policy.Schema, t table) {
	s.Public, s.Path, s.UniqueColumn = true, "", ""
	for i := range s.Columns {
		c := &s.Columns[i]
		if known, ok := byName[strings.ToLower(c.Name)]; ok && known.leftOut != "" {
			c.LeftOut = known.leftOut
			continue
		}
		if t.unique != "" && strings.EqualFold(c.Name, t.unique) {
			s.UniqueColumn = c.Name
			if !c.Enforced {
				s.Notes = append(s.Notes, "The database does not ensure that "+c.Name+" is different in every row; discreet check "+
					"looks.")
			}
		}
		c.Identifier, c.Keys, c.PrivateKeys = true, nil, false
		c.Lowest, c.Highest = "", ""
	}
}
