package pgwire

import (
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v6"
)

// change sets a setting, and tells the client where that is what it expects.
func (s *session) change(name, value string, local bool) (err error) {
	s.restoring(func() {
		if local && !s.block.open {
			check := *s.settings
			check.now, check.kept = check.now.clone(), check.kept.clone()
			if err = check.set(name, value, true); err == nil {
				s.notice("WARNING", noTransaction, "SET LOCAL can only be used in transaction blocks", "")
			}
			return
		}
		err = s.settings.set(name, value, local)
	})
	return err
}

func (s *session) runSet(n *pg.VariableSetStmt) (*result, error) {
	out := &result{tag: "SET"}
	switch n.Kind {
	case pg.VariableSetKind_VAR_SET_VALUE:
		value := ""
		for i, a := range n.Args {
			text, ok := constant(a)
			if !ok {
				return nil, failure(notSupported, "this value cannot be set").hinting("write a text in quotes, or a number")
			}
			if i > 0 {
				value += ", "
			}
			value += text
		}
		switch n.Name {
		case "session_authorization":
			return nil, failure(notPermitted, "nobody becomes somebody else here").hinting("log in as that user")
		case "role":
			if value != "none" && value != s.user.Name {
				return nil, failure(notPermitted, "there are no roles to change to").hinting("log in as that user")
			}
			return out, nil
		}
		return out, s.change(n.Name, value, n.IsLocal)
	case pg.VariableSetKind_VAR_SET_DEFAULT, pg.VariableSetKind_VAR_RESET:
		if n.Kind == pg.VariableSetKind_VAR_RESET {
			out.tag = "RESET"
		}
		var err error
		s.restoring(func() { err = s.settings.reset(n.Name, n.IsLocal) })
		return out, err
	case pg.VariableSetKind_VAR_RESET_ALL:
		s.restoring(s.settings.resetAll)
		return &result{tag: "RESET"}, nil
	case pg.VariableSetKind_VAR_SET_MULTI:
		switch n.Name {
		case "TRANSACTION":
			return out, s.characterise(n.Args, true)
		case "SESSION CHARACTERISTICS":
			return out, s.characterise(n.Args, false)
		}
	case pg.VariableSetKind_VAR_SET_CURRENT:
		return out, nil
	}
	return nil, failure(notSupported, "this SET is not supported")
}

// constant reads a value of a SET. An interval is written as a cast.
func constant(n *pg.Node) (string, bool) {
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
