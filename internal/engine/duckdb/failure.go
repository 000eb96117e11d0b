package duckdb

import (
	"context"
	"errors"

	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/discreet-dp/discreet/internal/engine"
	"github.com/discreet-dp/discreet/internal/engine/duckdb/chunks"
)

// Failures that say how they ended. Their text is that of engine.ErrRun.
var (
	errStopped = &engine.Failure{How: engine.Stopped, Err: engine.ErrRun}
	errMemory  = &engine.Failure{How: engine.Memory, Err: engine.ErrRun}
)

// failure is engine.ErrRun, whatever an error says, with how the run ended. DuckDB's own word comes
// first: a question that failed is not stopped because its context ended meanwhile.
func failure(ctx context.Context, err error) error {
	var said *driver.Error
	switch {
	case errors.As(err, &said) && said.Type == driver.ErrorTypeOutOfMemory, errors.Is(err, chunks.ErrMemory):
		return errMemory
	case errors.As(err, &said) && said.Type != driver.ErrorTypeInterrupt, errors.Is(err, chunks.ErrQuery):
		return engine.ErrRun
	case ctx.Err() != nil:
		return errStopped
	}
	return engine.ErrRun
}
