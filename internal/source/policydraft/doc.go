// Package policydraft drafts a policy from the catalogue of a database. What the catalogue does not
// say is left for the owner, who reads the draft. No row is read, unless the owner asks for bounds
// that are taken from the data.
//
//   - Of PostgreSQL ([DraftPostgres]) foreign keys become paths, enumerations and CHECK constraints
//     keys and bounds, and comments are kept.
//   - Trino ([DraftTrino]) knows types, columns that are never NULL, and comments; neither keys nor
//     references nor checks. So whose rows are is guessed by the names of columns, with a question
//     mark; bounds and keys are the owner's to say.
//   - Of the OMOP common data model, version 5.4, it knows whose the rows of tables are, how far
//     values reach, and which tables everybody may know (omop.go). It says so of tables and columns
//     that are there, and no others; from the model and from the world, never from the data.
package policydraft
