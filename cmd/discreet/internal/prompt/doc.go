// Package prompt reads what an analyst types: lines with completion and history, statements that
// end with semicolons, and settings. It opens no data.
package prompt
