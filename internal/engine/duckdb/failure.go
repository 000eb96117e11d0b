package duckdb

import (
	"context"
	"errors"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
)

// Failures that say how they ended. Their text is that of ErrRun.
var (
	errStopped = &engine.Failure{How: engine.Stopped, Err: ErrRun}
	errMemory  = &engine.Failure{How: engine.Memory, Err: ErrRun}
)

// failure is ErrRun, whatever an error says, with how the run ended. DuckDB's own word comes first: a question that failed is not stopped because its context ended meanwhile.
func failure(ctx context.Context, err error) error {
	var said *driver.Error
	switch {
	case errors.As(err, &said) && said.Type == driver.ErrorTypeOutOfMemory, errors.Is(err, chunks.ErrMemory):
		return errMemory
	case errors.As(err, &said) && said.Type != driver.ErrorTypeInterrupt, errors.Is(err, chunks.ErrQuery):
		return ErrRun
	case ctx.Err() != nil:
		return errStopped
	}
	return ErrRun
}
