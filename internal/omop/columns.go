package omop

import (
	"strings"

	"github.com/discreet-dp/discreet/policy"
)

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
	"year_of_birth":  {lowest: firstYear, highest: lastYear, comment: "Whoever is older than that counts as born in the first year."},
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
		"for glucose in mg/dl and cuts platelets per microlitre. SUM and AVG have noise by the bounds, quantiles hardly. In a question " +
		"least(greatest(value_as_number, 3), 20) narrows them for one kind."},
	"days_supply": {lowest: "0", highest: "365", comment: "A year at most, as for an implant; most prescriptions are " +
		"for 90 days or less."},
	"quantity":                   {lowest: "0", highest: "1000"},
	"refills":                    {lowest: "0", highest: "24"},
	"drug_exposure_count":        {lowest: "0", highest: "200"},
	"condition_occurrence_count": {lowest: "0", highest: "200"},
	"gap_days":                   {lowest: "0", highest: "365"},
	"dose_value":                 {lowest: "0", highest: "1000"},
	"care_site_id":               {private: true, comment: "Which sites there are may tell of the few who were at one."},
	"provider_id":                {leftOut: "is left out: it names who works there, whom this budget does not protect."},
	"location_id":                {leftOut: "is left out: it stands for an address."},
	"sig":                        {leftOut: "is left out: it is free text."},
	"stop_reason":                {leftOut: "is left out: it is free text."},
	"lot_number":                 {leftOut: "is left out: nobody needs it to count people."},
	"unique_device_id":           {leftOut: "is left out: it names one device, and so its bearer."},
	"production_id":              {leftOut: "is left out: it names one device, and so its bearer."},
	"value_as_string":            {leftOut: "is left out: it is free text."},
	"range_low":                  {leftOut: "is left out: it is the laboratory's range, and not a value."},
	"range_high":                 {leftOut: "is left out: it is the laboratory's range, and not a value."},
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
	{"_source_value", column{leftOut: "is left out: it is what the source wrote, which may name people."}},
	{"_source_concept_id", column{leftOut: "is left out: it has the source's codes; the standard ones are listed."}},
	{"_type_concept_id", column{leftOut: "is left out: it says how the record came about, and not about whom."}},
	{"_field_concept_id", column{leftOut: "is left out: it is about the model."}},
	{"_event_id", column{leftOut: "is left out: what it leads to depends on the row."}},
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
	shown   = "there are thousands: those of many people are shown"
	outside = "is left out: the common data model does not have it, so nothing is known about it."
)

// tell says what is known about a column. What the database says is not overruled.
func tell(c *policy.SchemaColumn) {
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
		c.Lowest, c.Highest, c.From = known.lowest, known.highest, "proposed; widen or narrow them by what you know"
		if c.Type == policy.Date || c.Type == policy.Timestamp {
			c.From = "proposed; narrow them to when your data begins"
		}
	}
}
