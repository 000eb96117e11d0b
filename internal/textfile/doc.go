// Package textfile knows how files of text are written. [Scan] finds the lines of a CSV file that
// are no rows, and copies the rest. [ParseMoment], [ParseNumber] and [ParseTruth] read how a file
// spells its values: the template of a date or a time, as in DD.MM.YYYY; a number by the example of
// 1234.56, as in 1.234,56; the two words of a boolean, as in ja/nein. These see no data: they say
// which texts fit, as patterns that are linear in the text.
//
// A line is good or bad by itself: by how many values it has, whether it is UTF-8, its length; in a
// file that is said to be in another [Encoding] these are judged after decoding. So
// leaving bad lines out is a decision about each row that rests on that row alone, and one person's
// line never decides about another's.
//
// Quotes are the exception. A value that begins with a quote goes on over the ends of lines until
// another quote ends it, so in a file whose writer does not double the quotes of texts, somebody's
// text swallows the rows that follow. Such a file cannot be read line by line and cannot be mended
// by leaving lines out: it is reported as [Report.Broken], and it is for the caller to refuse it.
// Where a writer never quotes, [Shape.Unquoted] reads quotes as signs like others, and every line
// is a row.
//
// A copy means what the file means, and is written in the plainest way, which no reader takes for
// anything else.
//
// What is found is for the owner of the data: it depends on the rows, though it quotes none of
// them.
package textfile
