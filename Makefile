# What people do with this tree: make help.
.DEFAULT_GOAL := help
.PHONY: help build demo test quick lint docs packages page planted night ci release

help: ## list what there is to make
	@sed -nE 's/^([a-z]+):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

build: ## the binary, discreet
	go build -trimpath -o discreet ./cmd/discreet

demo: ## a demonstration: private answers next to the true ones, and an attack
	go run ./cmd/discreet demo

quick: ## tests of mechanisms, policies, planner and architecture: what a change breaks first
	go test -short ./dp/... ./api ./policy ./internal/planner ./internal/planner/verify ./internal/sqlgen ./internal/architecture

test: ## all tests; those that need what your machine lacks are skipped
	go test ./...

lint: ## gofmt, go vet, staticcheck and golangci-lint
	@test -z "$$(gofmt -l .)" || { gofmt -l .; exit 1; }
	go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0 run

docs: ## the pages of docs as a site, in site/; needs Python
	.ci/docs/build

packages: ## every package with its first sentence
	@go list -f '{{.ImportPath}}: {{.Doc}}' ./...

page: ## the page in internal/server/web/dist, from its sources; needs npm
	go generate ./internal/server/web

planted: ## plant bugs, one at a time: the tests have to catch each
	.ci/planted

night: ## what takes long: soaks, fuzzing, everything behind flags
	.ci/night

ci: ## what continuous integration runs
	.ci/run

release: ## artefacts: make release VERSION=0.1.0
	@test -n "$(VERSION)" || { echo "say which version: make release VERSION=0.1.0"; exit 2; }
	.ci/release $(VERSION)
