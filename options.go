package discreet

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/engine/duckdb"
	"github.com/discreet-dp/discreet/policy"
)

// Options are how a policy is opened. The zero value is what Open uses.
type Options struct {
	// Memory bounds what the engine of each dataset takes, such as 512MB or 4GB; nothing is the engine's default, which is four fifths of the
	// machine's. What is larger is spilled to disk. Queries around answers have engines of their own, of 256MB each, at most four at a time,
	// whatever stands here.
	Memory string
	// Threads is how many cores one question can use; 0 is all of them.
	Threads int
	// Incident, where it is not nil, is told of every question that failed after its charge, when that is in the ledger; see [DB.Release]. It holds no data, and is for the owner.
	Incident func(api.Incident)
}

func (o Options) limits() (duckdb.Limits, error) {
	memory, err := duckdb.ParseMemory(o.Memory)
	if err != nil {
		return duckdb.Limits{}, fmt.Errorf("memory: %w", err)
	}
	l := duckdb.Limits{Memory: memory, Threads: o.Threads}
	return l, l.Check()
}

// Open opens the policy at path and its ledger, which it creates where there is
// none. One process at a time can have a ledger open.
func Open(ctx context.Context, path string) (*DB, error) { return OpenWith(ctx, path, Options{}) }

// OpenWith is Open with options.
func OpenWith(_ context.Context, path string, o Options) (*DB, error) {
	p, err := policy.Load(path)
	if err != nil {
		return nil, err
	}
	return OpenPolicyWith(p, o)
}

// OpenPolicy is Open for a policy that was already read.
func OpenPolicy(p *policy.Policy) (*DB, error) { return OpenPolicyWith(p, Options{}) }
