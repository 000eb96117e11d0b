package pgwire

import (
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	pg "github.com/pganalyze/pg_query_go/v6"
)

// block is a transaction block. Nothing is written, so there is nothing to undo but settings; but
// clients rely on what a block looks like.
type block struct {
	open, failed bool
	began        time.Time
	before       values // the settings at its start
	points       []savepoint
	declared     int // cursors, before it
}

type savepoint struct {
	name      string
	now, kept values
	declared  int // cursors, before it
}

func (b *block) status() byte {
	switch {
	case b.failed:
		return 'E'
	case b.open:
		return 'T'
	}
	return 'I'
}

// now is what now() is, as in PostgreSQL: when the block began, and outside of one when it is
// asked.
func (b *block) now() time.Time {
	if b.open {
		return b.began
	}
	return time.Now()
}

// fail notes an error: in a block, nothing goes on after it.
func (b *block) fail() { b.failed = b.open }

// ends says whether a statement may still be run in a block that has failed.
func ends(n *pg.TransactionStmt) bool {
	switch n.GetKind() {
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK,
		pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return true
	}
	return false
}

// transact does what a statement about transactions says, and returns its tag.
func (s *session) transact(n *pg.TransactionStmt) (string, error) {
	b := &s.block
	switch n.Kind {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN, pg.TransactionStmtKind_TRANS_STMT_START:
		tag := "BEGIN"
		if n.Kind == pg.TransactionStmtKind_TRANS_STMT_START {
			tag = "START TRANSACTION"
		}
		if b.open {
			s.notice("WARNING", activeTransaction, "there is already a transaction in progress", "")
		} else {
			*b = block{open: true, began: time.Now(), before: s.settings.kept.clone(), declared: s.declared}
		}
		return tag, s.characterise(n.Options, true)
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT:
		failed := b.failed
		s.finish(!failed, n.Chain)
		if failed {
			return "ROLLBACK", nil
		}
		return "COMMIT", nil
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		s.finish(false, n.Chain)
		return "ROLLBACK", nil
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		if !b.open {
			return "", failure(noTransaction, "SAVEPOINT can only be used in transaction blocks")
		}
		if len(b.points) >= maxSavepoints {
			return "", failure(limitExceeded, "there are %d savepoints, and no more can be", maxSavepoints)
		}
		b.points = append(b.points, savepoint{n.SavepointName, s.settings.now.clone(), s.settings.kept.clone(), s.declared})
		return "SAVEPOINT", nil
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return s.goBack(n)
	}
	return "", failure(notSupported, "there are no prepared transactions").hinting("nothing is written, so COMMIT is all that is needed")
}

// goBack releases a savepoint, or goes back to it.
func (s *session) goBack(n *pg.TransactionStmt) (string, error) {
	b := &s.block
	release := n.Kind == pg.TransactionStmtKind_TRANS_STMT_RELEASE
	if !b.open {
		return "", failure(noTransaction, "savepoints can only be used in transaction blocks")
	}
	at := len(b.points) - 1
	for at >= 0 && b.points[at].name != n.SavepointName {
		at--
	}
	if at < 0 {
		return "", failure(invalidSavepoint, "savepoint %q does not exist", clip(n.SavepointName))
	}
	if release {
		b.points = b.points[:at]
		return "RELEASE", nil
	}
	p := b.points[at]
	s.restoring(func() { s.settings.now, s.settings.kept = p.now.clone(), p.kept.clone() })
	b.points, b.failed = b.points[:at+1], false
	s.closeAfter(p.declared)
	return "ROLLBACK", nil
}

// finish ends a block.
func (s *session) finish(commit, chain bool) {
	b := &s.block
	if !b.open {
		s.notice("WARNING", noTransaction, "there is no transaction in progress", "")
		return
	}
	s.restoring(func() {
		if !commit {
			s.settings.kept = b.before.clone()
		}
		s.settings.now = s.settings.kept.clone()
	})
	kept := b.declared // who goes back undeclares
	if commit {
		kept = s.declared
	}
	*b = block{}
	s.endPortals(kept)
	if chain {
		*b = block{open: true, began: time.Now(), before: s.settings.kept.clone(), declared: s.declared}
	}
}

// restoring changes settings, and tells the client of those that it is told of.
func (s *session) restoring(change func()) {
	before := make([]string, len(reported))
	for i, name := range reported {
		before[i], _ = s.settings.show(name)
	}
	change()
	for i, name := range reported {
		if now, _ := s.settings.show(name); now != before[i] {
			s.conn.send(&pgproto3.ParameterStatus{Name: name, Value: now})
		}
	}
}

// characterise takes the modes of a transaction, which are all the same here.
func (s *session) characterise(options []*pg.Node, local bool) error {
	for _, o := range options {
		d := o.GetDefElem()
		if d == nil || !slices.Contains([]string{"transaction_isolation", "transaction_read_only", "transaction_deferrable"}, d.Defname) {
			return failure(notSupported, "this mode of transactions is not supported")
		}
		value, ok := constant(d.Arg)
		if !ok {
			return failure(notSupported, "this mode of transactions is not supported")
		}
		name := d.Defname
		if !local {
			name = "default_" + name
		}
		if err := s.change(name, value, local); err != nil {
			return err
		}
	}
	return nil
}
