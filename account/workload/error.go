package workload

import "github.com/discreet-dp/discreet/utility"

// Error returns the alpha such that one answer of the mechanism that was calibrated
// is within alpha of the truth with probability 1 - beta, where its noise is added
// to a number.
func (c Calibration) Error(beta float64) (alpha float64, ok bool) {
	for _, u := range c.Workload.uses {
		if name, value := u.Mechanism.Noise(); name == c.Parameter && value == c.Value() {
			return u.Mechanism.Error(beta)
		}
	}
	return 0, false
}

// Error returns the alpha such that one answer is within alpha of the truth with
// probability 1 - beta, where the mechanism adds noise to a number.
func (m Mechanism) Error(beta float64) (alpha float64, ok bool) {
	var err error
	var whole int64
	switch m.kind.name {
	case "laplace":
		alpha, err = utility.Laplace{Scale: m.sensitivity / m.epsilon()}.Alpha(beta)
	case "gaussian":
		f, failed := m.facts()
		if failed != nil {
			return 0, false
		}
		alpha, err = utility.Gaussian{Sigma: m.sensitivity / f.mu}.Alpha(beta)
	case "discrete-laplace":
		whole, err = utility.DiscreteLaplace{Scale: m.sensitivity / m.epsilon()}.Alpha(beta)
		alpha = float64(whole)
	case "discrete-gaussian":
		f, failed := m.facts()
		if failed != nil {
			return 0, false
		}
		whole, err = utility.DiscreteGaussian{Sigma2: m.sensitivity * m.sensitivity / (2 * f.rho)}.Alpha(beta)
		alpha = float64(whole)
	default:
		return 0, false
	}
	return alpha, err == nil
}
