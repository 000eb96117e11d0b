package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/render"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/internal/server/users"
)

type analyst struct {
	*Handler
	user users.User
}

// tool is something that a model can call: read, do, and say it in words and as JSON.
type tool struct {
	definition *mcp.Tool
	do         func(context.Context, analyst, json.RawMessage) (*reply, error)
	// madeUp marks whatever comes of it, errors too.
	madeUp bool
}

type reply struct {
	text string
	json any
}

var tools = []tool{
	{definition: define("describe", "Tables, and how to ask",
		"The tables and columns that you can ask about, with types, bounds and keys; whom the budget protects; and the SQL that you can "+
			"use. Free: it comes from the policy only.", free, datasetSchema, describeOutput), do: describe},
	{definition: define("quote", "Price of a question",
		"What a question would cost in epsilon, how exact its answer would be, and what would be left. Free; nothing is computed from "+
			"the data. Pass epsilon to see the error at that price, or error to see the price of that error.", free, questionSchema(false),
		quoteOutput), do: quote},
	{definition: define("ask", "Ask, and pay",
		"Asks a question and pays for it from the budget, which does not come back: call quote first. The answer has noise, an "+
			"error bar for each noisy value, its price and what is left. A question that was answered before is free. The same call, "+
			"repeated within an hour, is charged once.", paying, askSchema, askOutput), do: ask},
	{definition: define("budget", "What is left",
		"What you have spent of your quota, what is left, and about how many questions that pays for. "+
			"Free.", free, datasetSchema, budgetOutput),
		do: budget},
	{definition: define("sandbox", "Try SQL on made-up data",
		"Runs a question on made-up rows that have nothing to do with the data, to check its SQL and to see what its answer looks like. "+
			"Free. The numbers mean nothing.", free, questionSchema(false), tryOutput), do: try, madeUp: true},
}

// What clients are told about tools. What is paid is paid for good, so clients that let people
// confirm such calls should do that for ask; the same call again changes nothing.
var (
	closed = new(false)
	free   = mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: closed}
	paying = mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: closed}
)

func define(name, title, description string, hints mcp.ToolAnnotations, in, out map[string]any) *mcp.Tool {
	hints.Title = title
	return &mcp.Tool{Name: name, Title: title, Description: description, Annotations: &hints, InputSchema: in, OutputSchema: out}
}

func object(properties map[string]any, required ...string) map[string]any {
	out := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

func property(kind any, description string) map[string]any {
	return map[string]any{"type": kind, "description": description}
}

var datasetProperty = property("string", "The dataset; you can leave it out if there is only one")

var (
	datasetSchema = object(map[string]any{"dataset": datasetProperty})
	askSchema     = questionSchema(true)
)

// questionSchema is what a question may have; one that is paid for has a name for retries too.
func questionSchema(paid bool) map[string]any {
	number := []string{"number", "string"}
	all := map[string]any{
		"dataset": datasetProperty,
		"sql":     property("string", "One SELECT with aggregates, in PostgreSQL's language"),
		"parameters": map[string]any{"type": "array", "description": "The values of $1, $2, ... in the SQL: numbers, texts, booleans, " +
			"null, lists of these, or objects such as {\"kind\": \"date\", \"value\": \"2024-01-31\"}"},
		"epsilon": property(number, "What to pay; the policy's default if you give neither this nor error"),
		"error": property(number, "The half width that the error bars of counts and sums should have, in units of the answer; use it "+
			"instead of epsilon to pay the lowest price that reaches it"),
		"confidence": property(number, "The probability of the error bars, 0.95 by default; costs nothing"),
		"settings": map[string]any{"type": "object", "description": "Further options: " + strings.Join(api.SettingNames(), ", "),
			"additionalProperties": map[string]any{"type": number}},
	}
	if paid {
		all["request"] = property("string", "A name for retries: a question with the same name is charged once. An error says so if you "+
			"need one. Up to 63 characters without spaces")
	}
	return object(all, "sql")
}

// call calls a tool. Whatever goes wrong is an error that the model reads.
func (t tool) call(ctx context.Context, a analyst, arguments json.RawMessage) (result *mcp.CallToolResult) {
	defer func() {
		if recover() != nil { // what was thrown may hold anything
			result = t.failure(httpapi.ProblemOf(errPanic))
		}
	}()
	r, err := t.do(ctx, a, arguments)
	if err != nil {
		return t.failure(httpapi.ProblemOf(err))
	}
	return t.result(r)
}

// result is what a model reads, and what a program reads.
func (t tool) result(r *reply) *mcp.CallToolResult {
	text := r.text
	if t.madeUp {
		text = madeUp + "\n" + text
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, StructuredContent: seen(r.json)}
}

// seen is JSON in which characters that nobody would see are written with their numbers, which
// programs read as the same: a key that people have entered is told as it is, and can be a text
// that is meant for a model.
func seen(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // which is caught, and told as what it is
	}
	var out []byte
	for _, r := range string(text) {
		if !render.Hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// read reads the arguments of a call by their schema, and nothing that it does not know: a name in
// other letters, or a second time, would be taken by who asks and overlooked by who confirms it.
func read(arguments json.RawMessage, schema map[string]any, into any) error {
	if text := bytes.TrimSpace(arguments); len(text) == 0 || string(text) == "null" {
		arguments = json.RawMessage("{}")
	}
	names, err := memberNames(arguments)
	if err != nil {
		return invalid("the arguments cannot be read: " + err.Error())
	}
	known := schema["properties"].(map[string]any)
	for _, name := range names {
		if known[name] == nil {
			return invalid("this tool has no argument " + strconv.Quote(name))
		}
	}
	if err := json.Unmarshal(arguments, into); err != nil {
		return misread(err, known)
	}
	return nil
}

// misread says what is wrong with arguments in the words of their schema, and not in those of our
// types.
func misread(err error, known map[string]any) *httpapi.Problem {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return invalid("the arguments cannot be read: " + err.Error())
	}
	path := strings.Split(wrong.Field, ".")
	for i, name := range path { // of structs in structs their names are part of it
		if p, ok := known[name].(map[string]any); ok {
			wanted := strings.ReplaceAll(strings.Trim(fmt.Sprint(p["type"]), "[]"), " ", " or ")
			return invalid(fmt.Sprintf("%s must be %s, not %s", strings.Join(path[i:], "."), wanted, wrong.Value))
		}
	}
	return invalid("an argument cannot be of the type " + wrong.Value)
}

// What programs read of results: the members that they can rely on, of which most hold what /v1
// says. An error has others, and clients look at it by the same schema, so none of them has to be
// there.

func outputSchema(members map[string]any) map[string]any {
	all := maps.Clone(troubleMembers)
	maps.Copy(all, members)
	return map[string]any{"type": "object", "properties": all}
}

// troubleMembers are the members of a [Trouble].
var troubleMembers = map[string]any{
	"kind":     property("string", "For an error: what went wrong, such as refused, budget, limit or closed"),
	"reason":   property("string", "For an error: the reason, in words"),
	"instead":  property("string", "For an error: what to do instead"),
	"position": property("integer", "For an error: the position in the SQL, as a byte offset from 0"),
	"spent":    property("boolean", "For an error: whether something was charged; missing if that is not known"),
	"request":  property("string", "For an error: the name to ask again with, so that nothing is charged twice"),
	"made_up":  property("boolean", "True if this is about made-up rows"),
}

var (
	columns    = property("array", "The names of the columns")
	rows       = property("array", "The rows, each a list of values")
	errorBars  = property([]string{"array", "null"}, "For each row and column, the half width of its error bar, or null")
	confidence = property("number", "The probability of the error bars")
	notes      = property("array", "Sentences that a reader should know")
	cost       = property("object", "The price: epsilon, or rho if the budget adds up rho, and delta")
	remaining  = property("object", "What is left of the quota, as epsilon, delta and rho")
	more       = property("integer", "About how many more questions you can pay for at this price")
)

var (
	describeOutput = outputSchema(map[string]any{
		"datasets": property("array", "The names of the datasets that you can ask about"),
		"dataset":  property("object", "One of them: its tables, columns, bounds, keys and views, and its budget"),
		"language": property("string", "A summary of the SQL that you can use"),
	})
	quoteOutput = outputSchema(map[string]any{
		"cost": cost, "remaining": remaining, "more": more, "confidence": confidence,
		"pay":        property("object", "What would be charged now, which is less if part of it is already paid for"),
		"after":      property("object", "What would be left"),
		"known":      property("boolean", "True if it is free now"),
		"affordable": property("boolean", "True if you can pay for it"),
		"questions":  property("array", "What would be released, with the noise and error of each noisy number"),
	})
	askOutput = outputSchema(map[string]any{
		"columns": columns, "rows": rows, "errors": errorBars, "confidence": confidence, "notes": notes, "cost": cost,
		"remaining":     remaining,
		"more":          more,
		"receipt":       property("object", "The record of the charge in the ledger, and whether it was free"),
		"data_version":  property("object", "The version of the data that it is about"),
		"request":       property("string", "The name that it was asked under"),
		"rows_left_out": property("integer", "How many rows were left out"),
	})
	budgetOutput = outputSchema(map[string]any{
		"dataset": property("string", "The dataset"), "remaining": remaining,
		"questions": property("integer", "About how many questions that pays for at the default price"),
		"accounts":  property("array", "For each account, what was spent and its limit"),
	})
	tryOutput = outputSchema(map[string]any{
		"columns": columns, "rows": rows, "errors": errorBars, "confidence": confidence, "notes": notes,
		"would_cost": property("object", "The most it would cost on the real data"),
		"warning":    property("string", "A warning that everything here is made up"),
	})
)
