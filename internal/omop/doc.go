// Package omop knows the OMOP common data model, version 5.4: whose the rows of its tables are, how
// far its values reach, and which of its tables everybody may know. It says so of schemas that were
// read from a database, for a draft of a policy; of tables and columns that are there, and no
// others.
//
// What it proposes comes from the model and from the world, never from the data.
package omop
