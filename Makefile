# Glyphoxa. "make play" is where to begin; "make test" and "make check" are what
# every change has to pass. See CONTRIBUTING.md.

SHELL := /bin/bash
BIN   := bin/glyphoxa
TOOL  := go tool -modfile=tools/go.mod

.PHONY: build play run test check bench bench-million fuzz deps generate interop judges conformance clean

build: deps                      ## build bin/glyphoxa
	go build -o $(BIN) ./cmd/glyphoxa

play: build                      ## play the shipped campaign on this machine, in a browser
	$(BIN) play $(ARGS)

run: build                       ## play in a Discord voice channel, as glyphoxa.yaml says
	$(BIN) run $(ARGS)

test: deps                       ## all tests, with the race detector
	go test -race -shuffle=on -count=1 ./...

check:                           ## format, vet, lint, reachability, imports, examples
	./scripts/check

bench:                           ## the figures of the budgets in CONTRIBUTING.md
	./scripts/bench

bench-million:                   ## memory with a million lines, in both stores; takes an hour
	go test -run '^$$' -bench 'Search|AudioClock' -benchtime 200x -timeout 3h -v ./memory/sqlite ./memory/postgres -lines 1000000

fuzz:                            ## every fuzz target for FUZZTIME (10s)
	./scripts/fuzz $(or $(FUZZTIME),10s)

deps:                            ## install what the table needs and this machine lacks
	@./scripts/deps

interop:                         ## voice calls with discord.js's own libraries, MLS vectors; needs npm
	./scripts/interop

judges:                          ## our fake vendors and clients by the vendors' own software; needs npm
	./scripts/judges

conformance:                     ## the MCP conformance suite, as client and as server; needs npm
	./mcp/conformance/run
	./mcp/conformance/run server
	./mcp/conformance/servers/run

generate:                        ## regenerate the console's templates
	$(TOOL) templ generate -path bot/console

clean:
	rm -rf bin
