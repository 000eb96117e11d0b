package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// Question is what an analyst asks.
type Question struct {
	Dataset    string             `json:"dataset,omitempty" maxLength:"64" doc:"May be left out where you have only one"`
	SQL        string             `json:"sql" minLength:"1" doc:"One SELECT"`
	Parameters []parameter        `json:"parameters,omitempty" maxItems:"1000" doc:"The values of $1, $2, ... in the SQL"`
	Settings   map[string]decimal `json:"settings,omitempty" maxProperties:"32" doc:"What can be chosen about the answer, such as dp.confidence"`
	Epsilon    decimal            `json:"epsilon,omitempty" doc:"What to pay; the policy's default where it is left out"`
	Free       bool               `json:"free,omitempty" doc:"Only where it costs nothing: answered where it was paid for on the same data, and else refused with its price, a problem of kind price, and nothing is charged"`
	Parts      bool               `json:"parts,omitempty" doc:"Also say what the answer is made of, for who puts answers of several servers together: makeup in the price, parts in the answer, as JSON. It costs nothing"`
	Request    string             `json:"request,omitempty" pattern:"^[!-~]{1,63}$" doc:"The same as the header Idempotency-Key"`
}

type questionInput struct {
	Key  string `header:"Idempotency-Key" pattern:"^[!-~]{1,63}$" doc:"Names the question for retries: sent again with the same key, it is charged once. Keys of others are others"`
	Body Question
}

// stream is an answer that is written by a function.
type stream struct {
	Body func(huma.Context)
}

// asking are the codes with which a question can fail.
var asking = []int{http.StatusPaymentRequired, http.StatusLocked, http.StatusNotFound, http.StatusConflict, statusCanceled,
	http.StatusNotImplemented, http.StatusGatewayTimeout}

func (d *door) questions() {
	o := operation(anyUser, http.MethodPost, "/v1/query", "query", "Ask a question",
		"The answer is noisy, has error bars and is paid for. Accept: application/x-ndjson sends it row by row: a line with meta, a line "+
			"for each row, and a line with end; text/csv has a column of errors beside each noisy one.", asking...)
	content(&o, http.StatusOK,
		map[string]*huma.Schema{mediaJSON: schema[api.Answer](d), mediaNDJSON: schema[Line](d), mediaCSV: {Type: huma.TypeString}})
	key := &huma.Param{Description: "The key that was sent, or one that was drawn", Schema: &huma.Schema{Type: huma.TypeString}}
	o.Responses["200"].Headers = map[string]*huma.Param{"Idempotency-Key": key}
	register(d, o, d.ask)
	register(d, operation(anyUser, http.MethodPost, "/v1/explain", "explain", "Price a question",
		"What it would cost, how exact the answer would be, and why. It is free.", asking...),
		func(ctx context.Context, u users.User, in *questionInput) (*body[api.Explanation], error) {
			q, _, err := d.question(u, in)
			if err != nil {
				return nil, err
			}
			e, err := d.Dispatcher.Explain(ctx, q)
			if err != nil {
				return nil, err
			}
			return of(*e), nil
		})
}

func (d *door) ask(ctx context.Context, u users.User, in *questionInput) (*stream, error) {
	q, key, err := d.question(u, in)
	if err != nil {
		return nil, err
	}
	a, err := d.Dispatcher.Ask(ctx, q)
	if err == nil {
		err = note(ctx).share.Reserve(requestSize + sizeOf(a, note(ctx).accept))
	}
	if err != nil {
		// Whoever sent no key gets to know the one that we drew, or could not ask again with it.
		p := *ProblemOf(err)
		if p.Spent != no {
			p.Request = key
		}
		return nil, &p
	}
	return &stream{func(c huma.Context) {
		if !q.Free { // nothing was charged that could be asked for again
			c.SetHeader("Idempotency-Key", key)
		}
		write(c, note(ctx).accept, a)
	}}, nil
}

// question reads a question, and returns its key too.
func (d *door) question(u users.User, in *questionInput) (q api.Question, key string, err error) {
	b := in.Body
	if q.Dataset, err = Askable(d.Dispatcher.DB().Policy(), u, b.Dataset); err != nil {
		return q, "", err
	}
	if key = in.Key; key == "" {
		key = b.Request
	}
	if b.Request != "" && b.Request != key {
		return q, "", invalid("the header Idempotency-Key and request in the body differ", "send one of them")
	}
	if key == "" {
		key = d.name()
	}
	q.Analyst, q.Request, q.Free, q.Parts = u.Name, key, b.Free, b.Parts
	return q, key, b.Fill(&q)
}

// Fill fills a question with what is asked and at which price. Its error is a [*Problem].
func (b Question) Fill(q *api.Question) (err error) {
	q.SQL = b.SQL
	if b.Epsilon != "" {
		if q.Epsilon, err = dp.Parse(string(b.Epsilon)); err != nil {
			return invalid("epsilon: "+err.Error(), "")
		}
		if q.Epsilon == 0 {
			return invalid("epsilon: it must be above 0", "leave it out to pay the default")
		}
	}
	texts := map[string]string{}
	for name, v := range b.Settings {
		texts[name] = string(v)
	}
	if q.Settings, err = api.ParseSettings(texts); err != nil {
		return invalid(err.Error(), "")
	}
	for _, p := range b.Parameters {
		q.Parameters = append(q.Parameters, p.Parameter)
	}
	return nil
}

func invalid(detail, instead string) *Problem {
	return &Problem{Status: http.StatusUnprocessableEntity, Kind: "invalid", Detail: clip(detail), Instead: instead, Spent: no}
}
