package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/glyphoxa/glyphoxa/campaigns"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/npc"
)

// maxExplained is the longest line that is read from --stdin: a long speech with
// every name at the table.
const maxExplained = 256 << 10

// explain is the command that says what would happen to a line: who is meant,
// which tier applies and which tools that leaves.
func explain(_ context.Context, args []string, std stdio) int {
	flags := flag.NewFlagSet("glyphoxa explain", flag.ContinueOnError)
	flags.SetOutput(std.err)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), "Usage: glyphoxa explain [flags] \"LINE\"\n"+
			"\nSays who is meant by a line and why, what it is about, which tier applies, and which\n"+
			"tools that leaves. With --stdin every line read is a JSON object with text and, if\n"+
			"wanted, speaker, player_names, pc_names, npcs_present, last_npc, last_npc_seconds_ago,\n"+
			"first_turn and lang; one JSON object is written for each, in order.\n\n")
		flags.PrintDefaults()
	}
	folder := flags.String("campaign", campaigns.Shipped[0], "the campaign `folder`, or the name of a shipped one")
	var in npc.ExplainInput
	flags.Func("npc", "an NPC who is present, by `name`; may be repeated (default all of the campaign's)", func(s string) error {
		in.NPCsPresent = append(in.NPCsPresent, s)
		return nil
	})
	flags.StringVar(&in.LastNPC, "last", "", "the NPC with whom the speaker was just in exchange, by `name`")
	flags.StringVar(&in.Speaker, "speaker", "player", "`player` or dm")
	flags.StringVar(&in.Lang, "lang", "", "the language, as a `tag` such as de")
	asJSON := flags.Bool("json", false, "one JSON `object`")
	stdin := flags.Bool("stdin", false, "one JSON object a line, in and out")
	words, err := parseAnywhere(flags, args)
	if err != nil {
		return usageCode(err)
	}
	if in.Speaker != "player" && in.Speaker != "dm" {
		fmt.Fprintf(std.err, "glyphoxa explain: --speaker %q: want player or dm\n", in.Speaker)
		return 2
	}
	if len(words) == 0 && !*stdin {
		flags.Usage()
		return 2
	}
	e, err := explainer(*folder)
	if err != nil {
		fmt.Fprintf(std.err, "glyphoxa explain: %v\n", err)
		return 1
	}
	if *stdin {
		err = explainAll(e, in, std)
	} else {
		in.Text = strings.Join(words, " ")
		out := e.Explain(in)
		if *asJSON {
			err = writeJSON(std.out, out)
		} else {
			printExplained(std.out, out)
		}
	}
	if err != nil {
		fmt.Fprintf(std.err, "glyphoxa explain: %v\n", err)
		return 1
	}
	return 0
}

// explainer knows a campaign and the belts of its NPCs.
func explainer(folder string) (npc.Explainer, error) {
	c, err := openCampaign(folder)
	if err != nil {
		return npc.Explainer{}, err
	}
	host, err := mcp.NewHost(mcp.HostOptions{})
	if err != nil {
		return npc.Explainer{}, err
	}
	names, err := knownRules()
	if err != nil {
		return npc.Explainer{}, err
	}
	tools, err := builtins(belongings{campaign: c}) // never called here
	if err != nil {
		return npc.Explainer{}, err
	}
	if err := host.Add(tools...); err != nil {
		return npc.Explainer{}, err
	}
	return npc.Explainer{Characters: c.NPCs, Language: c.Language, Phrases: c.Phrases, Rules: names, Belt: func(ch npc.Character, t mcp.Tier, said string) (tools []string, hidden []npc.ExplainHidden) {
		belt := host.Belt(mcp.Grant{Caller: mcp.Caller{Campaign: c.ID, NPC: ch.ID}, Allow: ch.Tools, Tier: t, Utterance: said, Helper: ch.Helper})
		for _, t := range belt.Tools() {
			tools = append(tools, t.Name)
		}
		for _, h := range belt.Hidden() {
			hidden = append(hidden, npc.ExplainHidden{Name: h.Name, Reason: h.Reason})
		}
		return tools, hidden
	}}, nil
}

// knownRules are the names of the rules in the configured data folder.
func knownRules() ([]string, error) {
	cfg, err := loadConfig("")
	if err != nil {
		return nil, err
	}
	dir, err := cfg.dataDir()
	if err != nil {
		return ruleNames("") // nowhere to keep data: then nothing was imported
	}
	return ruleNames(dir)
}

// openCampaign reads the campaign in a folder, or a shipped one. Tools of servers
// that are not running here are none of its faults.
func openCampaign(name string) (*campaigns.Campaign, error) {
	if isFolder(name) {
		c, problems := campaigns.Open(name, campaigns.Options{})
		return c, problems.Err()
	}
	folder, err := campaigns.ShippedFolder(name)
	if err != nil {
		return nil, fmt.Errorf("%w, and there is no folder of that name", err)
	}
	c, problems := campaigns.Load(folder, campaigns.Options{})
	return c, problems.Err()
}

// explainAll explains every line of standard input. One that cannot be read
// gets an error in its place, so that lines out match lines in.
func explainAll(e npc.Explainer, base npc.ExplainInput, std stdio) error {
	in, out := bufio.NewReaderSize(std.in, 64<<10), bufio.NewWriter(std.out)
	for n := 1; ; n++ {
		line, err := readBounded(in, maxExplained)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			break
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLongLine) {
			return fmt.Errorf("line %d: %w", n, err)
		}
		one := base
		one.NPCsPresent = slices.Clone(base.NPCsPresent) // JSON fills it in place
		if err == nil || errors.Is(err, io.EOF) {
			err = json.Unmarshal(line, &one)
		}
		if err != nil {
			err = writeJSON(out, map[string]string{"error": fmt.Sprintf("line %d: %v", n, err)})
		} else {
			err = writeJSON(out, e.Explain(one))
		}
		if err == nil && in.Buffered() == 0 {
			err = out.Flush() // somebody may be waiting for the answer
		}
		if err != nil {
			return err
		}
	}
	return out.Flush()
}

var errLongLine = fmt.Errorf("longer than %d bytes", maxExplained)

// readBounded reads a line of at most limit bytes. Of a longer one the rest is
// skipped.
func readBounded(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			long = true
		} else if !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLongLine
		}
		return line, err
	}
}

// printExplained writes an explanation for people.
func printExplained(w io.Writer, o npc.ExplainOutput) {
	to := "nobody"
	if o.Addressed != nil {
		to = strings.Join(append([]string{*o.Addressed}, o.Also...), " and ")
	}
	fmt.Fprintf(w, "for     %s\n", to)
	if o.Target != nil {
		fmt.Fprintf(w, "order   for %s\n", *o.Target)
	}
	fmt.Fprintf(w, "about   %s\n", o.Intent)
	fmt.Fprintf(w, "tier    %s\n", o.Tier)
	for _, r := range o.Reasons {
		fmt.Fprintf(w, "why     %s\n", r)
	}
	if len(o.Tools) > 0 {
		fmt.Fprintf(w, "belt    %s\n", strings.Join(o.Tools, ", "))
	}
	for _, h := range o.Hidden {
		fmt.Fprintf(w, "hidden  %s: %s\n", h.Name, h.Reason)
	}
}
