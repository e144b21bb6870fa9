package memory

import "testing"

func TestFormsOfAWordHaveOneTermInEachLanguage(t *testing.T) {
	for _, forms := range [][]string{
		{"taverns", "tavern"}, {"hide", "hid", "hidden", "hiding"}, {"wolf", "wolves"}, {"tieflings", "tiefling"}, {"wyverns", "wyvern"},
		{"Turm", "Türme", "Turms", "Türmen"}, {"Fenster", "Fenstern"}, {"Schlüssel", "Schlüsseln", "Schlüssels"}, {"Schatzkarte", "Schatzkarten"},
		{"kaufen", "kaufte", "gekauft", "kauft"}, {"Drachen", "Drache"}, {"Räuber", "Räubern", "Räubers"}, {"sprechen", "sprach", "gesprochen"},
		{"Zeitung", "Zeitungen"}, {"fliehen", "flieht"}, {"Brücke", "Brücken"}, {"gestohlen", "stahl", "stehlen"},
		{"espada", "espadas"}, {"canción", "canciones"}, {"escondió", "escondido", "esconder"}, {"hijo", "hijos", "hija"}, {"dijo", "decir", "dicen"},
		{"ladrón", "ladrones"}, {"compraron", "comprar", "comprado"}, {"ciudad", "ciudades"}, {"rápidamente", "rápido"},
	} {
		want := Terms(forms[0])
		for _, f := range forms[1:] {
			if got := Terms(f); len(got) != 1 || got[0] != want[0] {
				t.Errorf("%s is %q, and %s is %q", forms[0], want, f, got)
			}
		}
	}
}

func TestQuestionsAreFreedOfTheSmallWordsOfTheirLanguage(t *testing.T) {
	for q, want := range map[string]int{
		"Where did the innkeeper hide the key?":    3,
		"Wo hat der Wirt den Schlüssel versteckt?": 3,
		"¿Dónde escondió el posadero la llave?":    3,
		"When did her grandmother die?":            2, // no German article
	} {
		if got := Ask(q).Terms; len(got) != want {
			t.Errorf("%s: terms %q, want %d", q, got, want)
		}
	}
}
