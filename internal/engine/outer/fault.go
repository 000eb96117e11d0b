package outer

import (
	"context"
	"errors"
	"fmt"
	"strings"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/api"
)

// What stops a statement. None of these costs anything, and the released results stay.
var (
	ErrTime    = stopped("took more than %v and was stopped; join and generate fewer rows", Time)
	ErrMemory  = stopped("needs more than %s of memory and was stopped; join and generate fewer rows", Memory)
	ErrRows    = stopped("has more than %d rows; add a LIMIT or group them", MaxRows)
	ErrBytes   = stopped("has an answer that is larger than %d MB; select less", MaxBytes>>20)
	ErrText    = stopped("makes a text of %d characters or more; make it shorter with left()", MaxText)
	errColumns = stopped("has more than %d columns; name those that you need", MaxColumns)
	errStart   = error(&api.AroundError{Text: "the engine for outer queries did not start; try again"})
)

func stopped(format string, args ...any) error {
	return &api.AroundError{Text: "the outer query " + fmt.Sprintf(format, args...)}
}

// busy says why a context ended: our own limit, or the caller.
func busy(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), ErrTime) {
		return ErrTime
	}
	return ctx.Err()
}

// message is what DuckDB says, in one line and without its own marks. It names columns and released
// values.
func message(text string) string {
	line, _, _ := strings.Cut(strings.ReplaceAll(text, mark, ""), "\n")
	if _, rest, ok := strings.Cut(line, "Error: "); ok {
		line = rest
	}
	runes := []rune(strings.TrimRight(strings.TrimSpace(line), "!.;"))
	if len(runes) > 200 {
		runes = append(runes[:200], []rune(" ...")...)
	}
	return string(runes)
}

// told are the errors of DuckDB that are about the statement and its values.
var told = map[driver.ErrorType]bool{
	driver.ErrorTypeBinder: true, driver.ErrorTypeOutOfRange: true, driver.ErrorTypeConversion: true, driver.ErrorTypeInvalidInput: true,
	driver.ErrorTypeMismatchType: true, driver.ErrorTypeParser: true, driver.ErrorTypeSyntax: true, driver.ErrorTypeCatalog: true,
	driver.ErrorTypeNotImplemented: true, driver.ErrorTypeDivideByZero: true, driver.ErrorTypeExpression: true,
	driver.ErrorTypeDecimal: true,
}

// reason turns an error of DuckDB into one sentence. The second result says whether it was one of
// ours.
func reason(ctx context.Context, err error) (string, error) {
	if ctx.Err() != nil {
		return "", busy(ctx)
	}
	var d *driver.Error
	if !errors.As(err, &d) {
		return "DuckDB cannot run it", nil
	}
	switch {
	case d.Type == driver.ErrorTypeOutOfMemory:
		return "", ErrMemory
	case told[d.Type]:
		return message(d.Msg), nil
	}
	return "DuckDB cannot run it", nil
}

// refusal is for what goes wrong before a statement runs.
func refusal(ctx context.Context, err error) error {
	text, ours := reason(ctx, err)
	if ours != nil {
		return ours
	}
	return &api.Refusal{Reason: "the query around the released results cannot run: " + text,
		Instead: "look at the names and types of the columns that the inner queries return", Position: -1}
}

// failure is for what goes wrong while it runs.
func failure(ctx context.Context, err error) error {
	text, ours := reason(ctx, err)
	if ours != nil {
		return ours
	}
	return &api.AroundError{Text: "the query around the released results stopped: " + text}
}
