package memory

import "strings"

// Lines are English, German or Spanish, often mixed, and nobody says which. So
// each word is taken for itself: what is an English word is stemmed as one, and
// any other by the endings of the language that it looks like. Question and line
// are treated alike, so that a wrong guess costs nothing but a coarser stem.

// A language is what a text is written in, as far as its small words show.
type language uint8

const (
	english language = iota
	german
	spanish
	languages
)

// smallWords are those that carry no meaning to search for.
var smallWords = [languages]map[string]bool{
	english: stopWords,
	german: set(`aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da dabei damit dann
das dass dein deine deinem deinen deiner dem den denn der des dessen die dies diese diesem diesen dieser dieses dir doch dort du
durch ein eine einem einen einer eines er es etwa etwas euch euer eure fur gab gegen gibt hab habe haben hast hat hatte hatten
hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jetzt kann kannst kein keine konnen
konnte machen man mein meine meinem meinen meiner mich mir mit mal muss mussen nach nein nicht nichts noch nun nur ob oder ohne
sehr sein seine seinem seinen seiner seit sich sie sind so soll sollen sondern uber um und uns unser unsere unter viel vom von vor
wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieso will wir
wird wirst wo wohin woher wollen wollte worden wurde wurden zu zum zur zwischen bitte eigentlich`),
	spanish: set(`a al algo algun alguna algunas alguno algunos alli ante antes aqui asi aun bien cada como con contra cual cuales
cuando cuanto cuanta cuantos cuantas de del desde donde dos durante e el ella ellas ellos en entre era eran es esa esas ese eso
esos esta estaba estan estar estas este esto estos estoy fue fueron ha habia han has hasta hay he la las le les lo los mas me mi
mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otro para pero poco por porque que quien quienes se sea ser si sin
sobre son soy su sus tambien tan te tenia ti tiene tienen todo todos tu tus un una unas uno unos y ya yo`),
}

// languageOf is the language of most of a question's small words; English if
// they do not say.
func languageOf(words []string) language {
	var n [languages]int
	for _, w := range words {
		for l := range languages {
			if smallWords[l][w] {
				n[l]++
			}
		}
	}
	best := english
	for l := range languages {
		if n[l] > n[best] {
			best = l
		}
	}
	return best
}

// foreign stems a word that is not English. Endings are taken off in the manner
// of J. Savoy's light stemmers: those of number, case, gender and the commonest
// forms of verbs.
func foreign(w string) string {
	if base, ok := foreignIrregular[w]; ok {
		return base
	}
	if looksSpanish(w) {
		return stemSpanish(w)
	}
	return stemGerman(w)
}

// looksSpanish says whether a folded word ends as Spanish words do.
func looksSpanish(w string) bool {
	for _, tail := range [...]string{"o", "a", "os", "as", "cion", "ciones", "dad", "dades", "mente", "ando", "iendo", "ar", "ir", "aron", "ieron", "aste", "iste", "amos", "emos", "imos"} {
		if strings.HasSuffix(w, tail) {
			return true
		}
	}
	return false
}

// least is how many letters of a word an ending must leave.
const least = 3

func cutEnding(w string, endings ...string) (string, bool) {
	for _, e := range endings {
		if len(w) >= len(e)+least && strings.HasSuffix(w, e) {
			return w[:len(w)-len(e)], true
		}
	}
	return w, false
}

func stemGerman(w string) string {
	if rest, ok := strings.CutPrefix(w, "ge"); ok && len(rest) > 4 && strings.HasSuffix(rest, "t") {
		return rest[:len(rest)-1] // gekauft, kaufen
	}
	if n := len(w); n > 5 && w[n-1] == 's' && !strings.ContainsRune("aeious", rune(w[n-2])) {
		w = w[:n-1] // tieflings
	}
	if strings.HasSuffix(w, "eln") {
		w = w[:len(w)-1]
	}
	w, _ = cutEnding(w, "erinnen", "erin", "innen", "heiten", "keiten", "ungen", "heit", "keit", "ung", "lichen", "licher", "liches", "liche", "lich",
		"ischen", "ischer", "isches", "ische", "isch", "test", "tet", "ten", "tem", "ern", "er", "em", "en", "es", "te", "st", "e", "s", "t")
	w, _ = cutEnding(w, "er", "en", "et", "e")
	return w
}

func stemSpanish(w string) string {
	w, _ = cutEnding(w, "mente")
	if rest, ok := cutEnding(w, "amientos", "imientos", "amiento", "imiento", "aciones", "uciones", "idades", "acion", "ucion", "idad",
		"ieron", "iendo", "abamos", "aron", "ando", "aban", "ados", "adas", "idos", "idas", "aste", "iste", "amos", "emos", "imos", "aba",
		"ado", "ada", "ido", "ida", "ian", "ar", "er", "ir", "ia", "io", "es", "os", "as", "en", "an", "o", "a", "e"); ok {
		w = rest
	}
	return w
}

// foreignIrregular has forms that share too little with their base.
var foreignIrregular = func() map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(fold(`geh gehen geht gehst ging gingen gegangen
komm kommen kommt kommst kamen gekommen
seh sehen sieht siehst sah sahen gesehen
nehm nehmen nimmt nimmst nahm nahmen genommen
geb geben gibst gaben gegeben
find finden findet fanden gefunden
sprech sprechen spricht sprach sprachen gesprochen
ess essen isst aßen assen gegessen
trink trinken trinkt trank tranken getrunken
schlaf schlafen schlaft schlief schliefen geschlafen
schreib schreiben schreibt schrieb schrieben geschrieben
les lesen liest las lasen gelesen
sterb sterben stirbt starb starben gestorben
verlier verlieren verliert verlor verloren
steh stehen steht stand standen gestanden
stehl stehlen stiehlt stahl stahlen gestohlen
trag tragen tragt trug trugen getragen
fahr fahren fahrt fuhr fuhren gefahren
lauf laufen lauft lief liefen gelaufen
werf werfen wirft warf warfen geworfen
helf helfen hilft half halfen geholfen
treff treffen trifft traf trafen getroffen
brech brechen bricht brach brachen gebrochen
schwor schworen schwort geschworen
bleib bleiben bleibt blieb blieben geblieben
denk denken denkt dachte dachten gedacht
bring bringen bringt brachte brachten gebracht
kauf kaufen kauft kaufte kauften gekauft
versteck verstecken versteckt versteckte versteckten
vergrab vergraben vergrabt vergrub vergruben
ir voy vas vamos van iba iban fui fuiste fuimos ido
dec decir digo dice dicen dijo dijeron dicho decia
hac hacer hago hace hacen hizo hicieron hecho hacia
ten tener tengo tuvo tuvieron tenido tenian
pod poder puedo puede pueden pudo pudieron podia
pon poner pongo pone ponen puso pusieron puesto
ven venir vengo viene vienen vino vinieron venido
ver veo ve vio vieron visto veia
dar doy da dan dio dieron dado
quer querer quiero quiere quieren quiso quisieron queria
sab saber sabe saben supo supieron sabia
tra traer traigo trae trajo trajeron traido
mor morir muere mueren murio murieron muerto muerta
escrib escribir escribe escribio escrito escrita
romp romper rompe rompio roto rota
`)) {
		f := strings.Fields(line)
		for _, form := range f {
			m[form] = f[0]
		}
	}
	return m
}()
