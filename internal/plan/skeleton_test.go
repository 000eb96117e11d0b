package plan_test

import (
	"encoding/json"
	"math/big"
	"strings"

	"github.com/discreet-dp/discreet/api"
)

// prune takes the places out of a tree and puts # in the place of every parameter, and of every constant that has the value v. A constant
// that the question had itself with that value is taken out on both sides.
func prune(text string, v api.Parameter) string {
	var tree any
	if err := json.Unmarshal([]byte(text), &tree); err != nil {
		return err.Error()
	}
	out, _ := json.Marshal(pruned(tree, v))
	return string(out)
}

func pruned(x any, v api.Parameter) any {
	switch x := x.(type) {
	case []any:
		for i := range x {
			x[i] = pruned(x[i], v)
		}
		return x
	case map[string]any:
		if _, ok := x["ParamRef"]; ok {
			return "#"
		}
		if isValue(x, v) {
			return "#"
		}
		for k := range x {
			if k == "location" || strings.HasPrefix(k, "stmt_l") {
				delete(x, k)
				continue
			}
			x[k] = pruned(x[k], v)
		}
		// A minus is a part of the number after it, on whichever side it was written.
		if e, ok := x["A_Expr"].(map[string]any); ok && e["rexpr"] == "#" && e["lexpr"] == nil && e["kind"] == "AEXPR_OP" && (v.Kind == "integer" || v.Kind == "decimal") && !v.Null {
			if name, _ := json.Marshal(e["name"]); string(name) == `[{"String":{"sval":"-"}}]` {
				return "#"
			}
		}
		return x
	}
	return x
}

// isValue reports whether a node is a constant with the value.
func isValue(x map[string]any, v api.Parameter) bool {
	if cast, ok := x["TypeCast"].(map[string]any); ok && !v.Null && (v.Kind == "date" || v.Kind == "timestamp") {
		name, _ := json.Marshal(cast["typeName"])
		arg, ok := cast["arg"].(map[string]any)
		return ok && strings.Contains(string(name), `{"sval":"`+v.Kind+`"}`) && isValue(arg, api.Parameter{Text: strings.TrimSpace(v.Text)})
	}
	c, ok := x["A_Const"].(map[string]any)
	if !ok {
		return false
	}
	if c["isnull"] == true {
		return v.Null
	}
	if v.Null {
		return false
	}
	inside := func(kind string) (any, bool) {
		m, ok := c[kind].(map[string]any)
		if !ok {
			return nil, false
		}
		return m[kind], true
	}
	switch v.Kind {
	case "", "text":
		s, ok := inside("sval")
		return ok && (s == v.Text || s == nil && v.Text == "")
	case "boolean":
		b, ok := inside("boolval")
		return ok && (b == true) == strings.Contains("true ON t 1 yes y TRUE on T", v.Text)
	case "integer", "decimal":
		want, ok := new(big.Rat).SetString(strings.TrimSpace(v.Text))
		if !ok {
			return false
		}
		got := new(big.Rat)
		if n, ok := inside("ival"); ok {
			if n != nil {
				got.SetInt64(int64(n.(float64)))
			}
		} else if s, ok := inside("fval"); ok {
			if _, ok := got.SetString(s.(string)); !ok {
				return false
			}
		} else {
			return false
		}
		return got.Abs(got).Cmp(want.Abs(want)) == 0
	}
	return false
}
