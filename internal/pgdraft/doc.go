// Package pgdraft drafts a policy from the catalogue of a PostgreSQL database: foreign keys become
// paths, enumerations and CHECK constraints keys and bounds, and comments are kept. What the
// catalogue does not say is left for the owner, who reads the draft. No row is read, unless the
// owner asks for bounds that are taken from the data.
package pgdraft
