// Package posix reads the regular expressions of PostgreSQL (its advanced ones, and SIMILAR TO) and
// writes them once more in a few signs that RE2 and Go's regexp read in the same way: characters as
// sets of numbers, such as [\x{61}-\x{7a}], and ( ) | * + ? {m,n} \A \z \b \B. So what a pattern
// means is decided here, for every engine, and nothing of the analyst's text is left in it.
//
// Both matchers take time in proportion to the text. What they would need more for, back-references
// and looking around, is refused, and so is a pattern whose written-out form is large.
//
// # What a pattern means
//
// It means what it means in PostgreSQL under COLLATE "C". A newline is a character like others, so
// a dot matches it, and ^ and $ are the ends of the whole text. \d, \w, \s and [[:alpha:]] and the
// like are characters of ASCII. Where case is ignored, which ILIKE does too, a character also
// matches its simple upper and lower case of Unicode. Which part of a text is matched is not asked,
// so greedy or not is the same.
package posix
