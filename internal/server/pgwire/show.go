package pgwire

import (
	"context"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/ledger"
)

// showColumns are those of a SHOW.
func showColumns(name string) []column {
	switch strings.ToLower(name) {
	case "all":
		return []column{{"name", textOID}, {"setting", textOID}, {"description", textOID}}
	case budgetSetting:
		return []column{{"account", textOID}, {"kind", textOID}, {"claim", textOID}, {"limit", textOID},
			{"spent", textOID}, {"left", textOID}}
	}
	if k, ok := find(name); ok {
		name = k.name
	}
	return []column{{name, textOID}}
}

func (s *session) checkShow(name string) error {
	if _, ok := s.settings.show(name); ok || strings.EqualFold(name, "all") || strings.EqualFold(name, budgetSetting) {
		return nil
	}
	return unknown(name)
}

// about says what our settings are.
var about = map[string]string{
	"dp.epsilon":    "what a question pays",
	"dp.delta":      "how much of delta private keys may cost",
	"dp.error":      "the error that counts and sums should have, at the least price",
	"dp.confidence": "how often the exact number lies within the error",
	"dp.mechanism":  "the noise of counts and sums: laplace or gaussian",
	"dp.max_groups": "in how many groups one person counts at most",
	"dp.max_sum":    "what one person adds to a sum in one group at most",
	"dp.errors":     "whether answers have columns of error bars: off, columns or interval",
	"dp.counts":     "whether counts below 0 are shown as they are: noisy, or as 0: nonnegative",
	"dp.stream":     "whether counts go through a stream of the policy: auto, on or off",
	requestSetting:  "names the next question, so that it can be asked again without a second charge",
}

func (s *session) runShow(name string) (*result, error) {
	out := &result{tag: "SHOW", columns: showColumns(name)}
	switch {
	case strings.EqualFold(name, "all"):
		for _, n := range append(api.SettingNames(), requestSetting) {
			value, _ := s.settings.show(n)
			out.rows = append(out.rows, []any{n, value, about[n]})
		}
		for _, k := range known {
			value, _ := s.settings.show(k.name)
			out.rows = append(out.rows, []any{k.name, value, ""})
		}
		return out, nil
	case strings.EqualFold(name, budgetSetting):
		err := s.showBudget(out)
		return out, err
	}
	value, _ := s.settings.show(name)
	out.rows = [][]any{{value}}
	return out, nil
}

// showBudget shows an analyst's own account, and an owner all of them.
func (s *session) showBudget(out *result) error {
	db := s.server.options.Dispatcher.DB()
	return s.running(func(ctx context.Context) error {
		accounts, err := db.Budget(ctx, s.dataset.Name)
		if err != nil {
			return err
		}
		closed, two := slices.ContainsFunc(accounts, keptByRho), false
		for _, a := range accounts {
			if s.analyst && !s.own(a) {
				continue
			}
			if closed && a.Limit.Rho != dp.Unbounded {
				a.Limit.Epsilon = dp.Unbounded
			}
			two = two || a.Limit.Epsilon != dp.Unbounded && a.Limit.Rho != dp.Unbounded
			for _, c := range []struct {
				name               string
				limit, spent, left dp.Amount
			}{
				{"epsilon", a.Limit.Epsilon, a.Spent.Epsilon, a.Left.Epsilon},
				{"rho", a.Limit.Rho, a.Spent.Rho, a.Left.Rho},
				{"delta", a.Limit.Delta, a.Spent.Delta, a.Left.Delta},
			} {
				if c.limit != dp.Unbounded && c.limit > 0 {
					out.rows = append(out.rows, []any{a.Name, a.Kind, c.name, c.limit.String(), c.spent.String(), c.left.String()})
				}
			}
		}
		if two {
			s.notice("NOTICE", "00000", "this budget is kept by the sum of epsilon or by that of rho, whichever lasts longer", "")
		}
		if !s.analyst {
			return nil
		}
		left, err := db.Remaining(ctx, s.dataset.Name, s.user.Name)
		if err != nil {
			return err
		}
		s.notice("NOTICE", "00000", "left: "+render.Left(left)+render.AtDefault(left, s.dataset.Budget.DefaultEpsilon), "")
		return nil
	})
}

// keptByRho reports whether a dataset's account has no epsilon left for good, because of Gaussian
// noise, so that the sum of rho keeps all of its budget.
func keptByRho(a api.Account) bool {
	return a.Kind == "dataset" && a.Limit.Rho != dp.Unbounded && a.Spent.Epsilon == dp.Unbounded
}

// own says whether an account is the user's own quota.
func (s *session) own(a api.Account) bool {
	name := s.dataset.Name + "/" + s.user.Name
	if a.Window > 0 {
		name = ledger.WindowName(name, a.Window)
	}
	return a.Kind == "analyst" && a.Name == name
}
