CREATE TABLE patients (pid bigint PRIMARY KEY, age bigint NOT NULL, sex text, zip text, diagnosis text, smoker boolean, cost numeric);
CREATE TABLE visits (pid bigint REFERENCES patients (pid), day date, arrived timestamp, ward text, cost numeric);
CREATE TABLE wards (ward text PRIMARY KEY, building text, beds bigint);
CREATE VIEW elderly AS SELECT sex, cost FROM patients WHERE age >= 65;
