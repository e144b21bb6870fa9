package discord

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/memory"
)

// told are the texts that people are shown, as they stand in the program: what
// say, Refuse and errors.New are given, here and in the table's actions.
func told(t *testing.T) []string {
	t.Helper()
	keys := map[string]bool{}
	for _, dir := range []string{".", ".."} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				name := ""
				switch fun := call.Fun.(type) {
				case *ast.SelectorExpr:
					name = fun.Sel.Name
				case *ast.Ident:
					name = fun.Name
				}
				lit, ok := call.Args[0].(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING || name != "say" && name != "Refuse" && name != "halt" {
					return true
				}
				s, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				keys[s] = true
				return true
			})
		}
	}
	for _, err := range []error{
		ErrForbidden, ErrAdmins, ErrElsewhere, errUnknown, errStale, ErrNotInVoice, ErrRunning, ErrNoSession, errArriving, errNoServer, errEmptyMenu,
		bot.ErrNotAllowed, bot.ErrEmpty, bot.ErrTooLong, bot.ErrNoWords, bot.ErrClosed, bot.ErrNoQuestion, bot.ErrNoMusic, errors.New(bot.PlayedX), mcp.ErrNoApproval,
	} {
		keys[err.Error()] = true
	}
	for _, p := range needed {
		keys[p.otherwise] = true
	}
	for _, c := range consentStates {
		keys[string(c)], keys[aboutConsent[c]] = true, true
	}
	for _, s := range []bot.State{bot.Listening, bot.Thinking, bot.Speaking, bot.Muted, bot.Absent} {
		keys[string(s)] = true
	}
	for _, k := range memory.Kinds {
		keys[string(k)] = true
	}
	for _, s := range []mcp.Tier{mcp.Fast, mcp.Standard, mcp.Deep} {
		keys[s.String()] = true
	}
	delete(keys, "%s")
	return slices.Sorted(maps.Keys(keys))
}

// shown are the names and descriptions in Discord's menus.
func shown() (names, abouts []string) {
	seen := map[string]bool{}
	add := func(list *[]string, s string) {
		if !seen[s] {
			seen[s] = true
			*list = append(*list, s)
		}
	}
	for _, c := range commands() {
		switch {
		case c.kind != 0:
			add(&abouts, c.name)
			continue
		case c.group == "":
			add(&names, "/"+c.name)
		default:
			add(&names, "/"+c.group)
			add(&names, "/"+c.group+" "+c.name)
			add(&abouts, groups[c.group])
		}
		add(&abouts, c.about)
		for _, o := range c.options {
			add(&names, ":"+o.name)
			add(&abouts, o.about)
			for _, choice := range o.choices {
				add(&abouts, choice)
			}
		}
	}
	return names, abouts
}

var verbs = regexp.MustCompile(`%[-+0-9.]*[a-zA-Z]`)

func TestEverythingPeopleAreShownIsInTheirLanguage(t *testing.T) {
	names, abouts := shown()
	for _, l := range []tongue{german, spanish} {
		list := dictionary()[l]
		used := map[string]bool{}
		for _, key := range slices.Concat(told(t), names, abouts) {
			used[key] = true
			text, ok := list[key]
			if !ok {
				t.Errorf("%s lacks: %q", l, key)
				continue
			}
			if got, want := verbs.FindAllString(text, -1), verbs.FindAllString(key, -1); !slices.Equal(got, want) {
				t.Errorf("%s: %q has %v, want %v as in %q", l, text, got, want, key)
			}
		}
		for key := range list {
			if !used[key] {
				t.Errorf("%s translates %q, which nobody says any more", l, key)
			}
		}
	}
}

func TestTranslatedNamesAndDescriptionsAreWhatDiscordAccepts(t *testing.T) {
	names, abouts := shown()
	valid := regexp.MustCompile(`^[-_\p{L}\p{N}]{1,32}$`)
	for _, l := range []tongue{german, spanish} {
		list := dictionary()[l]
		for _, n := range names {
			if s := list[n]; s != "" && (!valid.MatchString(s) || s != strings.ToLower(s)) {
				t.Errorf("%s: the name %q", l, s)
			}
		}
		for _, a := range abouts {
			if n := utf8.RuneCountInString(list[a]); n > 100 {
				t.Errorf("%s: %q has %d characters", l, list[a], n)
			}
		}
	}
}

func TestNobodyIsAnsweredInALanguageWeDoNotHave(t *testing.T) {
	for locale, want := range map[discordgo.Locale]tongue{
		discordgo.German: german, discordgo.SpanishES: spanish, discordgo.SpanishLATAM: spanish,
		discordgo.EnglishUS: english, discordgo.Japanese: english, "": english,
	} {
		if got := tongueOf(locale); got != want {
			t.Errorf("%s is answered in %s, want %s", locale, got, want)
		}
	}
	if got := german.fault(bot.Refuse("the campaign has no scene %q", "x")); !strings.Contains(got, "Szene") {
		t.Errorf("a refusal in German: %q", got)
	}
	if got := german.say("a text that nobody has translated: %d", 3); got != "a text that nobody has translated: 3" {
		t.Errorf("got %q", got)
	}
}
