package omopdata

import (
	"fmt"
	"strings"
)

// Concepts that questions name.
const (
	Male, Female                     = 8507, 8532
	Inpatient, Outpatient, Emergency = 9201, 9202, 9203
	Diabetes, AnyDiabetes            = 201826, 201820
	Hypertension, Asthma             = 320128, 317009
	Metformin, Lisinopril            = 1503297, 1308216
	HbA1c, Systolic                  = 3004410, 3004249
)

// concepts are some of the vocabulary: number, name, domain, vocabulary and class.
var concepts = []struct {
	id                              int
	name, domain, vocabulary, class string
}{
	{0, "No matching concept", "Metadata", "None", "Undefined"},
	{Male, "MALE", "Gender", "Gender", "Gender"},
	{Female, "FEMALE", "Gender", "Gender", "Gender"},
	{8515, "Asian", "Race", "Race", "Race"},
	{8516, "Black or African American", "Race", "Race", "Race"},
	{8527, "White", "Race", "Race", "Race"},
	{38003563, "Hispanic or Latino", "Ethnicity", "Ethnicity", "Ethnicity"},
	{38003564, "Not Hispanic or Latino", "Ethnicity", "Ethnicity", "Ethnicity"},
	{Inpatient, "Inpatient Visit", "Visit", "Visit", "Visit"},
	{Outpatient, "Outpatient Visit", "Visit", "Visit", "Visit"},
	{Emergency, "Emergency Room Visit", "Visit", "Visit", "Visit"},
	{ehr, "EHR", "Type Concept", "Type Concept", "Type Concept"},
	{AnyDiabetes, "Diabetes mellitus", "Condition", "SNOMED", "Disorder"},
	{Diabetes, "Type 2 diabetes mellitus", "Condition", "SNOMED", "Disorder"},
	{201254, "Type 1 diabetes mellitus", "Condition", "SNOMED", "Disorder"},
	{Hypertension, "Essential hypertension", "Condition", "SNOMED", "Disorder"},
	{Asthma, "Asthma", "Condition", "SNOMED", "Disorder"},
	{255573, "Chronic obstructive pulmonary disease", "Condition", "SNOMED", "Disorder"},
	{4329847, "Myocardial infarction", "Condition", "SNOMED", "Disorder"},
	{260139, "Acute bronchitis", "Condition", "SNOMED", "Disorder"},
	{4112343, "Acute viral pharyngitis", "Condition", "SNOMED", "Disorder"},
	{80180, "Osteoarthritis", "Condition", "SNOMED", "Disorder"},
	{Metformin, "metformin", "Drug", "RxNorm", "Ingredient"},
	{Lisinopril, "lisinopril", "Drug", "RxNorm", "Ingredient"},
	{1154343, "albuterol", "Drug", "RxNorm", "Ingredient"},
	{1545958, "atorvastatin", "Drug", "RxNorm", "Ingredient"},
	{1125315, "acetaminophen", "Drug", "RxNorm", "Ingredient"},
	{HbA1c, "Hemoglobin A1c/Hemoglobin.total in Blood", "Measurement", "LOINC", "Lab Test"},
	{Systolic, "Systolic blood pressure", "Measurement", "LOINC", "Clinical Observation"},
	{8554, "percent", "Unit", "UCUM", "Unit"},
	{8876, "millimeter mercury column", "Unit", "UCUM", "Unit"},
	{4163872, "Plain chest X-ray", "Procedure", "SNOMED", "Procedure"},
	{4230911, "Echocardiography", "Procedure", "SNOMED", "Procedure"},
	{40766362, "Tobacco smoking status", "Observation", "LOINC", "Clinical Observation"},
	{45883458, "Former smoker", "Meas Value", "LOINC", "Answer"},
	{45881517, "Current every day smoker", "Meas Value", "LOINC", "Answer"},
	{45883537, "Never smoker", "Meas Value", "LOINC", "Answer"},
}

const ehr = 32817

// vocabulary fills the tables that everybody may know.
func vocabulary() []string {
	var rows, vocabularies, domains []string
	seen := map[string]bool{}
	for _, c := range concepts {
		rows = append(rows, fmt.Sprintf("(%d, '%s', '%s', '%s', '%s', 'S', '%d', '1970-01-01', '2099-12-31', NULL)", c.id, c.name, c.domain,
			c.vocabulary, c.class, c.id))
		if !seen["v"+c.vocabulary] {
			vocabularies = append(vocabularies, fmt.Sprintf("('%s', '%s', NULL, NULL, 0)", c.vocabulary, c.vocabulary))
		}
		if !seen["d"+c.domain] {
			domains = append(domains, fmt.Sprintf("('%s', '%s', 0)", c.domain, c.domain))
		}
		seen["v"+c.vocabulary], seen["d"+c.domain] = true, true
	}
	ancestors := []string{fmt.Sprintf("(%d, %d, 1, 1)", AnyDiabetes, Diabetes), fmt.Sprintf("(%d, 201254, 1, 1)", AnyDiabetes)}
	for _, c := range concepts {
		ancestors = append(ancestors, fmt.Sprintf("(%d, %d, 0, 0)", c.id, c.id))
	}
	insert := func(table string, rows []string) string {
		return "INSERT INTO " + table + " VALUES " + strings.Join(rows, ", ")
	}
	return []string{insert("concept", rows), insert("vocabulary", vocabularies), insert("domain", domains),
		insert("concept_ancestor", ancestors), insert("care_site", []string{"(1, 'General hospital', 'A')", "(2, 'Health centre', 'B')"})}
}
