package manual

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"
)

// What a search may take: anybody can ask for one.
const (
	maxQueryBytes = 200
	maxQueryWords = 12
	maxFound      = 12
	beginLength   = 180
)

func newSection(page, anchor, title, heading string) section {
	s := section{Page: page, Anchor: anchor, Title: title, Heading: heading, words: map[string]int{}, titled: map[string]bool{}}
	for _, w := range terms(heading + " " + title + " " + strings.ReplaceAll(page, "-", " ")) {
		s.titled[w] = true
	}
	return s
}

func (s *section) add(text string) {
	for _, w := range terms(text) {
		s.words[w]++
	}
	if text != "" && len(s.Begin) < beginLength && !strings.HasSuffix(s.Begin, " ...") {
		s.Begin = strings.TrimSpace(s.Begin + " " + text)
		if len(s.Begin) > beginLength {
			cut := strings.LastIndexByte(s.Begin[:beginLength], ' ')
			s.Begin = s.Begin[:max(cut, 0)] + " ..."
		}
	}
}

// common are words that say nothing of what somebody looks for.
var common = strings.Fields("a an and are as at be by can do does for from get have how i in is it its me my of on or the there this to " +
	"use want what when where which who why with you your mean means need should")

// synonyms are words of newcomers, with those of the pages.
var synonyms = map[string]string{stem("wrong"): stem("error"), stem("inaccurate"): stem("error"), stem("accuracy"): stem("error"),
	stem("login"): stem("user"), stem("cost"): stem("price"), stem("expensive"): stem("price"), stem("slow"): stem("time"),
	stem("create"): stem("add")}

// terms returns the words of a text as they are compared.
func terms(text string) []string {
	var out []string
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
	for _, w := range strings.FieldsFunc(strings.ToLower(text), between) {
		if !slices.Contains(common, w) && len(w) < 40 {
			out = append(out, stem(w))
		}
	}
	return out
}

// stem takes away what makes one word of several: counts, counted, counting.
func stem(w string) string {
	for _, end := range []string{"ing", "ies", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) > 2 && !strings.HasSuffix(rest, "s") {
			if end == "ies" {
				return rest + "y"
			}
			return strings.TrimSuffix(rest, "e")
		}
	}
	return strings.TrimSuffix(w, "e")
}

// favour is for pages where somebody who searches wants to come out first, and where last.
var favour = map[string]float64{"analyst": 1.5, "backup": 1.5, "budget": 1.8, "owner": 1.5, "python": 1.5, "r": 1.5, "server": 1.5,
	"sql": 1.5, "sql-private": 1.5, "time": 1.2, "users": 1.5, "accounting": 0.5, "benchmarks": 0.4, "commands": 0.6, "design": 0.4,
	"enforcement": 0.6, "holdout": 0.6, "http": 0.6, "mechanisms": 0.5, "researcher": 0.5, "testing": 0.5, "threat-model": 0.6}

// searching lets one search run at a time: who has not signed in keeps one processor busy at most.
var searching = make(chan struct{}, 1)

// cut is as much of a query as is looked for, and shown again.
func cut(query string) string {
	if len(query) > maxQueryBytes {
		query = query[:maxQueryBytes]
	}
	return strings.ToValidUTF8(query, "")
}

// search returns the sections that a query is most likely about, the best first. A word that few
// sections have says more, and one in a heading more than one below it. Whoever hung up, or had to
// make room, waits for no other search: else what strangers leave behind would have no bound.
func (m *manual) search(ctx context.Context, query string) ([]section, error) {
	words := terms(cut(query))
	if len(words) > maxQueryWords {
		words = words[:maxQueryWords]
	}
	select {
	case searching <- struct{}{}:
		defer func() { <-searching }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type scored struct {
		section
		score float64
	}
	var all []scored
	weights := m.weights(words)
	for _, s := range m.sections {
		score, hits := 0.0, 0
		for i, w := range words {
			other, titled := synonyms[w], s.titled[w]
			n := s.words[w]
			if other != "" {
				n, titled = n+s.words[other], titled || s.titled[other]
			}
			if n == 0 && !titled {
				continue
			}
			hits++
			score += weights[i] * (1 + math.Log1p(float64(n)))
			if titled {
				score += 2 * weights[i]
			}
		}
		if hits > 0 {
			share := float64(hits) / float64(len(words))
			all = append(all, scored{s, score * share * cmp.Or(favour[s.Page], 1)})
		}
	}
	slices.SortStableFunc(all, func(x, y scored) int { return cmp.Compare(y.score, x.score) })
	var out []section
	for _, s := range all[:min(len(all), maxFound)] {
		out = append(out, s.section)
	}
	return out, nil
}

// weights says how much each word tells.
func (m *manual) weights(words []string) []float64 {
	out := make([]float64, len(words))
	for i, w := range words {
		have := 0
		for _, s := range m.sections {
			if s.words[w] > 0 || s.titled[w] {
				have++
			}
		}
		out[i] = math.Log(float64(len(m.sections)+1) / float64(have+1))
	}
	return out
}
