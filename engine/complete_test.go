package engine

import "testing"

func TestTextsThatWantMoreAreNotTakenForWhole(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           sense
	}{
		{"en", "What do you know about the old mill?", finished},
		{"en", "What do you know about the", open},
		{"en", "What do you know about the.", open}, // the recogniser's habit
		{"en", "what is your name", finished},
		{"en", "what are you thinking of?", finished},
		{"en", "We went to the tower, but", open},
		{"en", "I would like, um", open},
		{"en", "I'd like a rope, two torches", open},
		{"en", "I'd like a rope, two torches and a crowbar.", finished},
		{"en", "If we go through the swamp", open},
		{"en", "If we go, we die.", stated},
		{"en", "I give him five", open},
		{"en", "Roll for me, please", finished},
		{"en", "He said “leave", open},
		{"en", "Tell me about the dragon.", stated},
		{"en", "Thank you.", stated},
		{"en", "Yes.", finished},
		{"en", "Bartok.", unclear},
		{"en", "tell me about the dragon", unclear},
		{"en", "", unclear},
		{"en-GB", "and", open},
		{"de", "Weißt du, wo der Turm steht?", finished},
		{"de", "Ich möchte ein", open},
		{"de", "Wir kommen aus dem Norden und", open},
		{"de", "Wenn wir durch den Sumpf gehen", open},
		{"de", "Ja.", finished},
		{"es", "¿Dónde está la torre?", finished},
		{"es", "Busco una", open},
		{"es", "Si vamos por el pantano", open},
		{"es", "Sí.", finished},
		{"fi", "Missä torni on?", finished},
		{"fi", "Torni ja", unclear},
	} {
		if got := soundsLike(c.text, c.language); got != c.want {
			t.Errorf("%s %q: got %d, want %d", c.language, c.text, got, c.want)
		}
	}
}

func FuzzSoundsLike(f *testing.F) {
	f.Add("I'd like a rope, two torches", "en")
	f.Add("„Geh", "de")
	f.Fuzz(func(t *testing.T, text, language string) {
		if s := soundsLike(text, language); s >= senses {
			t.Errorf("%q is %d", text, s)
		}
		OnlyListens(text, language)
		saysStop(text, language, []string{"bartok"})
	})
}

func TestBackchannelsAreToldFromWords(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "Mm-hm.": true, "yeah": true, "Yeah, okay.": true, "hahahaha": true, "I see": true, "oh wow": true, "Haha, nice.": true,
		"yeah but wait": false, "Who is that?": false, "no": false, "okay, we leave now": false, "right behind you": false,
	} {
		if got := OnlyListens(text, "en"); got != want {
			t.Errorf("%q: only listens is %v, want %v", text, got, want)
		}
	}
	for text, want := range map[string]bool{"Ja, genau.": true, "Ach so": true, "Nein, warte": false} {
		if got := OnlyListens(text, "de"); got != want {
			t.Errorf("%q: only listens is %v, want %v", text, got, want)
		}
	}
}

func TestStopWordsAreOrdersNotPartsOfSentences(t *testing.T) {
	for _, c := range []struct {
		language, text string
		want           bool
	}{
		{"en", "Stop!", true},
		{"en", "Wait, who is that?", true},
		{"en", "Bartok, hold on.", true},
		{"en", "Hold on Bartok", true},
		{"en", "Wait for us at the gate.", false},
		{"en", "don't stop", false},
		{"en", "We can't wait.", false},
		{"de", "Moment mal, Bartok!", true},
		{"de", "Warte am Tor auf uns.", false},
		{"es", "¡Espera! ¿Quién es?", true},
		{"es", "Para nosotros, vino.", false},
	} {
		if got := saysStop(c.text, c.language, []string{"bartok"}); got != c.want {
			t.Errorf("%q: stop is %v, want %v", c.text, got, c.want)
		}
	}
}
