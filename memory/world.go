package memory

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits on a world, some hundred times those of a big campaign book.
const (
	maxEntities  = 200_000
	maxPerEntity = 20_000 // facts, relations or attributes of one entity
)

// CheckWorld says what is wrong with a world that cannot be stored. What merely
// looks odd, such as a relation to nobody, is the campaign loader's business.
func CheckWorld(world []Entity) error {
	if len(world) > maxEntities {
		return fmt.Errorf("memory: a world of %d entities, the most is %d", len(world), maxEntities)
	}
	seen := make(map[string]bool, len(world))
	for _, e := range world {
		if err := checkEntity(e); err != nil {
			return fmt.Errorf("memory: entity %.60q: %w", e.ID, err)
		}
		if seen[e.ID] {
			return fmt.Errorf("memory: two entities have the id %q", e.ID)
		}
		seen[e.ID] = true
	}
	return nil
}

func checkEntity(e Entity) error {
	switch {
	case e.ID == "":
		return errors.New("an id is missing")
	case e.Name == "":
		return errors.New("a name is missing")
	case !slices.Contains(Kinds, e.Kind):
		return fmt.Errorf("unknown kind %q", e.Kind)
	case max(len(e.Facts), len(e.Relations), len(e.Attributes), len(e.Aliases)) > maxPerEntity:
		return fmt.Errorf("more than %d facts, relations, attributes or aliases", maxPerEntity)
	}
	texts := []string{e.Text}
	audiences := []Audience{e.Audience}
	names := append([]string{e.ID, e.Name}, e.Aliases...)
	for k, v := range e.Attributes {
		names, texts = append(names, k), append(texts, v)
	}
	for _, f := range e.Facts {
		names, texts, audiences = append(names, f.ID), append(texts, f.Text), append(audiences, f.Audience)
	}
	for _, r := range e.Relations {
		names, texts, audiences = append(names, r.Kind, r.To), append(texts, r.Text), append(audiences, r.Audience)
	}
	for _, a := range audiences {
		if len(a) > MaxAudience {
			return fmt.Errorf("an audience of %d, the most is %d", len(a), MaxAudience)
		}
		names = append(names, a...)
	}
	for _, n := range names {
		if err := checkID(n); err != nil {
			return err
		}
	}
	for _, t := range texts {
		if err := checkText(t); err != nil {
			return err
		}
	}
	return nil
}

// FoldName writes a name as it is looked up: lower case, no accents, no
// punctuation, single spaces.
func FoldName(name string) string { return strings.Join(words(name), " ") }

// NameWords are the words of a name by which alone somebody may be called:
// "Tankard" for "The Tilted Tankard".
func NameWords(name string) []string {
	return slices.DeleteFunc(words(name), func(w string) bool { return len(w) < 3 || !content(w) })
}
