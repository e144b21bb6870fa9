package npc

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
)

const (
	// moodLasts is how long an NPC stays in a mood that an event put it into.
	moodLasts = 5 * time.Minute
	// maxBonds is how many people an NPC has an opinion of; then it forgets the
	// one it cares about least.
	maxBonds = 64
	// bondLimit bounds an opinion in both directions, so that no amount of
	// flattery or abuse is beyond repair.
	bondLimit = 100
)

// A Tone is how a line treats the NPC that it is said to.
type Tone uint8

// The tones that move an NPC.
const (
	Neutral Tone = iota
	Thanking
	Praising
	Apologizing
	Insulting
	Threatening
)

// weights is what each tone does to the opinion of the speaker.
var weights = [...]int{Neutral: 0, Thanking: 4, Praising: 6, Apologizing: 8, Insulting: -12, Threatening: -20}

// tones are phrases by tone, the stronger tones first. They are matched as whole
// words.
var tones = []struct {
	tone    Tone
	phrases []string
}{
	{Threatening, []string{"i'll kill you", "i will kill you", "or else", "or die", "you'll regret", "you will regret", "i'll hurt you", "i'll burn", "break your", "cut your throat", "slit your", "draw my sword on you", "last chance", "give me your money", "i'll gut you", "you're dead", "watch your back", "ich bring dich um", "ich töte dich", "sonst setzt es was", "te mataré", "te voy a matar", "te arrepentirás"}},
	{Insulting, []string{"idiot", "fool", "liar", "coward", "stupid", "ugly", "pathetic", "worthless", "shut up", "you smell", "you stink", "scum", "swine", "bastard", "moron", "useless", "fat", "disgusting", "i hate you", "go to hell", "dummkopf", "lügner", "feigling", "halt die klappe", "halt den mund", "idiota", "mentiroso", "cobarde", "estúpido", "cállate", "te odio"}},
	{Apologizing, []string{"i'm sorry", "i am sorry", "forgive me", "my apologies", "i apologize", "i apologise", "we're sorry", "entschuldigung", "verzeih", "tut mir leid", "lo siento", "perdóname", "perdona"}},
	{Praising, []string{"you're the best", "you are the best", "you're kind", "very kind", "well done", "wonderful", "delicious", "amazing", "brilliant", "i like you", "we like you", "you're great", "beautiful", "lovely", "best stew", "impressive", "wunderbar", "großartig", "köstlich", "maravilloso", "delicioso", "eres el mejor", "eres la mejor"}},
	{Thanking, []string{"thank you", "thanks", "grateful", "much obliged", "cheers", "keep the change", "danke", "gracias"}},
}

// ToneOf says how a line treats the one it is said to.
func ToneOf(text string) Tone {
	line := " " + strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r == ' ' || r == ',' || r == '.' || r == '!' || r == '?' || r == ';' || r == ':' || r == '"' || r == '¡' || r == '¿'
	}), " ") + " "
	for _, t := range tones {
		for _, p := range t.phrases {
			i := strings.Index(line, " "+p+" ")
			if i >= 0 && !strings.HasSuffix(line[:i], " not") && !strings.HasSuffix(line[:i], " never") && !strings.HasSuffix(line[:i], " no") {
				return t.tone
			}
		}
	}
	return Neutral
}

// Feelings are an NPC's mood and what it thinks of each person. They move with
// what is said to it, within the moods that its campaign allows.
type Feelings struct {
	moods []string // allowed, the usual one first
	mood  string
	since time.Time
	bonds map[string]int
}

// NewFeelings are those of an NPC in its usual mood that knows nobody. Without
// any moods it keeps none.
func NewFeelings(moods []string) *Feelings {
	f := &Feelings{bonds: map[string]int{}}
	f.Allow(moods)
	return f
}

// Allow sets the moods that the NPC may be in, as after its campaign was edited.
// A mood that is no longer among them gives way to the usual one.
func (f *Feelings) Allow(moods []string) {
	f.moods = slices.Clone(moods)
	if !slices.Contains(moods, f.mood) {
		f.mood = ""
		if len(moods) > 0 {
			f.mood = moods[0]
		}
	}
}

// Mood is the mood at a time: what an event caused passes after five minutes.
func (f *Feelings) Mood(now time.Time) string {
	if len(f.moods) > 0 && f.mood != f.moods[0] && now.Sub(f.since) > moodLasts {
		f.mood = f.moods[0]
	}
	return f.mood
}

// Hear moves the feelings by a line that somebody said to the NPC.
func (f *Feelings) Hear(who, text string, now time.Time) {
	tone := ToneOf(text)
	if tone == Neutral {
		return
	}
	if _, known := f.bonds[who]; !known && len(f.bonds) == maxBonds {
		f.forget()
	}
	f.bonds[who] = min(max(f.bonds[who]+weights[tone], -bondLimit), bondLimit)
	if m := f.moodFor(tone); m != "" {
		f.mood, f.since = m, now
	}
}

// Set puts the NPC into a mood, if its campaign allows that one.
func (f *Feelings) Set(mood string, now time.Time) bool {
	i := slices.IndexFunc(f.moods, func(m string) bool { return strings.EqualFold(m, mood) })
	if i < 0 {
		return false
	}
	f.mood, f.since = f.moods[i], now
	return true
}

// SetBond says what the NPC thinks of somebody: -100 to 100, and what is beyond
// is cut.
func (f *Feelings) SetBond(who string, value int) {
	if _, known := f.bonds[who]; !known && len(f.bonds) == maxBonds {
		f.forget()
	}
	f.bonds[who] = min(max(value, -bondLimit), bondLimit)
}

// Bonds yields whom the NPC has an opinion of, and which, in the order of their
// ids.
func (f *Feelings) Bonds() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, who := range slices.Sorted(maps.Keys(f.bonds)) {
			if !yield(who, f.bonds[who]) {
				return
			}
		}
	}
}

// forget drops the opinion that matters least.
func (f *Feelings) forget() {
	least, size := "", bondLimit+1
	for who, b := range f.bonds {
		if a := max(b, -b); a < size || a == size && who < least {
			least, size = who, a
		}
	}
	delete(f.bonds, least)
}

// kinds of moods, by what campaigns call them.
var moodKinds = map[Tone][]string{
	Thanking:    {"happy", "jovial", "cheerful", "friendly", "warm", "pleased", "amused", "content", "joyful", "delighted", "proud", "fröhlich", "heiter", "zufrieden", "alegre", "contento"},
	Praising:    {"flattered", "proud", "delighted", "happy", "jovial", "cheerful", "pleased", "amused", "warm", "stolz", "geschmeichelt", "orgulloso"},
	Apologizing: {"calm", "friendly", "warm", "content", "jovial", "relieved", "ruhig", "tranquilo"},
	Insulting:   {"angry", "furious", "irritated", "annoyed", "grumpy", "offended", "cold", "stern", "hostile", "indignant", "sad", "hurt", "flustered", "wütend", "verärgert", "beleidigt", "enfadado", "ofendido"},
	Threatening: {"afraid", "frightened", "scared", "nervous", "worried", "anxious", "wary", "tense", "flustered", "angry", "hostile", "furious", "cold", "ängstlich", "besorgt", "asustado", "nervioso", "preocupado"},
}

// moodFor is the allowed mood that fits a tone best, or "".
func (f *Feelings) moodFor(t Tone) string {
	for _, want := range moodKinds[t] {
		for _, m := range f.moods {
			if strings.EqualFold(m, want) {
				return m
			}
		}
	}
	return ""
}

// Toward says in words, for a brief, how the NPC feels and what it thinks of
// somebody; "" is nothing worth saying.
func (f *Feelings) Toward(who, name string, now time.Time) string {
	var parts []string
	if m := f.Mood(now); m != "" {
		parts = append(parts, "Your mood: "+m+".")
	}
	if b := bondOf(f.bonds[who]); b.toward != "" {
		parts = append(parts, strings.Replace(b.toward, "NAME", name, 1))
	}
	return strings.Join(parts, " ")
}

// opinions are how much somebody has to be liked or disliked for what is thought
// and said of them, the strongest first.
var opinions = []struct {
	least         int
	words, toward string
}{
	{-60, "cannot stand", "You cannot stand NAME."}, {-20, "does not trust", "You do not trust NAME."}, {-8, "is cool toward", "You are a little cool toward NAME."},
	{60, "loves", "NAME is a dear friend."}, {20, "likes", "You like NAME."}, {8, "thinks well of", "NAME has been kind to you."},
}

func bondOf(b int) (o struct {
	least         int
	words, toward string
}) {
	o.words = "has no opinion of"
	for _, p := range opinions {
		if p.least < 0 && b <= p.least || p.least > 0 && b >= p.least {
			return p
		}
	}
	return o
}

// BondWords says an opinion in words for the game master: "likes", "does not
// trust".
func BondWords(b int) string { return bondOf(b).words }
