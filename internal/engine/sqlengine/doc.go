// Package sqlengine runs questions in a database that speaks SQL, reached through database/sql: it
// runs the statements that package dialect prints, all on one state of the data, and seals what
// they return.
//
// A driver that has nothing faster is an [Engine] over a [store.Store] and no more. One that reads
// rows in bulk, as DuckDB's does, has a [Database] for what is left to SQL.
package sqlengine
