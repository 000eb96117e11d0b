package pricing

import "github.com/discreet-dp/discreet/api"

// Settings returns the settings with the price in them.
func Settings(q api.Question) (api.Settings, error) {
	s := q.Settings
	if q.Epsilon > 0 {
		if s.Epsilon > 0 && s.Epsilon != q.Epsilon {
			return s, api.Refuse("name one of them", "the question names two prices, epsilon %v and epsilon %v", q.Epsilon, s.Epsilon)
		}
		s.Epsilon = q.Epsilon
	}
	if err := s.Check(); err != nil {
		return s, api.Refuse("", "%v", err)
	}
	return s, nil
}
