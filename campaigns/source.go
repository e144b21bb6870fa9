package campaigns

import (
	"errors"
	"strings"
)

// The types of this file are the YAML as it is written. The `doc` tags are
// shown by editors that know the schema.

type campaignFile struct {
	ID       string              `yaml:"id" strict:"required" doc:"Names the campaign in commands and in memory. Lower case letters, digits and dashes. Do not change it once you have played."`
	Name     string              `yaml:"name" strict:"required,max=100" doc:"The campaign's title."`
	System   string              `yaml:"system" strict:"max=40" doc:"The rules in use, such as dnd5e. Default: dnd5e."`
	Edition  int                 `yaml:"edition" strict:"oneof=2014|2024" doc:"The edition of the fifth edition's rules. Several common rulings differ between the two."`
	Language string              `yaml:"language" doc:"The language spoken at the table, as a tag such as en, en-GB or de. Default: en."`
	Intro    string              `yaml:"intro" strict:"max=4000" doc:"Read to the players when the campaign starts."`
	KnownBy  audience            `yaml:"known_by" doc:"Who knows the entities that do not say it themselves: everyone, dm, or ids. Default: dm, the game master alone."`
	Scenes   []sceneFile         `yaml:"scenes" strict:"max=200" doc:"Places and who is there. The first is where the campaign starts."`
	Safety   safetyFile          `yaml:"safety" doc:"What the table agreed on before playing."`
	Glossary []termFile          `yaml:"glossary" strict:"max=1000" doc:"Names that recognition should know, apart from those of NPCs and entities."`
	Phrases  map[string][]string `yaml:"phrases" strict:"max=80" doc:"What is said at this table beyond what its language's tables know, by section: party is talk among the players, food, app and meta are out of the game, deal is for NPCs, xcard stops the scene, cmdquiet and others are orders."`
	Tables   []tableFile         `yaml:"tables" strict:"max=200" doc:"Tables that the tool roll_table rolls on."`
	NPCs     []npcFile           `yaml:"npcs" strict:"max=200" doc:"NPCs, if you do not give each a file of its own in npcs/."`
	Entities []entityFile        `yaml:"entities" strict:"max=5000" doc:"Entities, if you do not keep them in files in entities/."`
}

type entitiesFile struct {
	Entities []entityFile `yaml:"entities" strict:"required,max=5000" doc:"People, places, things, factions, events, quests and ideas."`
}

type sceneFile struct {
	ID       string   `yaml:"id" strict:"required" doc:"Lower case letters, digits and dashes."`
	Name     string   `yaml:"name" strict:"required,max=100"`
	Text     string   `yaml:"text" strict:"max=4000" doc:"What the players see and hear on arriving."`
	Mood     string   `yaml:"mood" strict:"max=100" doc:"The mood of the place, which its NPCs share."`
	Location string   `yaml:"location" doc:"The id of the location where it takes place."`
	Present  []string `yaml:"present" strict:"max=50" doc:"The ids of the NPCs who are there. Nobody else hears, remembers or answers."`
	Music    string   `yaml:"music" strict:"max=500" doc:"A file in this folder (Ogg Opus, FLAC, MP3 or WAV) that is played in the background, or a piece that is part of the program: hearth or shadows."`
}

type safetyFile struct {
	Rating string   `yaml:"rating" strict:"oneof=everyone|teen|mature" doc:"How grave things may get. Default: teen."`
	Lines  []string `yaml:"lines" strict:"max=100" doc:"What never happens in this game."`
	Veils  []string `yaml:"veils" strict:"max=100" doc:"What may happen but is not described."`
}

type termFile struct {
	Name    string   `yaml:"name" strict:"required,max=80"`
	HeardAs []string `yaml:"heard_as" strict:"max=20" doc:"What recognition tends to make of the name. It is always replaced by the name, so it must not be something that people say."`
}

// UnmarshalText reads a term that is only a name.
func (t *termFile) UnmarshalText(b []byte) error {
	*t = termFile{Name: string(b)}
	return notBlank(b)
}

type tableFile struct {
	ID   string    `yaml:"id" strict:"required" doc:"Lower case letters, digits and dashes."`
	Name string    `yaml:"name" strict:"max=100" doc:"Default: the id."`
	Rows []rowFile `yaml:"rows" strict:"required,min=1,max=1000" doc:"The outcomes: a text alone, or text with weight and table."`
}

type rowFile struct {
	Text   string `yaml:"text" strict:"max=1000"`
	Weight int    `yaml:"weight" strict:"min=1,max=10000" doc:"How likely the row is, compared with the others. Default: 1."`
	Table  string `yaml:"table" doc:"The id of another table to roll on as well."`
}

// UnmarshalText reads a row that is only a text.
func (r *rowFile) UnmarshalText(b []byte) error {
	*r = rowFile{Text: string(b)}
	return notBlank(b)
}

type npcFile struct {
	ID            string              `yaml:"id" doc:"Lower case letters, digits and dashes. Default in npcs/: the name of the file."`
	Name          string              `yaml:"name" strict:"required,max=80" doc:"The name as it is shown, such as Greymantle the Sage."`
	Aliases       []string            `yaml:"aliases" strict:"max=20" doc:"Other names one may call this NPC by. No other NPC may have them."`
	Titles        []string            `yaml:"titles" strict:"max=20" doc:"Forms of address that are only unique where the NPC is, such as barkeep."`
	Species       string              `yaml:"species" strict:"max=60"`
	Role          string              `yaml:"role" strict:"max=100"`
	Pronouns      string              `yaml:"pronouns" strict:"max=40"`
	Language      string              `yaml:"language" doc:"The language this NPC speaks, if not the campaign's."`
	Personality   string              `yaml:"personality" strict:"required,max=4000" doc:"Who this NPC is, in prose."`
	Manner        string              `yaml:"manner" strict:"max=2000" doc:"How this NPC talks."`
	Background    string              `yaml:"background" strict:"max=8000" doc:"What this NPC has lived through, and may tell."`
	Goals         []string            `yaml:"goals" strict:"max=20"`
	Secrets       []string            `yaml:"secrets" strict:"max=20" doc:"Never told, whatever is asked."`
	Knowledge     []knowledgeFile     `yaml:"knowledge" strict:"max=200" doc:"What this NPC knows and may tell."`
	Lines         map[string][]string `yaml:"lines" doc:"The NPC's own words by occasion: greeting, farewell, thanks, unknown, roll, rule and so on."`
	Voice         voiceFile           `yaml:"voice"`
	Engine        string              `yaml:"engine" strict:"oneof=cascaded|s2s|sentence_cascade" doc:"How this NPC thinks and speaks. Default: cascaded."`
	BudgetTier    string              `yaml:"budget_tier" strict:"oneof=fast|standard|deep" doc:"The longest that an answer may wait for tools: fast 0.5 s, standard 1.5 s, deep 4 s. Default: fast."`
	Tools         []string            `yaml:"tools" strict:"max=64" doc:"The tools this NPC may use. Tools of external servers are written server__tool. None if absent."`
	Helper        bool                `yaml:"helper" doc:"This NPC answers the players' questions, out of the story. Only helpers may search the web and read pages. Default: false."`
	ToolChoice    string              `yaml:"tool_choice" strict:"oneof=native|routed|auto" doc:"Who chooses tools. Default: auto."`
	Talkativeness float64             `yaml:"talkativeness" strict:"min=0,max=1" doc:"From 0 (only answers) to 1."`
	Portrait      string              `yaml:"portrait" strict:"max=200" doc:"A picture in this folder."`
	Moods         []string            `yaml:"moods" strict:"max=20" doc:"The moods this NPC may be in, the usual one first."`
	// The rest is the NPC as others know it.
	Text       string            `yaml:"text" strict:"max=1000" doc:"What is commonly said about this NPC."`
	KnownBy    audience          `yaml:"known_by" doc:"Who knows this NPC: everyone, dm, or ids."`
	Facts      []factFile        `yaml:"facts" strict:"max=200" doc:"What only some know about this NPC."`
	Relations  []relationFile    `yaml:"relations" strict:"max=200"`
	Attributes map[string]string `yaml:"attributes" doc:"Short facts, such as age: 90."`
}

type knowledgeFile struct {
	About   []string `yaml:"about" strict:"required,min=1,max=30" doc:"Words that bring it up: the old mill, pot, supper."`
	Text    string   `yaml:"text" strict:"required,max=2000" doc:"What the NPC says about it, in its own words."`
	KnownBy audience `yaml:"known_by" doc:"Who may hear it from this NPC. Default: anybody."`
}

type voiceFile struct {
	Engine   string  `yaml:"engine" strict:"max=40" doc:"The synthesiser: espeak, flite, openai, ..."`
	ID       string  `yaml:"id" strict:"max=100" doc:"The synthesiser's own name of the voice."`
	Language string  `yaml:"language" doc:"The accent, such as en-GB-scotland."`
	Pitch    float64 `yaml:"pitch" strict:"min=0.3,max=3" doc:"Factor; 1 is the voice's own pitch."`
	Rate     float64 `yaml:"rate" strict:"min=0.3,max=3" doc:"Factor; 1 is the voice's own speed."`
	Gain     float64 `yaml:"gain" strict:"min=-24,max=12" doc:"Decibels louder or softer."`
}

type entityFile struct {
	ID         string            `yaml:"id" strict:"required" doc:"Lower case letters, digits and dashes."`
	Kind       string            `yaml:"kind" strict:"required,oneof=npc|player|location|item|faction|event|quest|concept"`
	Name       string            `yaml:"name" strict:"required,max=100"`
	Aliases    []string          `yaml:"aliases" strict:"max=20" doc:"Other names that people say."`
	Text       string            `yaml:"text" strict:"max=1000" doc:"What is commonly said of it, in one or two sentences."`
	KnownBy    audience          `yaml:"known_by" doc:"Who knows that it exists and what the text says: everyone, dm, or ids. Default: the campaign's known_by."`
	Attributes map[string]string `yaml:"attributes" doc:"Short facts, such as price: 5 cp."`
	Facts      []factFile        `yaml:"facts" strict:"max=200" doc:"What only some know about it."`
	Relations  []relationFile    `yaml:"relations" strict:"max=200"`
}

type factFile struct {
	ID      string   `yaml:"id" doc:"Only needed to keep a fact's history when its text changes."`
	Text    string   `yaml:"text" strict:"required,max=1000"`
	KnownBy audience `yaml:"known_by" doc:"Who knows it: everyone, dm, or ids. Default: dm, the game master alone."`
	False   bool     `yaml:"false" doc:"Marks a lie or an error that its audience believes."`
}

// UnmarshalText reads a fact that is only a text: the game master's own.
func (f *factFile) UnmarshalText(b []byte) error {
	*f = factFile{Text: string(b)}
	return notBlank(b)
}

type relationFile struct {
	Kind    string   `yaml:"kind" strict:"required,max=60" doc:"A verb phrase: works for, brother of, is in."`
	To      string   `yaml:"to" strict:"required" doc:"The other entity's id."`
	Text    string   `yaml:"text" strict:"max=500"`
	KnownBy audience `yaml:"known_by" doc:"Default: whoever knows the entity."`
}

// An audience is "everyone", "dm", one id, or a list of ids.
type audience []string

// UnmarshalText reads an audience of one word.
func (a *audience) UnmarshalText(b []byte) error {
	*a = audience{string(b)}
	return notBlank(b)
}

func notBlank(b []byte) error {
	if strings.TrimSpace(string(b)) == "" {
		return errors.New("a text is empty here")
	}
	return nil
}

// occasions are the keys of an NPC's lines, and when each is said.
var occasions = map[string]string{
	"greeting":       "Said to hello.",
	"greeting_again": "Said to hello when there has been one before.",
	"farewell":       "Said to goodbye.",
	"thanks":         "Said to thank you.",
	"wellbeing":      "Said to how are you.",
	"self":           "Said to who are you.",
	"unknown":        "Said when the NPC does not know.",
	"unknown_person": "Said about a person the NPC does not know; {name} is who was asked about.",
	"unknown_place":  "Said about a place the NPC does not know; {name} is what was asked about.",
	"player":         "Said when asked who the player is; {player} is the name.",
	"introduced":     "Said when a player tells a name; {player} is it.",
	"listening":      "Said when asked for a word.",
	"help":           "Said when asked what there is to ask; {topics} are some.",
	"advice":         "Said when asked what to do.",
	"request":        "Said when asked to do something that the NPC cannot.",
	"doubted":        "Said when not believed.",
	"order":          "Said when asked to bring or sell something.",
	"telling":        "Said before a fact from the world; may be empty.",
	"no_dice":        "Said when asked to roll and there are no dice.",
	"coin":           "Said with a tossed coin; {result} is heads or tails.",
	"roll":           "Said with a roll of dice; {total} is the result.",
	"table":          "Said with what a rolled table gave; {result} is the outcome.",
	"rule":           "Said before a rule.",
	"rule_unknown":   "Said when no rule was found.",
	"memory":         "Said before what was said earlier.",
	"memory_unknown": "Said when nothing is remembered.",
	"insulted":       "Said to an insult.",
	"praised":        "Said to praise.",
	"agree":          "Said to a yes or a statement one can agree to.",
	"disagree":       "Said to a no.",
	"software":       "Said when sincerely asked whether a person is playing; must admit that it is software.",
	"secret":         "Said when asked for secrets, or told to forget one's orders.",
	"again":          "Said when asked the same thing again.",
	"more":           "Said when asked for more and there is no more.",
	"filler":         "Said while thinking.",
	"failed":         "Said when a tool did not work.",
	"smalltalk":      "Said when nothing else fits.",
	"joke":           "Said when asked for a joke or a story.",
	"prices":         "Said when asked what is for sale and nothing better is known.",
	"threatened":     "Said to a threat.",
	"apology":        "Said to an apology.",
	"flirt":          "Said to a compliment that wants more.",
	"interrupted":    "Said when cut off.",
	"enter":          "Said on entering a scene.",
	"leave":          "Said on leaving a scene.",
}
