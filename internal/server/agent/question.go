package agent

import (
	"encoding/json"
	"regexp"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/policy"
)

// question is what a model asks: a question of /v1, and the settings that it should think of by
// name.
type question struct {
	httpapi.Question
	Error      json.Number `json:"error"`
	Confidence json.Number `json:"confidence"`
}

// asked reads a question.
func (a analyst) asked(arguments json.RawMessage) (q api.Question, request string, err error) {
	var in question
	if err := read(arguments, askSchema, &in); err != nil {
		return q, "", err
	}
	if in.SQL == "" {
		return q, "", invalid("there is no sql")
	}
	if in.Epsilon != "" && in.Error != "" {
		return q, "", invalid("epsilon names a price and error finds one; give one of the two")
	}
	ds, err := a.dataset(in.Dataset)
	if err != nil {
		return q, "", err
	}
	q.Dataset, q.Analyst = ds.Name, a.user.Name
	if err := in.Fill(&q); err != nil {
		return q, "", err
	}
	for name, value := range map[string]json.Number{"dp.error": in.Error, "dp.confidence": in.Confidence} {
		if value == "" {
			continue
		}
		if err := q.Settings.Set(name, string(value)); err != nil {
			return q, "", invalid(err.Error())
		}
	}
	if in.Request != "" && !requests.MatchString(in.Request) {
		return q, "", invalid("request: it is 1 to 63 characters of ASCII without spaces")
	}
	return q, in.Request, nil
}

var requests = regexp.MustCompile(`^[!-~]{1,63}$`)

// dataset finds the dataset that a call is about.
func (a analyst) dataset(name string) (*policy.Dataset, error) {
	p := a.dispatcher.DB().Policy()
	found, err := httpapi.Askable(p, a.user, name)
	if err != nil {
		return nil, err
	}
	return p.Datasets[found], nil
}
