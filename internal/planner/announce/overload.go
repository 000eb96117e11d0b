package announce

import (
	"slices"
	"strings"
)

// overload is one of the functions or operators of a name.
type overload struct {
	takes []string
	gives string
}

// overloads reads a list of them: "int4,int4>int8 date>text".
func overloads(list string) []overload {
	var out []overload
	for _, f := range strings.Fields(list) {
		takes, gives, _ := strings.Cut(f, ">")
		out = append(out, overload{strings.Split(takes, ","), gives})
	}
	return out
}

// resolve is the type of a call: that of the overload which PostgreSQL chooses, by the rules of
// func_select_candidate in parse_func.c. Where it would have none, because it takes less than we
// do, it is the nearest.
func resolve(all []overload, args []string) string {
	if slices.Contains(args, "") {
		return oneResult(all)
	}
	all = keep(all, func(o overload) bool { return len(o.takes) == len(args) })
	for _, o := range all {
		if slices.Equal(o.takes, args) {
			return o.gives
		}
	}
	fitting := keep(all, func(o overload) bool {
		for i, t := range o.takes {
			if !coerces(args[i], t) {
				return false
			}
		}
		return true
	})
	if len(fitting) == 0 {
		return nearest(all, args)
	}
	fitting = best(fitting, func(o overload) (n int) {
		for i, t := range o.takes {
			if t == args[i] {
				n++
			}
		}
		return n
	})
	fitting = best(fitting, func(o overload) (n int) {
		for i, t := range o.takes {
			if t == args[i] || args[i] != unknown && slices.Contains(preferred, t) && categories[t] == categories[args[i]] {
				n++
			}
		}
		return n
	})
	if gives := oneResult(fitting); gives != "" {
		return gives
	}
	return oneResult(narrow(fitting, args))
}

// narrow chooses by the arguments that are quoted constants: texts where a candidate takes one,
// otherwise what the category prefers, otherwise what the known ones are.
func narrow(all []overload, args []string) []overload {
	for i, a := range args {
		if a != unknown {
			continue
		}
		category := "S"
		if !slices.ContainsFunc(all, func(o overload) bool { return categories[o.takes[i]] == "S" }) {
			category = categories[all[0].takes[i]]
		}
		all = keepSome(all, func(o overload) bool { return categories[o.takes[i]] == category })
		all = keepSome(all, func(o overload) bool { return slices.Contains(preferred, o.takes[i]) })
	}
	return all
}

// nearest is the type of what PostgreSQL has no such call for, but one for arguments of these
// categories: round(x, 2) of a float8 is that of a numeric.
func nearest(all []overload, args []string) string {
	all = keep(all, func(o overload) bool {
		for i, t := range o.takes {
			if args[i] != unknown && categories[args[i]] != categories[t] {
				return false
			}
		}
		return true
	})
	all = keepSome(all, func(o overload) bool { return o.gives == "numeric" })
	if len(all) == 0 {
		return ""
	}
	return all[0].gives
}

// oneResult is what all of them give, or nothing.
func oneResult(all []overload) string {
	if len(all) == 0 {
		return ""
	}
	for _, o := range all {
		if o.gives != all[0].gives {
			return ""
		}
	}
	return all[0].gives
}

func keep(all []overload, wanted func(overload) bool) (out []overload) {
	for _, o := range all {
		if wanted(o) {
			out = append(out, o)
		}
	}
	return out
}

// keepSome is keep, unless that would leave none.
func keepSome(all []overload, wanted func(overload) bool) []overload {
	if out := keep(all, wanted); len(out) > 0 {
		return out
	}
	return all
}

// best keeps those with the largest count.
func best(all []overload, count func(overload) int) []overload {
	most := 0
	for _, o := range all {
		most = max(most, count(o))
	}
	return keep(all, func(o overload) bool { return count(o) == most })
}
