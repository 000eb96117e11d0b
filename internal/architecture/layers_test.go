package architecture

import (
	"slices"
	"strings"
	"testing"
)

// layers are the parts of the project from the bottom up. A package imports its own layer and those
// below. With /... a folder is meant, and all below it; the longest that fits counts.
var layers = []struct{ name, packages string }{
	{"dp", "dp/... internal/privacyloss internal/numeric internal/sealed internal/entropy internal/detrand"},
	{"contracts", "api policy ledger store internal/address internal/username internal/textfile internal/lru internal/underway " +
		"internal/ownerkey internal/pgtext internal/releaseclock internal/policywords internal/problem internal/render " +
		"internal/version internal/mechanism/learn/model internal/mechanism/learn/vector"},
	{"mechanism", "internal/mechanism/..."},
	{"planner", "internal/planner/..."},
	{"engine", "internal/engine/... internal/sqlgen internal/source/..."},
	{"ledger", "internal/ledger/..."},
	{"curator", ". internal/curator/... internal/session/... internal/sandbox internal/fakedata"},
	{"server", "internal/server/... internal/pgcatalog/... internal/localsocket docs"},
	{"lab", "client internal/federate internal/lab/..."},
	{"command", "cmd/..."},
	// Beside the ten: what nothing else imports, outside of tests.
	{"test", "internal/test/... internal/architecture/..."},
}

// narrow says for packages that see something private, or decide about it, all that they may import
// of the project: for them a new import is a decision.
var narrow = map[string]string{
	// Noise and what it is made of.
	"dp":               "",
	"dp/noise":         "internal/entropy",
	"dp/mech":          "dp dp/noise internal/numeric internal/sealed",
	"dp/account":       "dp internal/numeric internal/privacyloss",
	"internal/entropy": "",
	"internal/sealed":  "",
	"internal/detrand": "dp/noise internal/entropy",
	// Mechanisms see a host that charges, and neither a ledger nor SQL. What predicts sees what was
	// released and no more; what solves sees rows and neither noise nor a budget.
	"internal/mechanism/session": "dp dp/account",
	"internal/mechanism/stream": "api dp dp/mech internal/mechanism/session internal/mechanism/stream/histogram " +
		"internal/mechanism/stream/linear internal/mechanism/stream/predict internal/lru internal/numeric",
	"internal/mechanism/stream/linear":    "",
	"internal/mechanism/stream/histogram": "internal/mechanism/stream/linear internal/sealed",
	"internal/mechanism/stream/predict":   "internal/mechanism/stream/linear",
	"internal/mechanism/holdout":          "dp dp/account dp/mech internal/mechanism/session internal/numeric",
	"internal/mechanism/holdout/labels":   "dp internal/sealed",
	"internal/mechanism/learn": "dp dp/account dp/mech internal/mechanism/learn/model internal/mechanism/learn/solve " +
		"internal/mechanism/learn/vector internal/numeric internal/sealed",
	"internal/mechanism/learn/model":  "dp internal/mechanism/learn/vector",
	"internal/mechanism/learn/solve":  "internal/mechanism/learn/vector",
	"internal/mechanism/learn/vector": "",
	// What strangers bring along sees nothing else, and what they are told carries no engine.
	"internal/problem": "api ledger",
	"store":            "",
	"api":              "dp internal/mechanism/learn/model",
	"ledger":           "api dp dp/account",
	"policy":           "dp dp/account internal/address internal/numeric internal/textfile internal/username",
	// What everybody says about itself knows nothing.
	"internal/version": "",
	// When answers leave follows from public numbers, and from nothing that was computed.
	"internal/releaseclock": "",
	"internal/underway":     "",
	// A finished tree, the expressions in it, and a second opinion that sees nothing that builds
	// one.
	"internal/planner": "api dp internal/planner/announce internal/planner/expr internal/planner/meter internal/planner/posix " +
		"internal/planner/syntax internal/planner/tree policy",
	"internal/planner/announce": "internal/planner/syntax policy",
	"internal/planner/cells": "internal/mechanism/stream/linear internal/planner internal/planner/expr internal/planner/meter " +
		"internal/planner/syntax internal/planner/tree policy",
	"internal/planner/meter":  "api",
	"internal/planner/posix":  "",
	"internal/planner/syntax": "api dp internal/planner/grammar internal/planner/tree policy",
	"internal/planner/tree":   "dp policy",
	"internal/planner/expr":   "dp internal/planner/meter internal/planner/posix internal/planner/syntax internal/planner/tree policy",
	"internal/planner/verify": "dp internal/planner/tree policy",
	// SQL, and nobody to run it; engines, which see neither noise nor the ledger; and how long a
	// question may take, from what everybody may know.
	"internal/sqlgen":            "internal/planner/tree policy",
	"internal/engine":            "internal/planner/tree internal/sealed policy store",
	"internal/engine/publictime": "internal/planner/posix internal/planner/tree policy",
	"internal/engine/sqlengine": "internal/engine internal/engine/publictime internal/planner/tree internal/sealed internal/sqlgen " +
		"policy store",
	"internal/engine/duckdb": "dp internal/engine internal/engine/contribution internal/engine/duckdb/chunks " +
		"internal/engine/publictime internal/engine/sqlengine internal/planner/tree internal/source/catalogue " +
		"internal/source/pgtables internal/sqlgen internal/textfile internal/version policy store",
	"internal/engine/duckdb/chunks": "",
	"internal/engine/contribution":  "",
	"internal/engine/trino": "internal/engine internal/engine/publictime internal/engine/sqlengine internal/planner/posix " +
		"internal/planner/tree internal/releaseclock internal/source/catalogue internal/source/trinotables internal/sqlgen policy store",
	"internal/engine/postquery": "api internal/pgtext internal/planner/posix internal/planner/syntax",
	// What is copied from elsewhere, or looked at there: nothing that an analyst wrote comes here.
	"internal/source/catalogue":   "",
	"internal/source/pgdial":      "internal/address",
	"internal/source/pgtables":    "internal/source/catalogue internal/source/pgdial policy",
	"internal/source/trinotables": "internal/address internal/releaseclock internal/source/catalogue policy store",
	"internal/source/policydraft": "internal/address internal/planner/grammar internal/source/catalogue internal/source/pgtables " +
		"internal/source/trinotables policy",
	// The ledger never sees data.
	"internal/ledger/chain":       "dp ledger",
	"internal/ledger/groupcommit": "internal/entropy internal/ledger/chain ledger",
	"internal/ledger/sqlite":      "internal/entropy internal/ledger/chain internal/ledger/groupcommit internal/version ledger",
	"internal/ledger/postgres": "internal/entropy internal/ledger/chain internal/ledger/groupcommit internal/source/pgdial " +
		"internal/version ledger",
	"internal/ledger/memledger":   "dp ledger",
	"internal/ledger/replay":      "dp ledger",
	"internal/ledger/anchor":      "internal/source/pgdial internal/version ledger policy",
	"internal/ledger/ownersocket": "internal/ledger/chain ledger",
	"internal/ledger/openledger": "internal/ledger/anchor internal/ledger/chain internal/ledger/groupcommit " +
		"internal/ledger/ownersocket internal/ledger/postgres internal/ledger/sqlite ledger policy",
	// What a question costs, and what its answer looks like: neither sees data, exact values or the
	// ledger. Accounts and kept answers see no engine. Sessions have of the curator what
	// sessionhost says. Only the curator holds an exact aggregate and the ledger at once.
	"internal/curator": "api dp dp/mech internal/curator/answercache internal/curator/answers internal/curator/budgets " +
		"internal/curator/pricing " +
		"internal/curator/profile internal/engine internal/lru internal/mechanism/learn internal/planner internal/planner/meter " +
		"internal/planner/syntax internal/planner/tree internal/planner/verify internal/releaseclock internal/session/holdoutsession " +
		"internal/session/sessionhost internal/session/sparsesession internal/session/streamsession internal/session/training ledger " +
		"policy",
	"internal/curator/pricing": "api dp dp/mech internal/numeric internal/planner internal/planner/syntax internal/planner/tree policy",
	"internal/curator/profile": "api internal/planner policy",
	"internal/curator/answers": "api dp dp/mech internal/curator/pricing internal/engine/postquery internal/lru internal/planner " +
		"internal/planner/announce internal/planner/expr internal/planner/syntax internal/planner/tree policy",
	"internal/curator/budgets": "api dp dp/account internal/curator/pricing ledger policy",
	"internal/curator/answercache": "api dp dp/mech internal/curator/answers internal/curator/pricing internal/lru " +
		"internal/planner/cells internal/planner/meter internal/planner/tree internal/releaseclock ledger policy",
	"internal/curator/policycheck": "internal/curator internal/planner internal/source/pgtables internal/source/trinotables policy",
	"internal/session/sessionhost": "api dp/mech internal/curator/budgets internal/curator/pricing internal/engine " +
		"internal/mechanism/session internal/planner internal/planner/tree ledger policy",
	"internal/session/sparsesession": "api dp dp/mech internal/curator/pricing internal/planner internal/planner/tree " +
		"internal/session/sessionhost ledger",
	"internal/session/streamsession": "api dp dp/account dp/mech internal/curator/answercache internal/curator/answers " +
		"internal/curator/pricing internal/mechanism/session internal/mechanism/stream internal/mechanism/stream/histogram " +
		"internal/mechanism/stream/linear internal/mechanism/stream/predict internal/planner/cells internal/planner/meter " +
		"internal/planner/syntax internal/releaseclock internal/session/sessionhost ledger policy",
	"internal/session/holdoutsession": "api dp dp/mech internal/curator/answercache internal/curator/answers internal/curator/pricing " +
		"internal/mechanism/holdout internal/mechanism/holdout/labels internal/mechanism/session internal/planner " +
		"internal/planner/meter internal/planner/syntax internal/planner/tree internal/releaseclock internal/session/sessionhost ledger " +
		"policy",
	"internal/session/training": "api dp dp/account dp/mech internal/curator/answercache internal/curator/pricing " +
		"internal/mechanism/learn internal/planner internal/planner/tree internal/releaseclock internal/session/sessionhost ledger " +
		"policy",
	// What opens real data and ledgers has no randomness that repeats.
	".": "api dp dp/mech dp/noise internal/curator internal/curator/budgets internal/curator/policycheck internal/engine " +
		"internal/engine/duckdb internal/engine/publictime internal/engine/trino internal/ledger/openledger internal/lru " +
		"internal/planner internal/planner/meter internal/planner/syntax internal/planner/tree internal/policywords " +
		"internal/session/sparsesession internal/session/training internal/underway ledger policy store",
	// For data that is made up: people and tables without anybody, a ledger without a disk, and
	// noise that can be made again.
	"internal/fakedata": "dp internal/detrand policy",
	"internal/sandbox": "api dp/mech internal/curator internal/detrand internal/engine internal/engine/duckdb " +
		"internal/engine/postquery internal/fakedata internal/ledger/memledger internal/planner/syntax internal/planner/tree policy store",
	// No listener sees an engine or noise: they ask the dispatcher. The catalogue's interpreter
	// sees only the tables that it is given.
	"internal/server": ". api internal/sandbox internal/server/admission internal/server/agent internal/server/clientlimits " +
		"internal/server/httpapi internal/server/manual internal/server/openid internal/server/pgwire internal/server/users " +
		"internal/server/web policy",
	"docs":                         "",
	"internal/server/clientlimits": "",
	"internal/server/manual":       "docs",
	"internal/server/openid":       "internal/entropy",
	"internal/server/web":          "",
	"internal/localsocket":         "internal/entropy",
	"internal/server/admission": ". api dp internal/entropy internal/mechanism/learn internal/mechanism/stream internal/problem " +
		"internal/releaseclock internal/underway ledger policy",
	"internal/server/pgwire": "api dp internal/entropy internal/pgcatalog internal/pgcatalog/datum internal/pgcatalog/interpret " +
		"internal/pgcatalog/inventory internal/pgcatalog/oid internal/pgtext internal/planner/grammar internal/planner/syntax " +
		"internal/problem " +
		"internal/render internal/server/admission " +
		"internal/server/clientlimits internal/server/users ledger policy",
	"internal/server/httpapi": ". api dp internal/curator/budgets internal/entropy internal/ledger/chain internal/ledger/replay " +
		"internal/problem internal/sandbox " +
		"internal/mechanism/learn internal/mechanism/stream internal/policywords internal/render internal/server/admission " +
		"internal/server/clientlimits internal/server/openid internal/server/users internal/version ledger policy",
	"internal/server/agent": "internal/problem api internal/policywords internal/render internal/sandbox internal/server/admission " +
		"internal/server/httpapi internal/server/users ledger policy",
	"internal/server/users": "internal/entropy internal/lru internal/server/clientlimits internal/source/pgdial internal/username " +
		"internal/version",
	"internal/pgcatalog": "internal/pgcatalog/datum internal/pgcatalog/interpret internal/pgcatalog/inventory internal/pgcatalog/oid " +
		"internal/planner/announce policy",
	"internal/pgcatalog/interpret": "internal/pgcatalog/datum internal/pgcatalog/inventory internal/pgcatalog/oid internal/planner/grammar",
	"internal/render":              "api dp internal/mechanism/learn/model",
	// From outside: what servers have said over HTTP, and nothing else.
	"client":            "api dp internal/entropy internal/federate internal/render",
	"internal/federate": "api dp/mech",
	// For one program, which brings its own numbers: noise and mechanisms, and nobody else's data.
	"internal/lab/workbench": "api client dp dp/mech dp/noise internal/lab/workload internal/mechanism/learn",
	// For the owner, who sees the data: exact answers, and noise that is never released.
	"internal/lab/rehearse": "api dp dp/mech dp/noise internal/curator internal/curator/answers internal/curator/budgets " +
		"internal/curator/pricing internal/engine internal/ledger/memledger internal/planner internal/planner/syntax " +
		"internal/planner/tree policy store",
	// Groups of commands do not see one another, but for a demonstration that reads prices as a
	// comparison of trainings does.
	"cmd/discreet/internal/console": "internal/problem api client dp internal/lab/chart internal/lab/workload internal/ledger/openledger " +
		"internal/ownerkey internal/policywords internal/render ledger policy",
	"cmd/discreet/internal/labcmd": ". api cmd/discreet/internal/console cmd/discreet/internal/sessioncmd dp internal/lab/audit " +
		"internal/lab/chart internal/lab/enumerate internal/lab/hospital internal/lab/lockstep internal/lab/survey " +
		"internal/lab/traindemo internal/lab/workbench internal/lab/workload internal/ledger/sqlite internal/privacyloss " +
		"internal/render ledger",
	"cmd/discreet/internal/ownercmd": ". api cmd/discreet/internal/console cmd/discreet/internal/prompt dp " +
		"internal/curator/budgets internal/curator/policycheck internal/engine internal/engine/duckdb internal/engine/trino " +
		"internal/lab/hospital internal/lab/rehearse internal/ledger/anchor internal/ledger/chain internal/ledger/openledger " +
		"internal/ledger/replay internal/mechanism/learn/model internal/ownerkey internal/policywords internal/render " +
		"internal/sandbox internal/server internal/server/admission internal/server/agent internal/server/httpapi internal/server/openid " +
		"internal/server/users internal/server/web internal/source/policydraft internal/source/trinotables internal/version ledger " +
		"policy",
	"cmd/discreet/internal/prompt": "api policy",
	"cmd/discreet/internal/querycmd": ". api client cmd/discreet/internal/console cmd/discreet/internal/prompt dp " +
		"internal/curator/budgets internal/curator/profile internal/lab/chart internal/lab/workbench " +
		"internal/localsocket internal/render internal/server internal/server/users internal/version ledger policy",
	"cmd/discreet/internal/sessioncmd": ". api cmd/discreet/internal/console dp internal/lab/chart internal/lab/holdoutdemo " +
		"internal/lab/traindemo internal/mechanism/holdout internal/mechanism/holdout/labels internal/mechanism/learn " +
		"internal/mechanism/stream internal/render",
}

// forbidden says who alone may import a package, outside of tests.
var forbidden = map[string]string{
	// Randomness has one source, and noise is all that is made of it. A ledger's identity is random
	// too, and is no noise, and so is an owner's key, and the name of a request. A replay has
	// randomness that repeats, for databases that it makes up.
	"crypto/rand": "internal/entropy",
	module + "/internal/entropy": "client dp/noise internal/server/openid internal/ledger/groupcommit internal/ledger/postgres " +
		"internal/ledger/sqlite " +
		"internal/lab/lockstep internal/detrand internal/ownerkey " +
		"internal/server/admission internal/server/users internal/server/pgwire internal/server/httpapi internal/localsocket",
	"math/rand":    "",
	"math/rand/v2": "",
	// Noise that can be made again hides nothing, and a ledger without a disk forgets what was
	// spent: they are for data that is made up, and the second for the owner, who sees the data.
	module + "/internal/detrand": "internal/fakedata internal/lab/density internal/lab/holdoutdemo internal/lab/lockstep " +
		"internal/lab/omopdata internal/lab/traindemo internal/sandbox internal/test/curatortest internal/test/daily " +
		"internal/test/generate internal/test/ledgertest",
	module + "/internal/ledger/memledger": "internal/lab/lockstep internal/lab/rehearse internal/sandbox",
	// Noise without a mechanism is for what has data of its own; the library chooses its source.
	module + "/dp/noise": ". dp/mech internal/detrand internal/lab/audit internal/lab/rehearse internal/lab/stat " +
		"internal/lab/survey internal/lab/workbench",
	// Whoever has a curator has what its sessions have of it; see TestSealedStaysSealed.
	module + "/internal/curator": ". internal/curator/policycheck internal/lab/lockstep internal/lab/rehearse internal/sandbox " +
		"internal/test/curatortest",
	// What shows exact figures is for the owner's command, and nobody else has a way to it.
	module + "/internal/lab/rehearse": "cmd/discreet/internal/ownercmd",
	// Opening a sealed value is for engines, which seal, and mechanisms. A replay measures how
	// far apart two of them are, and does not open them; see TestSealedStaysSealed.
	module + "/internal/sealed": "dp/mech internal/engine internal/test/reference internal/engine/sqlengine internal/lab/lockstep " +
		"internal/test/neighbours internal/test/sessiontest internal/mechanism/stream/histogram internal/mechanism/holdout/labels " +
		"internal/mechanism/learn",
	// Training rows are private, and exact.
	module + "/internal/mechanism/learn/solve": "internal/mechanism/learn internal/lab/traindemo internal/lab/audit",
	// Nobody but an engine talks to the data, and the demonstration to its own. The engine for
	// outer queries has a DuckDB with released results and nothing else.
	"github.com/duckdb/duckdb-go/v2": "internal/engine/duckdb internal/engine/duckdb/chunks internal/engine/postquery " +
		"cmd/discreet/internal/sessioncmd cmd/discreet/internal/labcmd",
	"github.com/duckdb/duckdb-go-bindings": "internal/engine/duckdb/chunks",
	"modernc.org/sqlite":                   "internal/ledger/sqlite internal/server/users",
	"github.com/jackc/pgx/v5": "internal/ledger/anchor internal/ledger/postgres internal/source/pgdial internal/source/pgtables " +
		"internal/server/users internal/test/testpg",
	"github.com/trinodb/trino-go-client/trino": "internal/test/testtrino internal/source/trinotables",
	"log": "",
	// Memory that is not Go's has one room.
	"unsafe": "internal/engine/duckdb/chunks",
}

// layerOf returns the number of a package's layer, or -1 where it has none.
func layerOf(name string) int {
	at, length := -1, -1
	for i, l := range layers {
		for _, pattern := range strings.Fields(l.packages) {
			folder, below := strings.CutSuffix(pattern, "/...")
			if fits := name == folder || below && strings.HasPrefix(name, folder+"/"); fits && len(folder) > length {
				at, length = i, len(folder)
			}
		}
	}
	return at
}

// pathOf returns a package's path inside of the module.
func pathOf(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// violations returns what a package imports and may not.
func violations(p listed) []string {
	var out []string
	name := pathOf(p.ImportPath)
	here := layerOf(name)
	if here < 0 {
		out = append(out, name+" is in no layer")
	}
	allowed, isNarrow := narrow[name]
	for _, i := range p.Imports {
		if i == module || strings.HasPrefix(i, module+"/") {
			if there := layerOf(pathOf(i)); there > here {
				out = append(out, name+" imports "+pathOf(i)+", of the layer "+layers[there].name+" above it")
			}
			if isNarrow && !slices.Contains(strings.Fields(allowed), pathOf(i)) {
				out = append(out, name+" imports "+pathOf(i)+", which is not on its list")
			}
		}
		if only, ok := forbidden[i]; ok && !slices.Contains(strings.Fields(only), name) {
			out = append(out, name+" imports "+i)
		}
	}
	return out
}

func TestImportDirections(t *testing.T) {
	exists := map[string]bool{}
	for _, p := range packages(t, "./...") {
		exists[pathOf(p.ImportPath)] = true
		for _, v := range violations(p) {
			t.Error(v)
		}
	}
	for name, imports := range narrow {
		for _, n := range append(strings.Fields(imports), name) {
			if !exists[n] {
				t.Errorf("the list of %s names %s, which there is not", name, n)
			}
		}
	}
	for _, l := range layers {
		for _, pattern := range strings.Fields(l.packages) {
			if folder, below := strings.CutSuffix(pattern, "/..."); !below && !exists[folder] {
				t.Errorf("the layer %s names %s, which there is not", l.name, folder)
			}
		}
	}
}

// TestViolationsAreSeen plants imports against the directions.
func TestViolationsAreSeen(t *testing.T) {
	exists := map[string]bool{}
	for _, p := range packages(t, "./...") {
		exists[pathOf(p.ImportPath)] = true
	}
	for _, planted := range []listed{
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/dp/noise"}},
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/engine/postquery", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/engine/postquery", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/sqlgen", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/sqlgen", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/sqlgen", Imports: []string{"github.com/duckdb/duckdb-go/v2"}},
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/engine/sqlengine", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/engine/sqlengine", Imports: []string{"github.com/duckdb/duckdb-go/v2"}},
		{ImportPath: module + "/store", Imports: []string{module + "/internal/planner"}},
		{ImportPath: module + "/dp/mech", Imports: []string{module + "/internal/planner"}},
		{ImportPath: module + "/internal/planner/tree", Imports: []string{module + "/internal/planner/expr"}},
		{ImportPath: module + "/internal/planner/expr", Imports: []string{module + "/internal/planner"}},
		{ImportPath: module + "/internal/planner/verify", Imports: []string{module + "/internal/planner"}},
		{ImportPath: module + "/internal/planner/verify", Imports: []string{module + "/internal/planner/expr"}},
		{ImportPath: module + "/internal/engine/duckdb", Imports: []string{module + "/internal/planner"}},
		{ImportPath: module + "/internal/sqlgen", Imports: []string{module + "/internal/planner"}},
		{ImportPath: module + "/ledger", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/dp", Imports: []string{module + "/dp/noise"}},
		{ImportPath: module + "/internal/curator", Imports: []string{"math/rand"}},
		{ImportPath: module + "/internal/mechanism/stream/predict", Imports: []string{module + "/dp/mech"}},
		{ImportPath: module + "/internal/mechanism/stream/predict", Imports: []string{module + "/internal/mechanism/stream/histogram"}},
		{ImportPath: module + "/internal/mechanism/stream", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/mechanism/stream", Imports: []string{module + "/dp/noise"}},
		{ImportPath: module + "/internal/mechanism/holdout", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/mechanism/session", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/curator", Imports: []string{module + "/internal/mechanism/learn/solve"}},
		{ImportPath: module + "/internal/mechanism/learn/solve", Imports: []string{module + "/dp/noise"}},
		{ImportPath: module + "/internal/curator", Imports: []string{module}},
		{ImportPath: module + "/cmd/discreet/internal/ownercmd", Imports: []string{module + "/cmd/discreet/internal/querycmd"}},
		{ImportPath: module + "/cmd/discreet/internal/console", Imports: []string{module + "/cmd/discreet/internal/ownercmd"}},
		{ImportPath: module + "/cmd/discreet/internal/querycmd", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/curator/answers", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/curator/answers", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/curator/answers", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/curator/budgets", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/curator/answercache", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/curator/answercache", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/session/sparsesession", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/session/streamsession", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/session/holdoutsession", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/session/training", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/session/training", Imports: []string{module + "/internal/curator"}},
		{ImportPath: module + "/internal/curator/pricing", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/curator/pricing", Imports: []string{module + "/internal/sealed"}},
		{ImportPath: module + "/internal/curator/pricing", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/pgcatalog", Imports: []string{module}},
		{ImportPath: module + "/internal/pgcatalog/interpret", Imports: []string{module + "/policy"}},
		{ImportPath: module + "/internal/pgcatalog/interpret", Imports: []string{module + "/internal/pgcatalog"}},
		{ImportPath: module + "/api", Imports: []string{module + "/internal/curator"}},
		{ImportPath: module + "/internal/render", Imports: []string{module}},
		{ImportPath: module + "/internal/server/httpapi", Imports: []string{module + "/dp/mech"}},
		{ImportPath: module + "/internal/curator/policycheck", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/federate", Imports: []string{module + "/internal/curator/answers"}},
		{ImportPath: module + "/client", Imports: []string{module}},
		{ImportPath: module, Imports: []string{module + "/internal/detrand"}},
		{ImportPath: module, Imports: []string{module + "/internal/ledger/memledger"}},
		{ImportPath: module + "/cmd/discreet", Imports: []string{module + "/internal/detrand"}},
		{ImportPath: module + "/internal/lab/hospital", Imports: []string{module + "/dp/noise"}},
		{ImportPath: module + "/internal/lab/hospital", Imports: []string{module + "/internal/curator"}},
		{ImportPath: module + "/internal/planner", Imports: []string{module + "/dp/noise"}},
		{ImportPath: module + "/internal/planner", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/source/pgtables", Imports: []string{module + "/internal/planner/tree"}},
		{ImportPath: module + "/internal/source/trinotables", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/ledger/anchor", Imports: []string{module + "/internal/engine"}},
		{ImportPath: module + "/internal/ledger/openledger", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/releaseclock", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/policy", Imports: []string{module + "/ledger"}},
		{ImportPath: module + "/internal/server", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/internal/server", Imports: []string{module + "/internal/curator"}},
		{ImportPath: module + "/internal/server/agent", Imports: []string{module + "/internal/lab/rehearse"}},
		{ImportPath: module + "/cmd/discreet/internal/querycmd", Imports: []string{module + "/internal/lab/rehearse"}},
		{ImportPath: module + "/internal/lab/workbench", Imports: []string{module + "/internal/engine/duckdb"}},
		{ImportPath: module + "/utils"},
	} {
		if len(violations(planted)) == 0 {
			t.Errorf("not seen: %s importing %v", planted.ImportPath, planted.Imports)
		}
		// A package that there is not would be seen for that alone.
		for _, path := range append([]string{planted.ImportPath}, planted.Imports...) {
			if name := pathOf(path); name != "utils" && strings.HasPrefix(path, module) && !exists[name] {
				t.Errorf("there is no package %s to plant anything in", name)
			}
		}
	}
}
