package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/glyphoxa/glyphoxa/mcp/tools/rules"
)

// searchRules is the command that asks the rules what a player would ask.
func searchRules(ctx context.Context, args []string, io stdio) int {
	if len(args) > 0 && args[0] == "import" {
		return importRules(ctx, args[1:], io)
	}
	flags := flag.NewFlagSet("glyphoxa rules", flag.ContinueOnError)
	flags.SetOutput(io.err)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: glyphoxa rules [flags] QUESTION\n"+
			"       glyphoxa rules import --format FORMAT DIR\n"+
			"\nAnswers from the free fifth-edition rules and what was imported, or says that they do not.\n\n")
		flags.PrintDefaults()
	}
	asJSON := flags.Bool("json", false, "one JSON `object` a line")
	stdin := flags.Bool("stdin", false, "one question a line")
	edition := flags.String("edition", "", "`2014` or 2024; otherwise both, answering with 2014 where they differ")
	limit := flags.Int("limit", 5, "at most this many `results`")
	system := flags.String("system", "", "ask another `game` that was imported, by its id")
	path := flags.String("config", "", "the configuration `FILE` (default: glyphoxa.yaml here, if there is one)")
	words, err := parseAnywhere(flags, args)
	if err != nil {
		return usageCode(err)
	}
	q := rules.Query{Limit: *limit, System: *system, DM: true}
	if q.Edition, err = rules.ParseEdition(*edition); err != nil {
		fmt.Fprintf(io.err, "glyphoxa rules: %v\n", err)
		return 2
	}
	cfg, err := loadConfig(*path)
	if err != nil {
		fmt.Fprintf(io.err, "glyphoxa rules: %v\n", err)
		return 1
	}
	opts := rules.Options{Edition: q.Edition}
	// Looking something up must work where nothing can be kept.
	if dir, err := cfg.dataDir(); err == nil {
		opts.Imported = importedRules(dir)
	}
	library, err := rules.New(opts)
	if err != nil {
		fmt.Fprintf(io.err, "glyphoxa rules: %v\n", err)
		return 1
	}
	answer := func(out stdio, question string) error {
		q.Text = question
		hits := library.Search(q)
		if *asJSON {
			return writeJSON(out.out, ruleAnswer{Query: question, Results: ruleResults(hits)})
		}
		printRules(out, hits)
		return nil
	}
	if !*stdin {
		if len(words) == 0 {
			flags.Usage()
			return 2
		}
		if err := answer(io, strings.Join(words, " ")); err != nil {
			fmt.Fprintf(io.err, "glyphoxa rules: %v\n", err)
			return 1
		}
		return 0
	}
	in, out := bufio.NewReader(io.in), bufio.NewWriter(io.out)
	defer out.Flush()
	for ctx.Err() == nil {
		line, err := readLine(in)
		if err != nil {
			return 0
		}
		if err := answer(stdio{out: out, err: io.err}, line); err != nil {
			fmt.Fprintf(io.err, "glyphoxa rules: %v\n", err)
			return 1
		}
		if in.Buffered() == 0 {
			out.Flush() // somebody may be waiting for this answer
		}
	}
	return 1
}

// A ruleAnswer is one line of output.
type ruleAnswer struct {
	Query   string       `json:"query"`
	Results []ruleResult `json:"results"`
}

// A ruleResult is what a program learns about one rule; the card is for
// people.
type ruleResult struct {
	ID      string        `json:"id"`
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	Edition rules.Edition `json:"edition,omitempty"`
	Aliases []string      `json:"aliases"`
	SRD     []string      `json:"srd"`
	Say     string        `json:"say"`
	License string        `json:"license,omitempty"`
	Score   float64       `json:"score"`
}

func ruleResults(hits []rules.Hit) []ruleResult {
	results := []ruleResult{} // an empty list, not null
	for _, h := range hits {
		results = append(results, ruleResult{h.ID, h.Kind, h.Name, h.Edition,
			append([]string{}, h.Aliases...), append([]string{}, h.SRD...), h.Say, h.License, h.Score})
	}
	return results
}

// printRules shows the best card and names the others.
func printRules(io stdio, hits []rules.Hit) {
	if len(hits) == 0 {
		fmt.Fprintln(io.out, "That is not in the free rules.")
		return
	}
	best := hits[0]
	name := best.Name
	if best.Edition != "" {
		name += " (" + string(best.Edition) + ")"
	}
	fmt.Fprintf(io.out, "%s\n%s\n", name, best.Text)
	if best.License != "" {
		fmt.Fprintf(io.out, "[%s, %s]\n", best.Source, best.License)
	}
	for _, h := range hits[1:] {
		fmt.Fprintf(io.out, "  see also %s\n", h.Name)
	}
}
