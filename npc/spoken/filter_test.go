package spoken

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func bartok() Options {
	return Options{
		Names: []string{"Bartok the Barkeep", "Bartok"}, Others: []string{"Mira", "Greymantle the Sage"},
		Tools:   []string{"roll", "search_rules", "query_entities"},
		Safety:  Safety{Rating: "teen", Lines: []string{"harm to children", "spiders"}, Veils: []string{"torture"}},
		Secrets: []string{"Bartok sold the real golden flagon to the Tallymen to pay a debt, and painted a tin one."},
	}
}

func TestOnlyWhatTheNPCWouldSayIsSpoken(t *testing.T) {
	for in, want := range map[string]string{
		"Welcome to the Flagon, friend!":                                     "Welcome to the Flagon, friend!",
		"Bartok: Welcome, friend.":                                           "Welcome, friend.",
		"**Bartok the Barkeep:** Welcome, friend.":                           "Welcome, friend.",
		"[Bartok]: Welcome, friend.":                                         "Welcome, friend.",
		"Bartok (grinning): Welcome, friend.":                                "Welcome, friend.",
		"Bartok says, \"Welcome, friend.\"":                                  "Welcome, friend.",
		"Assistant: Welcome.":                                                "Welcome.",
		"*wipes the bar* What will it be?":                                   "What will it be?",
		"*Sighs* I told you, no rooms.":                                      "I told you, no rooms.",
		"(leans closer) He left by the back door.":                           "He left by the back door.",
		"[laughs] Not a chance.":                                             "Not a chance.",
		"I *never* said that.":                                               "I never said that.",
		"It costs **three copper**, love.":                                   "It costs three copper, love.",
		"_chuckles softly_ You again?":                                       "You again?",
		"# Welcome":                                                          "Welcome",
		"- Two ales, then.":                                                  "Two ales, then.",
		"1. The stew":                                                        "The stew",
		"See [the menu](https://example.com/menu), friend.":                  "See the menu, friend.",
		"Look at https://example.com/x for more.":                            "Look at for more.",
		"Lovely evening! 😀🍺":                                                 "Lovely evening!",
		"Sure thing :) friend.":                                              "Sure thing friend.",
		"@everyone drinks are free!":                                         "everyone drinks are free!",
		"<b>Two</b> left, dear.":                                             "Two left, dear.",
		"Wait<break time=\"1s\"/> what?":                                     "Wait what?",
		"<think>The player wants stew.</think> Stew it is!":                  "Stew it is!",
		"The stew (rabbit and onion) is hot.":                                "The stew, rabbit and onion, is hot.",
		"<|im_start|>assistant Welcome.<|im_end|>":                           "assistant Welcome.",
		"I have 3 rooms: one, two and three.":                                "I have 3 rooms: one, two and three.",
		"Mind the step: it's older than the king.":                           "Mind the step: it's older than the king.",
		"Note this: I never haggle.":                                         "Note this: I never haggle.",
		"<tool_call>{\"name\": \"roll\", \"arguments\": {}}</tool_call> Hm.": "Hm.",
		"One moment. [TOOL_CALLS] [{\"name\":\"roll\"}]":                     "One moment.",
		"Let me see. roll(expression=\"2d6+3\")":                             "Let me see.",
		"Let me see. functions.roll({\"expression\":\"2d6\"})":               "Let me see.",
		"print(default_api.roll(expression='2d6'))":                          "",
		"{\"name\": \"search_rules\", \"parameters\": {\"query\": \"x\"}}":   "",
		"search_rules(\"grappling\") tells me this.":                         "tells me this.",
		"/roll 2d6": "",
		"Action: roll Action Input: {\"expression\": \"1d20\"}":                "",
		"<function=roll>{\"expression\":\"2d6\"}</function>Here you go.":       "Here you go.",
		"<invoke name=\"roll\"><parameter name=\"x\">2d6</parameter></invoke>": "",
		"<|python_tag|>roll.call(expression=\"2d6\")<|eom_id|>":                "",
		"A pint, Mira? Coming up.":                                             "A pint, Mira? Coming up.",
		"I rolled three barrels into the cellar.":                              "I rolled three barrels into the cellar.",
		"That's twelve copper in total.":                                       "That's twelve copper in total.",
		"The dice are loaded, you know.":                                       "The dice are loaded, you know.",
		"You would need to roll a fifteen to hit him.":                         "You would need to roll a fifteen to hit him.",
		"\u202eevil\u202c words":                                               "evil words",
	} {
		if got := New(bartok()).Sentence(in); got.Text != want {
			t.Errorf("%q:\n got %q\nwant %q\n(%v)", in, got.Text, want, got.Struck)
		}
	}
}

func TestNoShapeOfAToolCallIsEverSpoken(t *testing.T) {
	for _, sentences := range [][]string{
		{"<|Start of Memory Helper Tool Call|>", "search for the mill.", "<|End of Memory Helper Tool Call|>", "Ah yes, the mill!"},
		{"<tool_call>", "{\"name\": \"roll\",", "\"arguments\": {\"expression\": \"2d6\"}}", "</tool_call>", "Ah yes, the mill!"},
		{"{\"tool\": \"roll\",", "\"params\": {\"note\": \"it ends. or not?\"}}", "Ah yes, the mill!"},
		{"```json", "{\"name\":", "\"roll\"}", "```", "Ah yes, the mill!"},
		{"```tool_code\nroll(\"2d6\")\n```", "Ah yes, the mill!"},
		{"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>roll", "{\"expression\":\"2d6\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "Ah yes, the mill!"},
		{"<|tool_calls_section_begin|><|tool_call_begin|>functions.roll:0", "{}", "<|tool_call_end|><|tool_calls_section_end|>", "Ah yes, the mill!"},
		{"<|channel|>commentary to=functions.roll <|constrain|>json<|message|>{\"expression\":\"2d6\"}<|call|>", "Ah yes, the mill!"},
		{"<function_calls>", "<invoke name=\"roll\">", "<parameter name=\"expression\">2d6</parameter>", "</invoke>", "</function_calls>", "Ah yes, the mill!"},
		{"[TOOL_REQUEST]", "{\"name\":\"roll\"}", "[END_TOOL_REQUEST]", "Ah yes, the mill!"},
		{"[roll(expression='2d6'), query_entities(name='mill')]", "Ah yes, the mill!"},
		{"<think>", "They ask about the mill.", "I should call roll.", "</think>", "Ah yes, the mill!"},
		{"call:roll{expression:\"2d6\"}", "Ah yes, the mill!"},
		{"[[roll(\"2d6\")]]", "Ah yes, the mill!"},
		{"default_api.query_entities(name=\"mill\")", "Ah yes, the mill!"},
	} {
		f := New(bartok())
		var said []string
		for _, s := range sentences {
			if r := f.Sentence(s); r.Text != "" {
				said = append(said, r.Text)
			}
		}
		if d := cmp.Diff([]string{"Ah yes, the mill!"}, said); d != "" {
			t.Errorf("%q: %s", sentences, d)
		}
	}
}

func TestAToolCallWrittenAsTextIsReported(t *testing.T) {
	for in, want := range map[string]Call{
		`<tool_call>{"name": "roll", "arguments": {"expression": "2d6"}}</tool_call>`: {"roll", `{"expression": "2d6"}`},
		`roll(expression="2d6")`:                                   {"roll", `expression="2d6"`},
		`functions.roll({"expression":"2d6"})`:                     {"roll", `{"expression":"2d6"}`},
		`<function=roll>{"expression":"2d6"}</function>`:           {"roll", `{"expression":"2d6"}`},
		`{"selected_tool": "roll", "params": {"expression":"d4"}}`: {"roll", `{"expression":"d4"}`},
	} {
		r := New(bartok()).Sentence(in)
		if d := cmp.Diff([]Call{want}, r.Calls); d != "" || r.Text != "" {
			t.Errorf("%s: spoken %q, %s", in, r.Text, d)
		}
	}
}

func TestAResultThatNobodyRolledIsNotSpoken(t *testing.T) {
	for _, in := range []string{
		"I rolled a seventeen!", "Rattle, rattle, that's a 17 on the dice.", "The dice show 11.", "The bones say eleven, friend.", "You rolled a natural 20!",
		"2d6+3 = 11", "That makes 23 to hit.", "And the roll is a 14.", "Ich habe eine 17 gewürfelt.", "He sacado un diecisiete.", "I roll a d20 and get an 18.", "You got a nineteen, lucky devil.",
	} {
		if got := New(bartok()).Sentence(in); got.Text != "" || len(got.Struck) == 0 {
			t.Errorf("%q was spoken as %q", in, got.Text)
		}
		o := bartok()
		o.Roll = func(string) (int, bool) { return 6, true }
		if got := New(o).Sentence(in); !strings.Contains(got.Text, "6") {
			t.Errorf("%q with real dice showing 6 was spoken as %q", in, got.Text)
		}
		f := New(bartok())
		f.Rolled(6, 2, 1)
		if got := f.Sentence(in); !strings.Contains(got.Text, "6") {
			t.Errorf("%q after a real 6 was spoken as %q", in, got.Text)
		}
	}
}

func TestARealRollMayBeSpokenOf(t *testing.T) {
	f := New(bartok())
	f.Rolled(11, 5, 3)
	for _, in := range []string{"The dice show a five and a three.", "That's eleven in total, I rolled an eleven.", "You rolled 11!"} {
		if got := f.Sentence(in); got.Text != in {
			t.Errorf("%q became %q", in, got.Text)
		}
	}
}

func TestSpeakingForSomebodyElseEndsTheAnswer(t *testing.T) {
	for _, in := range []string{"Mira: I attack him!", "Greymantle: I disagree.", "User: what now?", "Narrator: The door opens.", "**Mira:** Hello.", "Mira says, \"Hello.\""} {
		f := New(bartok())
		if got := f.Sentence(in); got.Text != "" || !got.End {
			t.Errorf("%q: spoken %q, ended %v", in, got.Text, got.End)
		}
		if got := f.Sentence("And then I said so."); got.Text != "" {
			t.Errorf("after %q the answer went on with %q", in, got.Text)
		}
	}
}

func TestOnlyWhatComesBeforeSomebodyElsesWordsIsSpoken(t *testing.T) {
	r := New(bartok()).Sentence("The bread is from Tamsin, and Mira: I buy it all!")
	if want := "The bread is from Tamsin, and"; r.Text != want || !r.End {
		t.Errorf("spoken %q, ended %v; want %q and an end", r.Text, r.End, want)
	}
}

func TestLinesVeilsAndSecretsAreNotSpoken(t *testing.T) {
	for in, want := range map[string]Result{
		"A spider as big as a cat crawled out.":                                {Broken: "spiders"},
		"Spiders everywhere, friend!":                                          {Broken: "spiders"},
		"They hurt the children, every one of them.":                           {Broken: "harm to children"},
		"He killed a little boy in the mill.":                                  {Broken: "harm to children"},
		"They put him on the rack and tortured him.":                           {Broken: "torture", Fade: true, End: true},
		"What the fuck do you want?":                                           {Broken: "words for grown-ups only"},
		"I sold the real golden flagon to the Tallymen.":                       {Secret: true},
		"Fine! The flagon is painted tin, I sold the real one to pay my debt.": {Secret: true},
	} {
		got := New(bartok()).Sentence(in)
		if got.Text != "" || got.Broken != want.Broken || got.Fade != want.Fade || got.Secret != want.Secret || got.End != want.End {
			t.Errorf("%q: got %+v", in, got)
		}
	}
	for _, in := range []string{"The children play by the river.", "The golden flagon? A duke's present, very old.", "That hurt my knee.", "The Tallymen? They smile when they lend."} {
		if got := New(bartok()).Sentence(in); got.Text != in {
			t.Errorf("%q became %q: %v", in, got.Text, got.Struck)
		}
	}
}

func TestStageDirectionsAreKeptAsCaptions(t *testing.T) {
	r := New(bartok()).Sentence("*wipes the bar* What will it be? (leans closer)")
	if d := cmp.Diff([]string{"wipes the bar", "leans closer"}, r.Captions); d != "" || r.Text != "What will it be?" {
		t.Errorf("%q %s", r.Text, d)
	}
}

func TestACallThatNeverEndsEndsTheAnswer(t *testing.T) {
	f := New(bartok())
	f.Sentence("<tool_call>")
	for i := range 2 * maxSwallowed {
		r := f.Sentence("and so on and so forth.")
		if r.Text != "" {
			t.Fatalf("sentence %d was spoken", i)
		}
		if r.End {
			return
		}
	}
	t.Error("the answer never ended")
}

func FuzzSentence(f *testing.F) {
	f.Add("<|tool|>{\"a\":1}")
	f.Add("*x* (y) [z] **b** roll(1) 2d6 = 5")
	f.Add("```\n{{{{")
	f.Fuzz(func(t *testing.T, s string) {
		x := New(bartok())
		for _, part := range strings.SplitAfter(s, ".") {
			r := x.Sentence(part)
			for _, bad := range []string{"<|", "tool_call", "```", "https://", "\u202e"} {
				if strings.Contains(r.Text, bad) {
					t.Fatalf("%q was spoken as %q", s, r.Text)
				}
			}
		}
	})
}

func BenchmarkSentence(b *testing.B) {
	f := New(bartok())
	for b.Loop() {
		f.Sentence("Welcome to the Flagon, friend! Sit, sit, you look like soup.")
	}
}
