package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/discreet-dp/discreet/api"
	"github.com/discreet-dp/discreet/internal/server/httpapi"
	"github.com/discreet-dp/discreet/internal/server/users"
	"github.com/discreet-dp/discreet/internal/table"
)

// analyst is who calls.
type analyst struct {
	*Door
	user users.User
}

// tool is something that a model can call: read, do, and say it in words and as JSON.
type tool struct {
	definition *mcp.Tool
	do         func(context.Context, analyst, json.RawMessage) (*reply, error)
	// madeUp marks whatever comes of it, errors too.
	madeUp bool
}

// reply is what came of a call.
type reply struct {
	text string
	json any
}

// tools are all that there are.
var tools = []tool{
	{definition: define("describe", "Tables, and how to ask",
		"The tables and columns that can be asked about, with types, bounds and keys; whom the budget protects; and "+
			"the SQL that is understood. Free, made of the policy alone.", free, datasetSchema), do: describe},
	{definition: define("quote", "Price of a question",
		"What a question would cost in epsilon, how exact its answer would be, and what would be left. Free; nothing is computed on the "+
			"data. Pass epsilon to see the error at that price, or error to see the price of that error.", free, questionSchema(false)),
		do: quote},
	{definition: define("ask", "Ask, and pay",
		"Asks a question and pays for it out of the budget, which does not come back: look at quote first. The answer has noise, an "+
			"error bar for each noisy value, its price and what is left. A question that was answered before is free. The same call "+
			"within an hour is charged once.", paying, askSchema), do: ask},
	{definition: define("budget", "What is left",
		"What was spent of your own quota, what is left, and about how many questions that is. Free.", free, datasetSchema), do: budget},
	{definition: define("sandbox", "Try SQL on made-up data",
		"Runs a question on made-up rows that have nothing to do with the data, to see whether SQL is understood and what its answer "+
			"looks like. Free. The numbers mean nothing.", free, questionSchema(false)), do: try, madeUp: true},
}

// What clients are told about tools. What is paid is paid for good, so clients that let people
// confirm such calls should do that for ask; the same call again changes nothing.
var (
	closed = new(false)
	free   = mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: closed}
	paying = mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: closed}
)

func define(name, title, description string, hints mcp.ToolAnnotations, schema map[string]any) *mcp.Tool {
	hints.Title = title
	return &mcp.Tool{Name: name, Title: title, Description: description, Annotations: &hints, InputSchema: schema}
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

var datasetProperty = property("string", "The dataset; may be left out where there is only one")

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
		"epsilon": property(number, "What to pay; the policy's default where neither this nor error is given"),
		"error": property(number, "The half width that the error bars of counts and sums should have, in units of the answer; the "+
			"least price that has it is taken, in the place of epsilon"),
		"confidence": property(number, "The probability of the error bars, 0.95 unless given; costs nothing"),
		"settings": map[string]any{"type": "object", "description": "What else can be chosen: " + strings.Join(api.SettingNames(), ", "),
			"additionalProperties": map[string]any{"type": number}},
	}
	if paid {
		all["request"] = property("string", "Names the question for retries: with the same name it is charged once. Errors that need one "+
			"say it. Up to 63 characters without spaces")
	}
	return object(all, "sql")
}

// safely calls a tool. Whatever goes wrong is an error that the model reads.
func (t tool) safely(ctx context.Context, a analyst, arguments json.RawMessage) (result *mcp.CallToolResult) {
	defer func() {
		if recover() != nil { // what was thrown may hold anything
			result = t.failed(httpapi.ProblemOf(errPanic))
		}
	}()
	r, err := t.do(ctx, a, arguments)
	if err != nil {
		return t.failed(httpapi.ProblemOf(err))
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
		if !table.Hidden(r) {
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
	names, err := members(arguments)
	if err != nil {
		return invalid("the arguments cannot be read: " + err.Error())
	}
	known := schema["properties"].(map[string]any)
	for _, name := range names {
		if known[name] == nil {
			return invalid("there is no argument " + strconv.Quote(name))
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
			return invalid(fmt.Sprintf("%s has to be %s, and is %s", strings.Join(path[i:], "."), wanted, wrong.Value))
		}
	}
	return invalid("an argument cannot be of the type " + wrong.Value)
}
