package pgwire

import (
	"slices"
	"strconv"
	"time"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// block is a transaction block. Nothing is written, so there is nothing to undo but settings; but
// clients rely on what a block looks like.
type block struct {
	open, failed   bool
	began          time.Time
	settingsBefore settingValues
	savepoints     []savepoint
	cursorsBefore  int // how many were declared
}

type savepoint struct {
	name               string
	current, committed settingValues
	cursorsBefore      int
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

// endsBlock says whether a statement may still be run in a block that has failed.
func endsBlock(n *pg.TransactionStmt) bool {
	switch n.GetKind() {
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK,
		pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return true
	}
	return false
}

// transactions are a connection's blocks, one after the other. What they change is settings and
// cursors.
type transactions struct {
	block    block
	settings *settings
	objects  *objectStore
	out      *clientWriter
}

func (t *transactions) run(n *pg.TransactionStmt) (string, error) {
	b := &t.block
	switch n.Kind {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN, pg.TransactionStmtKind_TRANS_STMT_START:
		tag := "BEGIN"
		if n.Kind == pg.TransactionStmtKind_TRANS_STMT_START {
			tag = "START TRANSACTION"
		}
		if b.open {
			t.out.notice("WARNING", activeTransaction, "there is already a transaction in progress", "")
		} else {
			*b = block{open: true, began: time.Now(), settingsBefore: t.settings.committed.clone(), cursorsBefore: t.objects.declared}
		}
		return tag, t.setModes(n.Options, true)
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT:
		failed := b.failed
		t.finish(!failed, n.Chain)
		if failed {
			return "ROLLBACK", nil
		}
		return "COMMIT", nil
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		t.finish(false, n.Chain)
		return "ROLLBACK", nil
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		if !b.open {
			return "", failure(noTransaction, "SAVEPOINT can only be used in transaction blocks")
		}
		if len(b.savepoints) >= maxSavepoints {
			return "", failure(limitExceeded, "there are %d savepoints, which is the maximum", maxSavepoints)
		}
		b.savepoints = append(b.savepoints,
			savepoint{n.SavepointName, t.settings.current.clone(), t.settings.committed.clone(), t.objects.declared})
		return "SAVEPOINT", nil
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		return t.endSavepoint(n)
	}
	return "", failure(notSupported, "there are no prepared transactions").withHint("nothing is written, so COMMIT is all that is needed")
}

// endSavepoint releases a savepoint, or goes back to it.
func (t *transactions) endSavepoint(n *pg.TransactionStmt) (string, error) {
	b := &t.block
	release := n.Kind == pg.TransactionStmtKind_TRANS_STMT_RELEASE
	if !b.open {
		return "", failure(noTransaction, "savepoints can only be used in transaction blocks")
	}
	at := len(b.savepoints) - 1
	for at >= 0 && b.savepoints[at].name != n.SavepointName {
		at--
	}
	if at < 0 {
		return "", failure(invalidSavepoint, "savepoint %q does not exist", shorten(n.SavepointName))
	}
	if release {
		b.savepoints = b.savepoints[:at]
		return "RELEASE", nil
	}
	p := b.savepoints[at]
	t.out.reportChanges(func() { t.settings.current, t.settings.committed = p.current.clone(), p.committed.clone() })
	b.savepoints, b.failed = b.savepoints[:at+1], false
	t.objects.closeCursorsAfter(p.cursorsBefore)
	return "ROLLBACK", nil
}

func (t *transactions) finish(commit, chain bool) {
	b := &t.block
	if !b.open {
		t.out.notice("WARNING", noTransaction, "there is no transaction in progress", "")
		return
	}
	t.out.reportChanges(func() {
		if !commit {
			t.settings.committed = b.settingsBefore.clone()
		}
		t.settings.current = t.settings.committed.clone()
	})
	kept := b.cursorsBefore // who goes back undeclares
	if commit {
		kept = t.objects.declared
	}
	*b = block{}
	t.objects.endPortals(kept)
	if chain {
		*b = block{open: true, began: time.Now(), settingsBefore: t.settings.committed.clone(), cursorsBefore: t.objects.declared}
	}
}

// setModes takes the modes of a transaction, which are all the same here.
func (t *transactions) setModes(options []*pg.Node, local bool) error {
	for _, o := range options {
		d := o.GetDefElem()
		if d == nil || !slices.Contains([]string{"transaction_isolation", "transaction_read_only", "transaction_deferrable"}, d.Defname) {
			return failure(notSupported, "this mode of transactions is not supported")
		}
		value, ok := constantText(d.Arg)
		if !ok {
			return failure(notSupported, "this mode of transactions is not supported")
		}
		name := d.Defname
		if !local {
			name = "default_" + name
		}
		if err := t.change(name, value, local); err != nil {
			return err
		}
	}
	return nil
}

// refuseInFailedBlock refuses everything in a block that has failed, but for its end.
func (t *transactions) refuseInFailedBlock(st *statement) error {
	if t.block.failed && !endsBlock(st.node.GetTransactionStmt()) {
		return failure(failedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
	}
	return nil
}

// change sets a setting, and tells the client where that is what it expects.
func (t *transactions) change(name, value string, local bool) (err error) {
	t.out.reportChanges(func() {
		if local && !t.block.open {
			check := *t.settings
			check.current, check.committed = check.current.clone(), check.committed.clone()
			if err = check.set(name, value, true); err == nil {
				t.out.notice("WARNING", noTransaction, "SET LOCAL can only be used in transaction blocks", "")
			}
			return
		}
		err = t.settings.set(name, value, local)
	})
	return err
}

func (r *runner) runSet(n *pg.VariableSetStmt) (*result, error) {
	out := &result{tag: "SET"}
	switch n.Kind {
	case pg.VariableSetKind_VAR_SET_VALUE:
		value := ""
		for i, a := range n.Args {
			text, ok := constantText(a)
			if !ok {
				return nil, failure(notSupported, "this value cannot be set").withHint("write a text in quotes, or a number")
			}
			if i > 0 {
				value += ", "
			}
			value += text
		}
		switch n.Name {
		case "session_authorization":
			return nil, failure(notPermitted, "you cannot become another user here").withHint("log in as that user")
		case "role":
			if value != "none" && value != r.user.Name {
				return nil, failure(notPermitted, "there are no roles to change to").withHint("log in as that user")
			}
			return out, nil
		}
		return out, r.transactions.change(n.Name, value, n.IsLocal)
	case pg.VariableSetKind_VAR_SET_DEFAULT, pg.VariableSetKind_VAR_RESET:
		if n.Kind == pg.VariableSetKind_VAR_RESET {
			out.tag = "RESET"
		}
		var err error
		r.out.reportChanges(func() { err = r.settings.reset(n.Name, n.IsLocal) })
		return out, err
	case pg.VariableSetKind_VAR_RESET_ALL:
		r.out.reportChanges(r.settings.resetAll)
		return &result{tag: "RESET"}, nil
	case pg.VariableSetKind_VAR_SET_MULTI:
		switch n.Name {
		case "TRANSACTION":
			return out, r.transactions.setModes(n.Args, true)
		case "SESSION CHARACTERISTICS":
			return out, r.transactions.setModes(n.Args, false)
		}
	case pg.VariableSetKind_VAR_SET_CURRENT:
		return out, nil
	}
	return nil, failure(notSupported, "this SET is not supported")
}

// constantText reads a value of a SET. An interval is written as a cast.
func constantText(n *pg.Node) (string, bool) {
	if cast := n.GetTypeCast(); cast != nil {
		n = cast.Arg
	}
	c := n.GetAConst()
	if c == nil {
		return "", false
	}
	switch v := c.Val.(type) {
	case *pg.A_Const_Ival:
		return strconv.FormatInt(int64(v.Ival.GetIval()), 10), true
	case *pg.A_Const_Fval:
		return v.Fval.GetFval(), true
	case *pg.A_Const_Sval:
		return v.Sval.GetSval(), true
	case *pg.A_Const_Boolval:
		return map[bool]string{true: "on", false: "off"}[v.Boolval.GetBoolval()], true
	}
	return "", false
}
