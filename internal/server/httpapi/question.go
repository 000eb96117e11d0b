package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/sandbox"
	"github.com/discreet-dp/discreet/internal/server/admission"
	"github.com/discreet-dp/discreet/internal/server/users"
)

type Question struct {
	Dataset    string             `json:"dataset,omitempty" maxLength:"64" doc:"You can leave it out if you have only one"`
	SQL        string             `json:"sql" minLength:"1" doc:"One SELECT"`
	Parameters []parameter        `json:"parameters,omitempty" maxItems:"1000" doc:"The values of $1, $2, ... in the SQL"`
	Settings   map[string]decimal `json:"settings,omitempty" maxProperties:"32" doc:"Options for the answer, such as dp.confidence"`
	Epsilon    decimal            `json:"epsilon,omitempty" doc:"What to pay; the policy's default if you leave it out"`
	Free       bool               `json:"free,omitempty" doc:"Ask only if it is free: a question that is already paid for on the same data is answered; any other is refused with its price, as a problem of kind price, and nothing is charged"`
	Sandbox    bool               `json:"sandbox,omitempty" doc:"Ask about people who do not exist, to try SQL out: rows are made from the policy alone, the numbers mean nothing, and it is free"`
	Parts      bool               `json:"parts,omitempty" doc:"Also return what the answer is made from, so that you can combine answers of several servers: makeup in the price, parts in the answer, as JSON. It costs nothing"`
	Request    string             `json:"request,omitempty" pattern:"^[!-~]{1,63}$" doc:"The same as the header Idempotency-Key"`
}

type questionInput struct {
	Key  string `header:"Idempotency-Key" pattern:"^[!-~]{1,63}$" doc:"A key for retries: a question sent again with the same key is charged once. Another user's keys are separate"`
	Body Question
}

// streamedBody is an answer that is written by a function.
type streamedBody struct {
	Body func(huma.Context)
}

// questionProblems are the codes with which a question can fail.
var questionProblems = []int{http.StatusPaymentRequired, http.StatusLocked, http.StatusNotFound, http.StatusConflict, statusCanceled,
	http.StatusNotImplemented, http.StatusGatewayTimeout}

type questionHandler struct {
	dispatcher *admission.Dispatcher
	names      *nameSource
	sandbox    *sandbox.Sandbox
}

func (h *questionHandler) register(r *router) {
	o := operation(anyUser, http.MethodPost, "/v1/query", "query", "Ask a question",
		"The answer is noisy, has error bars and is paid for. Accept: application/x-ndjson sends it row by row: a line with meta, a line "+
			"for each row, and a line with end; text/csv adds a column of errors next to each noisy one.", questionProblems...)
	setContent(&o, http.StatusOK,
		map[string]*huma.Schema{mediaJSON: schema[api.Answer](r), mediaNDJSON: schema[Line](r), mediaCSV: {Type: huma.TypeString}})
	key := &huma.Param{Description: "The key that you sent, or a random one", Schema: &huma.Schema{Type: huma.TypeString}}
	o.Responses["200"].Headers = map[string]*huma.Param{"Idempotency-Key": key}
	register(r, o, h.ask)
	register(r, operation(anyUser, http.MethodPost, "/v1/explain", "explain", "Price a question",
		"What the question would cost, how exact the answer would be, and why. It is free.", questionProblems...),
		func(ctx context.Context, u users.User, in *questionInput) (*body[api.Explanation], error) {
			q, _, err := h.read(u, in)
			if err != nil {
				return nil, err
			}
			e, err := h.dispatcher.Explain(ctx, q)
			if err != nil {
				return nil, err
			}
			return bodyOf(*e), nil
		})
}

func (h *questionHandler) ask(ctx context.Context, u users.User, in *questionInput) (*streamedBody, error) {
	q, key, err := h.read(u, in)
	if err != nil {
		return nil, err
	}
	var a *api.Answer
	if in.Body.Sandbox {
		a, err = h.try(ctx, q)
	} else {
		a, err = h.dispatcher.Ask(ctx, q)
	}
	if err == nil {
		err = infoOf(ctx).share.Reserve(requestBytes + answerSize(a, infoOf(ctx).accept))
	}
	if err != nil {
		return nil, ProblemWithRequest(err, key)
	}
	return &streamedBody{func(c huma.Context) {
		if !q.Free && !a.MadeUp { // else nothing was charged that could be asked for again
			c.SetHeader("Idempotency-Key", key)
		}
		writeAnswer(c, infoOf(ctx).accept, a)
	}}, nil
}

// try asks a question of the sandbox. It is bounded as a look at the catalogue is.
func (h *questionHandler) try(ctx context.Context, q api.Question) (*api.Answer, error) {
	switch {
	case h.sandbox == nil:
		return nil, invalid("there is no sandbox here", "leave sandbox out")
	case q.Parts:
		return nil, invalid("an answer of the sandbox has no parts", "leave parts out")
	case infoOf(ctx).accept == mediaCSV:
		return nil, invalid("CSV cannot say that its numbers are made up", "ask the sandbox with Accept: application/json")
	}
	var a *api.Answer
	err := h.dispatcher.RunLookup(ctx, q.Analyst, func(ctx context.Context) (err error) {
		a, err = h.sandbox.Ask(ctx, q)
		return err
	})
	if err != nil {
		p := ProblemOf(err)
		if p.Kind == "unexpected" {
			p.Detail, p.Instead = "this question failed in the sandbox", "get its price with POST /v1/explain, which needs no rows"
		}
		p.Spent = no
		return nil, p
	}
	a.Notes = append(api.List[string]{madeUp}, a.Notes...)
	return a, nil
}

const madeUp = "made up: the rows come from the policy alone, the numbers mean nothing, and nothing was spent"

// read reads a question, and returns its key too.
func (h *questionHandler) read(u users.User, in *questionInput) (q api.Question, key string, err error) {
	b := in.Body
	if q.Dataset, err = ChooseDataset(h.dispatcher.DB().Policy(), u, b.Dataset); err != nil {
		return q, "", err
	}
	if key = in.Key; key == "" {
		key = b.Request
	}
	if b.Request != "" && b.Request != key {
		return q, "", invalid("the header Idempotency-Key and request in the body differ", "send one of them")
	}
	if key == "" {
		key = h.names.next()
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

// parameter is the value of $1, $2, ...: null, a text, a truth, a number as it was written, a list
// of these, or an object that names its kind.
type parameter struct{ api.Parameter }

var parameterKinds = []any{"integer", "decimal", "text", "boolean", "date", "timestamp",
	"integer[]", "decimal[]", "text[]", "boolean[]", "date[]", "timestamp[]"}

func (p *parameter) UnmarshalJSON(b []byte) error {
	text := strings.TrimSpace(string(b))
	*p = parameter{}
	switch {
	case text == "null":
		p.Null = true
	case text == "true" || text == "false":
		p.Kind, p.Text = "boolean", text
	case strings.HasPrefix(text, `"`):
		p.Kind = "text"
		return json.Unmarshal(b, &p.Text)
	case strings.HasPrefix(text, "{"):
		var o struct {
			Kind  string  `json:"kind"`
			Value *string `json:"value"`
		}
		if err := json.Unmarshal(b, &o); err != nil {
			return err
		}
		if p.Kind, p.Null = o.Kind, o.Value == nil; o.Value != nil {
			p.Text = *o.Value
		}
	case strings.HasPrefix(text, "["):
		return p.readList(b)
	case strings.ContainsAny(text, ".eE"):
		p.Kind, p.Text = "decimal", text
	default:
		p.Kind, p.Text = "integer", text
	}
	return nil
}

// readList reads a list, whose values are of one kind, as the array that it is for = ANY ($1).
func (p *parameter) readList(b []byte) error {
	var all []parameter
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	kind, texts := "", make([]string, len(all))
	for i, one := range all {
		switch {
		case one.Null:
			texts[i] = "NULL"
			continue
		case strings.HasSuffix(one.Kind, "[]"):
			return errors.New("a parameter can be a list of values, but not a list of lists")
		case kind == "integer" && one.Kind == "decimal", kind == "":
			kind = one.Kind
		case kind != one.Kind && !(kind == "decimal" && one.Kind == "integer"):
			return errors.New("all values of a list must be of one kind")
		}
		texts[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(one.Text) + `"`
	}
	p.Kind, p.Text = cmp.Or(kind, "text")+"[]", "{"+strings.Join(texts, ",")+"}"
	return nil
}

func (parameter) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A value, or an object with its kind and text",
		AnyOf: []*huma.Schema{
			{Type: huma.TypeString, Nullable: true}, {Type: huma.TypeNumber}, {Type: huma.TypeBoolean},
			{Type: huma.TypeArray, Items: &huma.Schema{}},
			{Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"kind", "value"}, Properties: map[string]*huma.Schema{
				"kind": {Type: huma.TypeString, Enum: parameterKinds}, "value": {Type: huma.TypeString, Nullable: true},
			}},
		},
	}
}

// decimal is a number or a text, as it was written: no digit of it is lost in a float.
type decimal string

func (d *decimal) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(d))
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*d = decimal(n)
	return nil
}

func (decimal) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeNumber}, {Type: huma.TypeString, MaxLength: new(64)}}}
}
