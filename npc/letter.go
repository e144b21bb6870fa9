package npc

import "unicode/utf8"

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= utf8.RuneSelf }
func digit(c byte) bool  { return '0' <= c && c <= '9' }

// stopOf is the pause that a character stands for.
func stopOf(c byte) byte {
	switch c {
	case '.', ';', '\n':
		return '.'
	case '?', '!':
		return c
	case ',', ':', '"', '(', ')', '[', ']', '*':
		return ','
	}
	return 0
}

func stopOfRune(r rune) byte {
	switch r {
	case '？':
		return '?'
	case '！':
		return '!'
	case '。':
		return '.'
	case '·':
		return 0
	}
	return ','
}

// rank orders pauses: of two in a row the stronger counts.
func rank(stop byte) int {
	switch stop {
	case ',':
		return 1
	case '.':
		return 2
	case '!':
		return 3
	case '?':
		return 4
	}
	return 0
}

// fold writes a Latin letter without its accent and in lower case. Names are
// said, not spelled, so "Zoë" and "Zoe" are one. It is "" for other letters.
func fold(r rune) string {
	switch r {
	case 'à', 'á', 'â', 'ã', 'ä', 'å', 'À', 'Á', 'Â', 'Ã', 'Ä', 'Å', 'ā', 'ă', 'ą', 'Ā':
		return "a"
	case 'æ', 'Æ':
		return "ae"
	case 'ç', 'Ç', 'ć', 'č', 'Č':
		return "c"
	case 'è', 'é', 'ê', 'ë', 'È', 'É', 'Ê', 'Ë', 'ē', 'ę', 'ě':
		return "e"
	case 'ì', 'í', 'î', 'ï', 'Ì', 'Í', 'Î', 'Ï', 'ī':
		return "i"
	case 'ñ', 'Ñ', 'ń', 'ň':
		return "n"
	case 'ò', 'ó', 'ô', 'õ', 'ö', 'ø', 'Ò', 'Ó', 'Ô', 'Õ', 'Ö', 'Ø', 'ō', 'ő':
		return "o"
	case 'œ', 'Œ':
		return "oe"
	case 'ù', 'ú', 'û', 'ü', 'Ù', 'Ú', 'Û', 'Ü', 'ū', 'ű':
		return "u"
	case 'ý', 'ÿ', 'Ý':
		return "y"
	case 'ß':
		return "ss"
	case 'š', 'Š', 'ś', 'ş':
		return "s"
	case 'ž', 'Ž', 'ź', 'ż':
		return "z"
	case 'ł', 'Ł':
		return "l"
	case 'ð', 'Ð', 'đ':
		return "d"
	case 'þ', 'Þ':
		return "th"
	case 'ř':
		return "r"
	}
	return ""
}
