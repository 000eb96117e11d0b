package grammar

// Parses returns how many texts the grammar has read in this process.
func Parses() int64 { return parses.Load() }
