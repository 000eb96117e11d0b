package policy

import (
	"fmt"
	"slices"
)

// keySet is the keys that one kind of mapping may have.
type keySet struct {
	known []string
	// other explains keys that people write and that do not exist here.
	other map[string]string
}

var (
	policyKeys = keySet{known: []string{"format", "ledger", "anchor", "datasets"}, other: map[string]string{
		"version": "write the format of the policy as format: 1",
	}}
	anchorKeys = keySet{
		known: []string{"file", "postgres", "name", "every"},
		other: map[string]string{"path": "write file: PATH", "url": "write postgres: URL"},
	}
	datasetKeys = keySet{
		known: []string{"engine", "source", "version", "refresh", "unit", "neighbours", "budget", "analysts", "groups", "tables", "views",
			"release", "sizes", "failures", "max_fanout", "existence", "streams", "holdouts"},
		other: map[string]string{
			"max_joined": "it belongs to a table: how many rows of one person are joined",
			"tick":       "it belongs inside release: {deadline: 250ms}",
			"renewal":    "it belongs inside budget: {epsilon: ..., renewal: {every: month, windows: 12}}",
			"anchor":     "it belongs at the top of the file, because all datasets share one ledger",
			"epsilon":    "it belongs inside budget: {epsilon: ..., delta: ...}",
			"delta":      "it belongs inside budget: {epsilon: ..., delta: ...}",
			"ledger":     "it belongs at the top of the file, because all datasets share one ledger",
			"path":       "it belongs to a table; write where the data is under 'source'",
			"url":        "write where the data is under 'source'",
		},
	}
	budgetKeys = keySet{
		known: []string{"epsilon", "delta", "keys_delta", "noise", "per_query", "renewal"},
		other: map[string]string{
			"every":   "it belongs inside renewal: {every: month, windows: 12}",
			"windows": "it belongs inside renewal: {every: month, windows: 12}",

			"mechanism": "write which noise questions get as noise: auto",

			"rho":     "a budget is written as epsilon and delta, and rho follows from them",
			"min":     "it belongs inside per_query: {min: ..., default: ..., max: ...}",
			"default": "it belongs inside per_query: {default: ..., max: ...}",
			"max":     "it belongs inside per_query: {default: ..., max: ...}",
		},
	}
	perQueryKeys = keySet{known: []string{"min", "default", "max", "delta"}}
	streamKeys   = keySet{
		known: []string{"table", "columns", "size", "alpha", "beta", "queries", "budget", "predictor"},
		other: map[string]string{
			"epsilon": "write what a stream may take of the dataset's epsilon as budget: 1",
			"bins":    "write how a column is cut as columns: {age: {width: 10}}",
			"n":       "write the number of people as 'size'",
		},
	}
	streamColumnKeys = keySet{
		known: []string{"width", "edges"},
		other: map[string]string{
			"keys":   "write the keys where the column is declared; each of them is a value of the stream",
			"bounds": "write the bounds where the column is declared, and how they are cut as width: 10",
			"bins":   "write how a column is cut as width: 10, or edges: [18, 65]",
			"type":   "write the type where the column is declared",
		},
	}
	holdoutKeys = keySet{
		known: []string{"labels", "column", "id", "table", "train", "size", "threshold", "noise", "answers", "steps"},
		other: map[string]string{
			"budget":  "the price of a holdout follows from noise, answers and size",
			"epsilon": "the price of a holdout follows from noise, answers and size",
			"source":  "write the file of labels as labels: labels.csv",
			"n":       "write the number of people as 'size'",
		},
	}
	releaseKeys = keySet{
		known: []string{"deadline", "tick"},
		other: map[string]string{
			"every":     "write how long a tick is as {deadline: 250ms}",
			"immediate": "write release: immediate, or leave it out",
		},
	}
	sizesKeys = keySet{
		known: []string{"people", "tables"},
		other: map[string]string{
			"rows":    "write the rows of each table as tables: {patients: {rows: 100000}}",
			"lengths": "it belongs to a table: tables: {patients: {rows: 100000, lengths: {note: 200}}}",
			"values":  "it belongs to a table: tables: {patients: {rows: 100000, values: {zip: 5000}}}",
		},
	}
	tableSizesKeys = keySet{
		known: []string{"rows", "lengths", "values"},
		other: map[string]string{"people": "it belongs to the sizes of the dataset, next to tables"},
	}
	failuresKeys = keySet{
		known: []string{"analyst", "dataset"},
		other: map[string]string{
			"analysts": "write how many of each analyst as {analyst: 1, dataset: 3}",
			"total":    "write how many of all analysts together as {analyst: 1, dataset: 3}",
		},
	}
	renewalKeys = keySet{
		known: []string{"every", "windows"},
		other: map[string]string{
			"epsilon": "the budget's own epsilon is that of each window",
			"times":   "write how many windows there will ever be as 'windows'",
		},
	}
	analystKeys = keySet{
		known: []string{"share", "epsilon", "expires"},
		other: map[string]string{
			"budget": "an analyst has a share of the dataset's budget, such as share: 0.5, or an epsilon",
			"delta":  "the quota of an analyst is at the dataset's delta; write share or epsilon",
			"groups": "a group lists its analysts, such as groups: {cardiology: {share: 0.5, analysts: [ana, ben]}}",
		},
	}
	groupKeys = keySet{
		known: []string{"share", "epsilon", "analysts"},
		other: map[string]string{
			"budget":  "a group has a share of the dataset's budget, such as share: 0.5, or an epsilon",
			"delta":   "the quota of a group is at the dataset's delta; write share or epsilon",
			"expires": "analysts expire; a group has those that it lists",
		},
	}
	tableKeys = keySet{
		known: []string{"source", "trusted", "prepared", "delimiter", "encoding", "quotes", "bad_lines", "nulls", "formats", "public",
			"unique", "path", "max_rows", "max_groups", "limits_from", "max_joined", "columns"},
		other: map[string]string{
			"max_fanout": "it belongs to the dataset: how many rows of all public tables together one row of a person may meet",
			"unit":       "it belongs to the dataset; a table says how it leads there with 'path', for example path: pid -> patients.pid",
			"bounds":     "it belongs to a column",
			"keys":       "it belongs to a column",
			"format":     "write formats: {date: DD.MM.YYYY}, by type, or a format for one column",
		},
	}
	formatKeys = keySet{known: []string{"integer", "decimal", "boolean", "date", "timestamp"}}
	columnKeys = keySet{
		known: []string{"type", "format", "nulls", "nullable", "bounds", "bounds_from", "granularity", "max_sum", "keys"},
		other: map[string]string{
			"min":      "write both ends as bounds: [lowest, highest]",
			"max":      "write both ends as bounds: [lowest, highest]",
			"lower":    "write both ends as bounds: [lowest, highest]",
			"upper":    "write both ends as bounds: [lowest, highest]",
			"values":   "the values that analysts may group by are listed under 'keys'",
			"public":   "the column's keys say whether it is public: a list is public, 'private' is not",
			"unique":   "it belongs to the table, for example unique: pid",
			"required": "write nullable: false for a column without NULL",
			"null":     "write nullable: true or nullable: false",
		},
	}
)

// explain says what to do about a key that is not in the set, and returns the
// key that was meant where that is likely.
func (s keySet) explain(key, what string) (text, meant string) {
	text = fmt.Sprintf("%s has no key %s", what, quote(key))
	if why, ok := s.other[key]; ok {
		return text + ": " + why, ""
	}
	if meant = nearest(key, s.known); meant != "" {
		return text + didYouMean(key, s.known...), meant
	}
	return text + "; its keys are " + list(s.known), ""
}

func (s keySet) has(key string) bool { return slices.Contains(s.known, key) }
