// Package spelling reads how a file of text spells its values: the template of a date or a time, as
// in DD.MM.YYYY; a number by the example of 1234.56, as in 1.234,56; the two words of a boolean, as
// in ja/nein. It sees no data: it says which texts fit, as patterns that are linear in the text.
package spelling
