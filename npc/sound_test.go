package npc

import "testing"

func alikeness(a, b string) float32 {
	var x, y sounding
	x.sound([]byte(a))
	y.sound([]byte(b))
	return x.alike(&y, 0.5)
}

func TestMisheardNamesSoundLikeTheName(t *testing.T) {
	for _, p := range [][2]string{
		{"greymantle", "graymental"}, {"greymantle", "graymantle"}, {"greymantle", "greatmantle"}, {"greymantle", "graymantel"}, {"bartok", "bartalk"}, {"bartok", "bartock"},
		{"bartok", "bartek"}, {"bartok", "bardock"}, {"thornwick", "thornwig"}, {"gundren", "gunderin"}, {"sildar", "sealdoor"}, {"zephyra", "sephira"},
		{"kaelen", "kaylin"}, {"mirelle", "mirel"}, {"morwen", "morewhen"}, {"isolde", "isold"}, {"ysolde", "isolda"}, {"brannick", "brannock"}, {"drogath", "drugus"},
		{"xanthe", "zanthy"}, {"grimbold", "grimbald"}, {"eamon", "amen"}, {"quill", "kwil"}, {"elara", "alara"}, {"elara", "elora"}, {"velline", "valine"}, {"brunna", "bruna"},
		{"thaldrin", "falldrin"}, {"aldric", "aldrick"}, {"seraphina", "serafina"}, {"nyx", "nicks"}, {"vex", "vecks"}, {"ulric", "olrick"}, {"hrothgar", "rothgar"}, {"durnan", "durnin"}, {"volo", "vollo"},
	} {
		if got := alikeness(p[0], p[1]); got < 0.75 {
			t.Errorf("%s and %s: %.2f alike, want at least 0.75", p[0], p[1], got)
		}
	}
}

func TestOtherWordsDoNotSoundLikeTheName(t *testing.T) {
	for _, p := range [][2]string{
		{"bartok", "better"}, {"bartok", "okay"}, {"bartok", "what"}, {"greymantle", "great"}, {"greymantle", "german"}, {"elara", "everyone"}, {"gundren", "garden"},
		{"morwen", "morning"}, {"thornwick", "tomorrow"}, {"velline", "listen"}, {"pip", "hey"}, {"brunna", "maybe"}, {"mira", "bartok"}, {"greta", "right"},
	} {
		if got := alikeness(p[0], p[1]); got >= 0.75 {
			t.Errorf("%s and %s: %.2f alike, want less than 0.75", p[0], p[1], got)
		}
	}
}
