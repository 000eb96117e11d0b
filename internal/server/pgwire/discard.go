package pgwire

import pg "github.com/pganalyze/pg_query_go/v6"

func (s *session) runDiscard(n *pg.DiscardStmt) (*result, error) {
	switch n.Target {
	case pg.DiscardMode_DISCARD_ALL:
		if s.block.open {
			return nil, failure(activeTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		s.restoring(s.settings.resetAll)
		s.closePortals()
		s.closeStatements()
		s.dropViews()
		return &result{tag: "DISCARD ALL"}, nil
	case pg.DiscardMode_DISCARD_PLANS:
		return &result{tag: "DISCARD PLANS"}, nil
	case pg.DiscardMode_DISCARD_SEQUENCES:
		return &result{tag: "DISCARD SEQUENCES"}, nil
	}
	s.dropViews()
	return &result{tag: "DISCARD TEMP"}, nil
}

// runClose closes a portal, or all of them.
func (s *session) runClose(n *pg.ClosePortalStmt) (*result, error) {
	if n.Portalname == "" {
		s.closePortals()
		return &result{tag: "CLOSE CURSOR ALL"}, nil
	}
	if s.portals[n.Portalname] == nil {
		return nil, failure(invalidCursor, "cursor %q does not exist", clip(n.Portalname))
	}
	s.closePortal(n.Portalname)
	return &result{tag: "CLOSE CURSOR"}, nil
}

// runIdle does nothing, because there is nothing of what the statement waits for, ends or defers.
func (s *session) runIdle(n *pg.Node) *result {
	switch {
	case n.GetListenStmt() != nil:
		s.settings.remark("sessions tell one another nothing here, so nothing will be heard")
		return &result{tag: "LISTEN"}
	case n.GetUnlistenStmt() != nil:
		return &result{tag: "UNLISTEN"}
	}
	return &result{tag: "SET CONSTRAINTS"}
}

func (s *session) runDeallocate(n *pg.DeallocateStmt) (*result, error) {
	if n.Isall {
		s.closeStatements()
		return &result{tag: "DEALLOCATE ALL"}, nil
	}
	if _, ok := s.statements[n.Name]; !ok {
		return nil, failure(invalidStatement, "prepared statement %q does not exist", clip(n.Name))
	}
	s.closeStatement(n.Name)
	return &result{tag: "DEALLOCATE"}, nil
}
