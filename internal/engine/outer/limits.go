package outer

import "time"

// What one call may use.
const (
	MaxRows    = 100_000  // of a result
	MaxBytes   = 16 << 20 // of a result, as text
	MaxColumns = 100      // of a result and of every SELECT inside
	MaxText    = 1000     // characters of a text that is made or written
	MaxRunning = 4        // calls at a time; others wait
	MaxApart   = 2        // calls of Apart at a time, beside those
	Time       = 10 * time.Second
	Memory     = "256MB"
)

// What a statement may be. The tree is walked by recursion, by us and by DuckDB.
const (
	maxDepth    = 150    // nodes inside each other; DuckDB has a limit of 1000 for what we print of them
	maxCost     = 20_000 // nodes, counted as often as DuckDB copies them
	maxGrowing  = 32     // calls that make texts longer; each can hold a few MB for the rows in work
	maxSources  = 40     // tables, subqueries and functions in FROM; DuckDB cannot be stopped while it orders joins
	maxMatched  = 2_000  // columns of NATURAL JOIN and USING, for each table on their left; nor while it looks for these
	maxEqual    = 40     // conditions that compare two columns; nor while it makes more of these
	maxSets     = 64     // grouping sets of one GROUP BY
	maxArgs     = 32     // of one function
	maxPadding  = 4      // characters of a replacement
	maxDecimals = 30     // digits after the point of a released decimal
)
