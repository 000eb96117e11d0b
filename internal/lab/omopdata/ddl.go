package omopdata

// ddl is a part of the OMOP common data model 5.4, as the OHDSI community publishes it for
// PostgreSQL: the same names, types and keys.
var ddl = []string{
	`CREATE TABLE concept (concept_id integer PRIMARY KEY, concept_name varchar(255) NOT NULL, domain_id varchar(20) NOT NULL,
  vocabulary_id varchar(20) NOT NULL, concept_class_id varchar(20) NOT NULL, standard_concept varchar(1), concept_code varchar(50) NOT NULL,
  valid_start_date date NOT NULL, valid_end_date date NOT NULL, invalid_reason varchar(1))`,
	`CREATE TABLE vocabulary (vocabulary_id varchar(20) PRIMARY KEY, vocabulary_name varchar(255) NOT NULL, vocabulary_reference varchar(255),
  vocabulary_version varchar(255), vocabulary_concept_id integer NOT NULL)`,
	`CREATE TABLE domain (domain_id varchar(20) PRIMARY KEY, domain_name varchar(255) NOT NULL, domain_concept_id integer NOT NULL)`,
	`CREATE TABLE concept_ancestor (ancestor_concept_id integer NOT NULL REFERENCES concept, descendant_concept_id integer NOT NULL
  REFERENCES concept, min_levels_of_separation integer NOT NULL, max_levels_of_separation integer NOT NULL)`,
	`CREATE TABLE concept_synonym (concept_id integer NOT NULL REFERENCES concept, concept_synonym_name varchar(1000) NOT NULL,
  language_concept_id integer NOT NULL)`,
	`CREATE TABLE care_site (care_site_id integer PRIMARY KEY, care_site_name varchar(255), care_site_source_value varchar(50))`,
	`CREATE TABLE person (person_id integer PRIMARY KEY, gender_concept_id integer NOT NULL REFERENCES concept, year_of_birth integer NOT NULL,
  month_of_birth integer, day_of_birth integer, birth_datetime timestamp, race_concept_id integer NOT NULL REFERENCES concept,
  ethnicity_concept_id integer NOT NULL REFERENCES concept, location_id integer, provider_id integer, care_site_id integer REFERENCES care_site,
  person_source_value varchar(50), gender_source_value varchar(50), gender_source_concept_id integer)`,
	`CREATE TABLE observation_period (observation_period_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person,
  observation_period_start_date date NOT NULL, observation_period_end_date date NOT NULL, period_type_concept_id integer NOT NULL
  REFERENCES concept)`,
	`CREATE TABLE visit_occurrence (visit_occurrence_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person, visit_concept_id
  integer NOT NULL REFERENCES concept, visit_start_date date NOT NULL, visit_start_datetime timestamp, visit_end_date date NOT NULL,
  visit_end_datetime timestamp, visit_type_concept_id integer NOT NULL REFERENCES concept, provider_id integer, care_site_id integer,
  visit_source_value varchar(50), visit_source_concept_id integer, preceding_visit_occurrence_id integer)`,
	`CREATE TABLE condition_occurrence (condition_occurrence_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person,
  condition_concept_id integer NOT NULL REFERENCES concept, condition_start_date date NOT NULL, condition_start_datetime timestamp,
  condition_end_date date, condition_type_concept_id integer NOT NULL REFERENCES concept, condition_status_concept_id integer, stop_reason
  varchar(20), visit_occurrence_id integer REFERENCES visit_occurrence, condition_source_value varchar(50), condition_source_concept_id integer)`,
	`CREATE TABLE drug_exposure (drug_exposure_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person, drug_concept_id integer NOT
  NULL REFERENCES concept, drug_exposure_start_date date NOT NULL, drug_exposure_end_date date NOT NULL, drug_type_concept_id integer NOT NULL
  REFERENCES concept, refills integer, quantity numeric, days_supply integer, sig text, visit_occurrence_id integer REFERENCES
  visit_occurrence, drug_source_value varchar(50))`,
	`CREATE TABLE procedure_occurrence (procedure_occurrence_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person,
  procedure_concept_id integer NOT NULL REFERENCES concept, procedure_date date NOT NULL, procedure_type_concept_id integer NOT NULL REFERENCES
  concept, quantity integer, visit_occurrence_id integer REFERENCES visit_occurrence, procedure_source_value varchar(50))`,
	`CREATE TABLE measurement (measurement_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person, measurement_concept_id integer NOT
  NULL REFERENCES concept, measurement_date date NOT NULL, measurement_datetime timestamp, measurement_time varchar(10),
  measurement_type_concept_id integer NOT NULL REFERENCES concept, operator_concept_id integer, value_as_number numeric, value_as_concept_id
  integer, unit_concept_id integer REFERENCES concept, range_low numeric, range_high numeric, visit_occurrence_id integer REFERENCES
  visit_occurrence, measurement_source_value varchar(50))`,
	`CREATE TABLE observation (observation_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person, observation_concept_id integer NOT
  NULL REFERENCES concept, observation_date date NOT NULL, observation_type_concept_id integer NOT NULL REFERENCES concept, value_as_number
  numeric, value_as_string varchar(60), value_as_concept_id integer REFERENCES concept, visit_occurrence_id integer REFERENCES visit_occurrence,
  observation_source_value varchar(50))`,
	`CREATE TABLE death (person_id integer NOT NULL REFERENCES person, death_date date NOT NULL, death_datetime timestamp, death_type_concept_id
  integer, cause_concept_id integer)`,
	`CREATE TABLE note (note_id integer PRIMARY KEY, person_id integer NOT NULL REFERENCES person, note_date date NOT NULL, note_text text NOT NULL)`,
	`COMMENT ON TABLE person IS 'This table serves as the central identity management for all persons in the database.'`,
	`COMMENT ON COLUMN visit_occurrence.visit_start_date IS 'For inpatient visits, the start date is typically the admission date.'`,
}
