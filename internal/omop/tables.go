package omop

// table is what the model says about a table.
type table struct {
	note string
	// A private table's rows are somebody's, by person_id. So many of one person count.
	maxRows, maxGroups int
	// A public table has a column that is different in every row, or none.
	public bool
	unique string
	// leftOut is why a table is left out.
	leftOut string
}

const (
	addresses = "It says where people live, and nothing says whose a row is, because several may share one."
	staff     = "It is about who works there. Where everybody may know that, list it with public: true; people in it are not protected " +
		"by this budget."
	freeText = "It is free text, in which people are named. Nothing of it can be asked for with a guarantee that is worth much."
	large    = "Everybody may know it, and it is large: all of it would be copied. Where analysts need it, list it with public: true."
	derived  = "It is made of other tables by a tool. Where each row is about one person, list it with a path to person.person_id."
)

// tables are those of the model, in the order in which a draft shows them.
var tables = []struct {
	name string
	table
}{
	{"person", table{maxRows: 1, maxGroups: 1, note: "One row for everybody. The model says so; where the database does not see to it, " +
		"one row of each counts."}},
	{"observation_period", table{maxRows: 2, maxGroups: 2, note: "When somebody was under observation: one period for most, which is " +
		"why 2 are enough."}},
	{"visit_occurrence", table{maxRows: 20, maxGroups: 5, note: "Encounters. 20 a year are many for outpatients; those of the " +
		"chronically ill beyond that are left out."}},
	{"visit_detail", table{maxRows: 20, maxGroups: 5, note: "Parts of encounters, such as a stay on a ward."}},
	{"condition_occurrence", table{maxRows: 10, maxGroups: 10, note: "Diagnoses. Few rows in each group, because the same diagnosis is " +
		"often recorded again; more groups, because one person has several."}},
	{"drug_exposure", table{maxRows: 20, maxGroups: 10, note: "Prescriptions and administrations: about one a month of the same drug, " +
		"and several drugs."}},
	{"procedure_occurrence", table{maxRows: 10, maxGroups: 5, note: "What was done."}},
	{"device_exposure", table{maxRows: 5, maxGroups: 3, note: "Implants, supplies and instruments."}},
	{"measurement", table{maxRows: 20, maxGroups: 5, note: "Laboratory values and vital signs. Questions are best about one " +
		"measurement_concept_id at a time."}},
	{"observation", table{maxRows: 10, maxGroups: 5, note: "What is none of the others: history, habits, answers in interviews."}},
	{"death", table{maxRows: 1, maxGroups: 1, note: "The model has one row a person at most; where the database does not see to it, " +
		"one counts."}},
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
		"concept_ancestor WHERE ancestor_concept_id = ...). It is large: remove it where nobody asks by hierarchies."}},
	{"vocabulary", table{public: true, unique: "vocabulary_id", note: "Published."}},
	{"domain", table{public: true, unique: "domain_id", note: "Published."}},
	{"concept_class", table{public: true, unique: "concept_class_id", note: "Published."}},
	{"relationship", table{public: true, unique: "relationship_id", note: "Published."}},
	{"concept_relationship", table{leftOut: large}},
	{"concept_synonym", table{leftOut: large}},
	{"drug_strength", table{leftOut: large}},
	{"source_to_concept_map", table{leftOut: "It has the codes of the source, which may be its own. Where everybody may know them, " +
		"list it with public: true."}},
	{"location", table{leftOut: addresses}},
	{"location_history", table{leftOut: addresses}},
	{"care_site", table{leftOut: staff}},
	{"provider", table{leftOut: staff}},
	{"note", table{leftOut: freeText}},
	{"note_nlp", table{leftOut: freeText}},
	{"cost", table{leftOut: "What a row is about depends on cost_domain_id, so no path leads to a person. Make a view that joins it to " +
		"one person_id, and list that with trusted: true."}},
	{"fact_relationship", table{leftOut: "What a row is about depends on its domains, and it may connect two people."}},
	{"episode_event", table{leftOut: "What a row is about depends on its field, so no path leads to a person but by episode_id -> " +
		"episode.episode_id."}},
	{"cohort", table{leftOut: "Who its subjects are depends on the definition. Where they are people, list it with path: subject_id -> " +
		"person.person_id."}},
	{"cohort_definition", table{leftOut: derived}},
	{"metadata", table{leftOut: "It is about the database."}},
	{"cdm_source", table{leftOut: "It is about the database."}},
}
