package policy

import "strings"

// didYouMean returns the end of a sentence that offers the known word nearest to the
// one that was written, or nothing when none is near.
func didYouMean(got string, known ...string) string {
	if best := nearest(got, known); best != "" {
		return "; did you mean " + quote(best) + "?"
	}
	return ""
}

// nearest returns the known word that got is a misspelling of, or nothing. Up to a third
// of the letters may be wrong.
func nearest(got string, known []string) string {
	// Long words are no slip of the pen, and the distance takes quadratic time.
	if got == "" || len(got) > 2*maxName {
		return ""
	}
	best, least := "", max(1, len(got)/3)+1
	for _, k := range known {
		if k == got || len(k) > 2*maxName {
			continue
		}
		if d := distance(strings.ToLower(got), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is the number of letters to insert, remove, replace or swap with their
// neighbour to turn a into b: the optimal string alignment distance (Damerau 1964).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
