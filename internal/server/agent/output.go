package agent

import "maps"

// What programs read of results: the members that they can rely on, of which most hold what /v1
// says. An error has others, and clients look at it by the same schema, so none of them has to be
// there.

func output(members map[string]any) map[string]any {
	all := maps.Clone(troubled)
	maps.Copy(all, members)
	return map[string]any{"type": "object", "properties": all}
}

// troubled are the members of a [Trouble].
var troubled = map[string]any{
	"kind":     property("string", "Of an error: what went wrong, such as refused, budget, limit or closed"),
	"reason":   property("string", "Of an error: why, in words"),
	"instead":  property("string", "Of an error: what to do instead"),
	"position": property("integer", "Of an error: where in the SQL, as a byte offset from 0"),
	"spent":    property("boolean", "Of an error: whether something was charged; missing where that is not known"),
	"request":  property("string", "Of an error: the name to ask again with, so that nothing is charged twice"),
	"made_up":  property("boolean", "Whether it is about made-up rows"),
}

var (
	columns    = property("array", "The names of the columns")
	rows       = property("array", "The rows, each a list of values")
	halves     = property([]string{"array", "null"}, "For each row and column the half width of its error bar, or null")
	confidence = property("number", "The probability of the error bars")
	notes      = property("array", "What to know about it, in words")
	cost       = property("object", "What it costs: epsilon, or rho where that is what adds up, and delta")
	remaining  = property("object", "What is left of the quota, as epsilon, delta and rho")
	more       = property("integer", "About how many more questions of this price can be paid")
)

var (
	described = output(map[string]any{
		"datasets": property("array", "The names of the datasets that can be asked about"),
		"dataset":  property("object", "One of them: its tables, columns, bounds, keys and views, and its budget"),
		"language": property("string", "The SQL that is understood, in short"),
	})
	quoted = output(map[string]any{
		"cost": cost, "remaining": remaining, "more": more, "confidence": confidence,
		"pay":        property("object", "What would be charged now, which is less where something was paid for before"),
		"after":      property("object", "What would be left"),
		"known":      property("boolean", "Whether it is free now"),
		"affordable": property("boolean", "Whether it can be paid"),
		"questions":  property("array", "What would be released, with the noise and the error of each noisy number"),
	})
	answered = output(map[string]any{
		"columns": columns, "rows": rows, "errors": halves, "confidence": confidence, "notes": notes, "cost": cost, "remaining": remaining,
		"more":          more,
		"receipt":       property("object", "The record of the charge in the ledger, and whether it was free"),
		"data_version":  property("object", "Which state of the data it is about"),
		"request":       property("string", "The name under which it was asked"),
		"rows_left_out": property("integer", "How many rows are not told"),
	})
	budgeted = output(map[string]any{
		"dataset": property("string", "The dataset"), "remaining": remaining,
		"questions": property("integer", "About how many questions at the default price that is"),
		"accounts":  property("array", "What was spent of each account, and its limit"),
	})
	tried = output(map[string]any{
		"columns": columns, "rows": rows, "errors": halves, "confidence": confidence, "notes": notes,
		"would_cost": property("object", "What it would cost at most on the data"),
		"warning":    property("string", "That all of it is made up"),
	})
)
