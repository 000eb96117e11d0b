package server

import (
	"context"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/policy"
)

// ReloadPolicy reads the policy again; see [discreet.DB.Reload]. What came of it is in the log.
func (s *Server) ReloadPolicy(ctx context.Context) error {
	_, err := s.db.Reload(ctx, false)
	return err
}

func (s *Server) readPolicy(load func(path string) (*policy.Policy, error)) (*policy.Policy, error) {
	p, err := load(s.config.Policy)
	if err != nil {
		return nil, err
	}
	for _, dataset := range p.Datasets {
		if s.config.Immediate && !dataset.Release.Stated {
			dataset.Release.Immediate = true
		}
	}
	return p, nil
}

// reloaded takes in what came of reading the policy again, and writes it into the log. What takes
// the policy from the database with each request needs to be told nothing. Connections of psql keep
// the catalogue that they began with, and ask under the new policy.
func (s *Server) reloaded(out *api.Reloaded, err error) {
	<-s.begun
	log := s.config.Log
	if err != nil {
		log.Error("the policy could not be read again; the last one stays in use", "error", err)
		return
	}
	p := s.db.Policy()
	s.dispatcher.Follow(p)
	if err := s.sandbox.Follow(p); err != nil {
		log.Error("the sandbox could not be closed", "error", err)
	}
	log.Info("the policy was read again", "changes", len(out.Changes))
	for _, c := range out.Changes {
		log.Info("the policy has changed", "dataset", c.Dataset, "what", c.What, "was", c.Was, "is", c.Is, "means", c.Means)
	}
}
