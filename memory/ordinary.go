package memory

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"sync"
)

//go:embed words.gz
var wordList []byte

// ordinaryWords are the 41,000 English words that a line may contain without
// anybody's name being meant.
var ordinaryWords = sync.OnceValue(func() map[string]struct{} {
	all := make(map[string]struct{}, 42_000)
	z, err := gzip.NewReader(bytes.NewReader(wordList))
	if err != nil {
		panic(fmt.Sprintf("memory: words.gz as built in: %v", err))
	}
	var word []byte
	for lines := bufio.NewScanner(z); lines.Scan(); {
		line := lines.Bytes()
		word = append(word[:line[0]-'0'], line[1:]...)
		all[string(word)] = struct{}{}
	}
	for w := range givenNames {
		all[w] = struct{}{}
	}
	return all
})

// ordinary says whether a folded word is one that people use anyway.
func ordinary(w []byte) bool {
	_, ok := ordinaryWords()[string(w)]
	return ok
}

// givenNames are common names of the people at a table. A campaign whose Marten
// sounds like the player Martin must not rename him.
var givenNames = set(`aaron adam adrian alan alex alexander alice alison amanda amy
andrea andrew andy angela ann anna anne anthony barbara ben benjamin beth betty bill
bob bobby brandon brian carl carol caroline catherine charles charlie charlotte chris
christian christina christine christopher claire colin dan daniel danny dave david
dawn dean deborah dennis diane donald donna dorothy doug douglas ed eddie edward
elizabeth ellen emily emma eric erik ethan eva evan frank fred gary george gerald
gordon grace graham greg hannah harry heather helen henry ian isaac isabel jack jacob
james jamie jane janet jason jeff jennifer jenny jeremy jerry jessica jill jim jimmy
joan joe john johnny jon jonathan jordan joseph joshua joy judy julia julian julie
justin karen kate katherine kathy katie keith kelly ken kenneth kevin kim kyle larry
laura lauren leah lee leo leon leonard lewis liam linda lisa liz louis louise lucas
lucy luke lynn marc marcus margaret maria marie mark martha martin mary matt matthew
max megan melissa michael michelle mike monica nancy natalie nathan neil nicholas nick
nicole noah nora oliver olivia oscar owen pam patricia patrick paul paula peter phil
philip rachel ralph ray rebecca richard rick rob robert robin roger ron rose ross roy
russell ruth ryan sally sam samantha samuel sandra sara sarah scott sean sharon simon
sophia sophie stephanie stephen steve steven stuart sue susan ted teresa terry thomas
tim todd tom tommy tony tracy tyler vanessa victor victoria vincent walter wendy
william zach zachary zoe`)
