package server

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/discreet-dp/discreet"
)

// Ticks are those of all datasets: the owner's, or chosen by how large the data is. They are chosen
// once, when the data is opened, and stay: a tick that followed the data would tell when it grew.
func Ticks(ctx context.Context, db *discreet.DB) (map[string]time.Duration, error) {
	out := map[string]time.Duration{}
	for name, ds := range db.Policy().Datasets {
		magnitude := 0
		if ds.Release.Chosen() {
			var err error
			if magnitude, err = db.Magnitude(ctx, name); err != nil {
				return nil, fmt.Errorf("dataset %s: %w", name, err)
			}
		}
		out[name] = ds.Release.For(magnitude)
	}
	return out, nil
}

// Ticks are the times between two moments at which answers leave, by dataset; 0 where they leave at
// once.
func (s *Server) Ticks() map[string]time.Duration {
	if ticks := s.ticks.Load(); ticks != nil {
		return maps.Clone(*ticks)
	}
	return nil
}
