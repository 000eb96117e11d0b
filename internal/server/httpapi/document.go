package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/internal/ledger/replay"
	"github.com/discreet-dp/discreet/internal/mechanism/learn"
	counts "github.com/discreet-dp/discreet/internal/mechanism/stream"
	"github.com/discreet-dp/discreet/internal/server/users"
)

// documentConfig is the framework's, without its page of documentation, which would load scripts
// from elsewhere, and without its own ways to the document, which would be open to everybody.
func documentConfig(version, cookieName string) huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	registry.RegisterTypeAlias(reflect.TypeFor[dp.Amount](), reflect.TypeFor[amount]())
	registry.RegisterTypeAlias(reflect.TypeFor[api.Columns](), reflect.TypeFor[[]string]())
	registry.RegisterTypeAlias(reflect.TypeFor[learn.Model](), reflect.TypeFor[weights]())
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Discreet", Version: version,
				Description: "Differentially private answers over HTTP. Every answer carries its error bars and is paid for from a " +
					"budget. Every error is a problem as defined in RFC 9457.",
			},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"bearer": {Type: "http", Scheme: "bearer", Description: "A token, from 'discreet user token' or POST /v1/tokens"},
					"basic":  {Type: "http", Scheme: "basic", Description: "Name and password"},
					"cookie": {Type: "apiKey", In: "cookie", Name: cookieName,
						Description: "From POST /v1/signin, for pages of this server"},
				},
			},
		},
		Formats:       map[string]huma.Format{mediaJSON: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: mediaJSON,
		Transformers: []huma.Transformer{func(ctx huma.Context, _ string, v any) (any, error) {
			if p, ok := v.(*Problem); ok {
				return p.finish(infoOf(ctx.Context())), nil
			}
			return v, nil
		}},
	}
}

// schemaNames are those of schemas that are called otherwise than their types. Clients are made
// from the document, so a name stays.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[api.Answer]():          "AnswerJSON",
	reflect.TypeFor[api.Column]():          "AnswerColumn",
	reflect.TypeFor[api.HoldoutAnswer]():   "HoldoutAnswerJSON",
	reflect.TypeFor[api.HoldoutInfo]():     "HoldoutInfoJSON",
	reflect.TypeFor[api.KeptModel]():       "Model",
	reflect.TypeFor[api.Limits]():          "LimitsJSON",
	reflect.TypeFor[api.Receipt]():         "ReceiptJSON",
	reflect.TypeFor[api.SparseVerdict]():   "Verdict",
	reflect.TypeFor[api.StreamAnswer]():    "StreamAnswerJSON",
	reflect.TypeFor[api.StreamAttribute](): "StreamAttributeJSON",
	reflect.TypeFor[api.StreamInfo]():      "StreamInfoJSON",
	reflect.TypeFor[api.StreamQuote]():     "StreamQuoteJSON",
	reflect.TypeFor[api.SyntheticTable]():  "Synthetic",
	reflect.TypeFor[learn.Line]():          "PlanLine",
	reflect.TypeFor[replay.Account]():      "ReplayedAccount",
	reflect.TypeFor[replay.Decision]():     "ReplayedDecision",
	reflect.TypeFor[counts.Report]():       "StreamReportJSON",
}

// schemaName names a schema after its type. The hint says where it stands.
func schemaName(t reflect.Type, hint string) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if name, other := schemaNames[t]; other {
		return name
	}
	if hint == "TrainingQuoteWorthStruct" {
		return "Worth"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// amount is how [dp.Amount] is written: a number, and null where there is no limit.
type amount float64

func (amount) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeNumber, Nullable: true, Minimum: new(0.0),
		Description: "An amount of privacy; null if unbounded"}
}

// schema returns the schema of a type, by reference.
func schema[T any](r *router) *huma.Schema {
	return r.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[T](), true, reflect.TypeFor[T]().Name())
}

// setContent says which media types an answer can have.
func setContent(o *huma.Operation, status int, types map[string]*huma.Schema) {
	r := &huma.Response{Description: http.StatusText(status), Content: map[string]*huma.MediaType{}}
	for name, s := range types {
		r.Content[name] = &huma.MediaType{Schema: s}
	}
	o.Responses = map[string]*huma.Response{strconv.Itoa(status): r}
}

// textBody is an answer that is written as it is.
type textBody struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        []byte
}

// documentHandler serves the OpenAPI document, which is made of the operations themselves.
type documentHandler struct{}

func (documentHandler) register(r *router) {
	asJSON := sync.OnceValues(func() ([]byte, error) { return json.Marshal(r.api.OpenAPI()) })
	asYAML := sync.OnceValues(func() ([]byte, error) { return r.api.OpenAPI().YAML() })
	for _, one := range []struct {
		at, id, media string
		schema        *huma.Schema
		make          func() ([]byte, error)
	}{
		{"/openapi.json", "document", "application/openapi+json", &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}, asJSON},
		{"/openapi.yaml", "document-yaml", "application/openapi+yaml", &huma.Schema{Type: huma.TypeString}, asYAML},
	} {
		o := operation(anyUser, http.MethodGet, one.at, one.id, "This document", "This description of the server's interface, in OpenAPI "+
			"3.1.")
		setContent(&o, http.StatusOK, map[string]*huma.Schema{one.media: one.schema})
		register(r, o, func(context.Context, users.User, *empty) (*textBody, error) {
			b, err := one.make()
			return &textBody{one.media, b}, err
		})
	}
	for _, item := range r.api.OpenAPI().Paths {
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if o != nil {
				addCommonHeaders(o)
			}
		}
	}
}

// addCommonHeaders adds to the document what every answer has.
func addCommonHeaders(o *huma.Operation) {
	for status, r := range o.Responses {
		if r.Headers == nil {
			r.Headers = map[string]*huma.Param{}
		}
		r.Headers["X-Request-Id"] = &huma.Param{Description: "The id of the request: the client's own X-Request-Id if it is 1 to 64 of " +
			"A-Z, a-z, 0-9, -, _ and .", Schema: &huma.Schema{Type: huma.TypeString}}
		if status == "429" || status == "503" {
			r.Headers["Retry-After"] = &huma.Param{Description: "After how many seconds it is worth trying again",
				Schema: &huma.Schema{Type: huma.TypeInteger}}
		}
		if status == "499" {
			r.Description = "Client Closed Request"
		}
	}
}
