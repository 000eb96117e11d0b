package policy

// EngineLimits is what the engine of a dataset cannot be asked, beside what none can. The zero
// value is an engine without limits of its own.
type EngineLimits struct {
	// Name is what messages call the engine.
	Name string
	// MaxDepth is how deep a printed expression is at most, where a bracket counts as 1, CASE as 2
	// and a function as 3; 0 where that is not limited.
	MaxDepth int
	// MaxOperations is how many operations an expression has at most, each as often as it is
	// written; 0 where that is not limited.
	MaxOperations int
	// MaxStatement is how many characters a statement has at most, of which all of a question have
	// no more than four times as many; 0 where that is not limited.
	MaxStatement int64
	// NoOuterExists says that an EXISTS inside of an EXISTS names no row outside of both.
	NoOuterExists bool
	// NoDistinctWindows says that there is no COUNT(DISTINCT ...) OVER.
	NoDistinctWindows bool
	// AutomatonPatterns says that a pattern has to be one that an automaton can match.
	AutomatonPatterns bool
}

// trinoLimits are those of a Trino cluster. Its parser has no more room on its stack from a depth
// of about 750 on (from 820 brackets, 380 CASEs and 320 functions, in a thread of 1 MB), and says
// so after the charge. It makes one method of an expression, and a method has an end. A statement
// has a million characters, unless the cluster is told otherwise (query.max-length).
var trinoLimits = EngineLimits{Name: "Trino", MaxDepth: 400, MaxOperations: 1000, MaxStatement: 1_000_000,
	NoOuterExists: true, NoDistinctWindows: true, AutomatonPatterns: true}

// EngineLimits is what the dataset's engine cannot be asked.
func (d *Dataset) EngineLimits() EngineLimits {
	if d.Engine == "trino" {
		return trinoLimits
	}
	return EngineLimits{}
}
