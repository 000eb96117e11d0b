package expr

import (
	"regexp"

	"github.com/discreet-dp/discreet/internal/plan/tree"
)

var integerText, decimalText, dateText, timestampText = regexp.MustCompile(`\A` + tree.IntegerText + `\z`),
	regexp.MustCompile(`\A` + tree.DecimalText + `\z`),
	regexp.MustCompile(`\A` + tree.DateText + `\z`), regexp.MustCompile(`\A` + tree.TimestampText + `\z`)
