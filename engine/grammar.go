package engine

import "strings"

// grammar is what a language's closed word classes say about the end of a sentence.
type grammar struct {
	hesitates map[string]bool // "uh"
	needsMore map[string]bool // conjunctions, articles, possessives: they end nothing
	dangles   map[string]bool // prepositions, auxiliaries: they rarely do
	subjects  map[string]bool // pronouns behind which a question goes on
	counts    map[string]bool // numbers: a noun may follow
	asks      map[string]bool // first words of questions
	begins    map[string]bool // first words of clauses that need another
	items     map[string]bool // first words of a list's items
	joins     map[string]bool // "and", "or"
	whole     map[string]bool // short lines that are all there is
	polite    map[string]bool // last words of a request
	thanks    map[string]bool // first words of thanks
	agrees    map[string]bool // words of somebody who only listens
	stops     map[string]bool // phrases that mean: stop talking
}

// grammarOf is the grammar of a BCP 47 tag. Of a language that is not known nothing
// is believed, except that laughing is laughing everywhere.
func grammarOf(language string) *grammar {
	tag, _, _ := strings.Cut(strings.ToLower(language), "-")
	switch tag {
	case "", "en":
		return &english
	case "de":
		return &german
	case "es":
		return &spanish
	}
	return &foreign
}

// phrases makes a set of what stands between commas.
func phrases(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, list := range lists {
		for p := range strings.SplitSeq(list, ",") {
			set[strings.TrimSpace(p)] = true
		}
	}
	return set
}

const (
	noises   = "uh, um, uhm, er, erm, hm, hmm, mm, mmm, äh, ähm, öh, öhm, eh, em, este"
	laughter = "ha, haha, hahaha, heh, hehe, hehehe, hihi, lol, jaja, jajaja, jeje"
)

var foreign = grammar{hesitates: phrases(noises), agrees: phrases(laughter, noises)}

var english = grammar{
	hesitates: phrases(noises, "well, like"),
	needsMore: phrases("and, or, but, nor, because, although, though, unless, until, whether, if, than, as, while, whereas",
		"a, an, the, my, your, his, its, our, their, this here, every, these, i, we, they, very, really, quite, just, also, so"),
	dangles: phrases("of, to, in, on, at, by, for, from, with, without, about, into, onto, over, under, through, between, behind, against, towards, near",
		"is, are, was, were, am, be, been, has, have, had, do, does, did, will, would, can, could, shall, should, may, might, must",
		"that, which, who, whose, where, when, he, she, any, some, no, not, get, got, want, need, take, give, buy, sell, bring, find, know, think, say, said, told, looking"),
	subjects: phrases("you, he, she, it, we, they, i"),
	counts:   phrases("one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, twenty, thirty, fifty, hundred, thousand"),
	asks: phrases("what, who, where, when, why, how, which, whose, is, are, was, were, do, does, did, can, could, will, would, should, have, has, may",
		"what's, who's, where's, how's"),
	begins: phrases("if, when, because, although, while, after, before, unless, since, once"),
	items:  phrases("a, an, the, some, my, your, his, her, their"),
	joins:  phrases("and, or"),
	whole: phrases("yes, no, yeah, nope, yep, okay, ok, sure, fine, right, hello, hi, hey, good evening, good morning",
		"goodbye, bye, good night, never mind, agreed, deal, done, of course, not at all, i do, i am, i will, i can, we are, we will, we do, that's all, come on, so be it"),
	thanks: phrases("thanks, thank"),
	polite: phrases("please, right, then"),
	agrees: phrases(noises, laughter, "mhm, mm-hm, mm-hmm, mhmm, uh-huh, uhuh, huh, yeah, yep, yes, yup, ok, okay, right, sure, aha, ah, oh, ooh, wow, cool, nice, true, exactly, indeed, i see, got it, really, no way, good"),
	stops: phrases("stop, stop it, stop talking, stop there, wait, wait wait, wait a moment, wait a minute, hold on, hold it, hang on, hush, quiet, be quiet, silence, enough",
		"shut up, that's enough, no wait, let me finish, one moment, just a moment, not so fast"),
}

var german = grammar{
	hesitates: phrases(noises, "also, naja, halt so"),
	needsMore: phrases("und, oder, aber, denn, weil, obwohl, dass, ob, wenn, als, wie, falls, bevor, nachdem, damit, sowie, sondern, entweder, weder",
		"der, die, das, den, dem, des, ein, eine, einen, einem, einer, eines, mein, meine, meinen, meinem, dein, deine, deinen, euer, eure, euren, ihr, ihre, ihren, sein, seine, seinen, unser, unsere, unseren",
		"ich, wir, sehr, ganz, auch, noch ein, so ein, kein, keine, keinen, zum, zur, im, am, vom, beim, ins"),
	dangles: phrases("von, zu, in, auf, bei, für, mit, ohne, über, unter, durch, zwischen, hinter, gegen, nach, aus, um, an, vor, seit",
		"ist, sind, war, waren, bin, hat, habe, haben, hatte, wird, werden, würde, kann, können, könnte, soll, sollen, muss, müssen, darf, will, wollen, möchte, möchten",
		"er, sie, es, man, etwas, suche, suchen, sucht, kaufen, sagt, sagte, gesagt, weiß, welche, welcher, wo, wann"),
	subjects: phrases("du, er, sie, es, wir, ihr, ich, man"),
	counts:   phrases("eins, zwei, drei, vier, fünf, sechs, sieben, acht, neun, zehn, elf, zwölf, zwanzig, dreißig, fünfzig, hundert, tausend"),
	asks: phrases("was, wer, wo, wann, warum, wie, welche, welcher, welches, wessen, wem, wen, wieso, weshalb, wohin, woher, ist, sind, hast, habt, kannst, könnt, könntest, willst, wollt, darf, dürfen",
		"weißt, wisst, kennst, kennt, gibt"),
	begins: phrases("wenn, weil, obwohl, als, nachdem, bevor, falls, sobald, während"),
	items:  phrases("ein, eine, einen, der, die, das, den, mein, meine, etwas"),
	joins:  phrases("und, oder"),
	whole: phrases("ja, nein, klar, gut, genau, okay, ok, hallo, guten abend, guten tag, guten morgen, gute nacht, tschüss, auf wiedersehen, schon gut",
		"einverstanden, abgemacht, natürlich, gern, gerne, bitte, stimmt, das ist alles, ich auch"),
	thanks: phrases("danke, vielen, dank"),
	polite: phrases("bitte, oder, ja"),
	agrees: phrases(noises, laughter, "mhm, ja, jaja, jo, jep, ok, okay, genau, klar, aha, ach so, achso, ach, oh, stimmt, gut, cool, krass, echt, wirklich, richtig, verstehe, ah, tja"),
	stops: phrases("stopp, stop, halt, warte, wartet, warte mal, warte kurz, moment, moment mal, einen moment, ruhe, sei still, seid still, still, schweig, genug, das reicht",
		"halt den mund, hör auf, hört auf, lass mich ausreden, nicht so schnell"),
}

var spanish = grammar{
	hesitates: phrases(noises, "pues, bueno, o sea"),
	needsMore: phrases("y, e, o, u, pero, ni, sino, porque, aunque, que, si, cuando, como, mientras, donde, para que, además",
		"el, la, los, las, un, una, unos, unas, mi, mis, tu, tus, su, sus, nuestro, nuestra, nuestros, nuestras, vuestro, vuestra, cada, este, esta, ese, esa",
		"yo, nosotros, muy, tan, más, también, del, al"),
	dangles: phrases("de, a, en, con, sin, por, para, sobre, entre, hacia, hasta, desde, contra, tras, bajo",
		"es, son, era, eran, está, están, estaba, soy, he, ha, han, había, va, voy, vamos, puede, puedo, podemos, quiero, queremos, quiere, tengo, tiene, tenemos, hay, comprar, compro, busco, buscar, buscamos, buscando, dijo, dice, sabe",
		"él, ella, no, se, me, te, nos, lo, le, algún, alguna, quien, cual"),
	subjects: phrases("tú, usted, él, ella, ellos, vosotros, ustedes"),
	counts:   phrases("uno, dos, tres, cuatro, cinco, seis, siete, ocho, nueve, diez, once, doce, veinte, treinta, cincuenta, cien, mil"),
	asks:     phrases("qué, quién, dónde, cuándo, cómo, cuánto, cuánta, cuántos, cuántas, cuál, hay, puedes, puede, tienes, tenéis, tiene, sabes, conoces, es, está"),
	begins:   phrases("si, cuando, porque, aunque, mientras, como"),
	items:    phrases("un, una, el, la, los, las, unos, unas, mi, mis"),
	joins:    phrases("y, e, o, u"),
	whole: phrases("sí, no, vale, claro, bien, hola, buenas noches, buenos días, buenas tardes, adiós, hasta luego, de acuerdo, trato hecho",
		"por supuesto, nada más, eso es todo"),
	thanks: phrases("gracias, muchas"),
	polite: phrases("favor, verdad, no"),
	agrees: phrases(noises, laughter, "ajá, sí, ya, vale, ok, okay, claro, bien, oh, ah, vaya, exacto, cierto, entiendo, ya veo, genial, en serio, bueno"),
	stops: phrases("para, parad, alto, espera, esperad, espere, un momento, un segundo, silencio, calla, callad, cállate, callaos, basta, ya basta, suficiente",
		"no tan rápido, déjame terminar"),
}
