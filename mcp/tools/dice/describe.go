package dice

import "strconv"

// maxShown is how many dice the text of a roll lists. A thousand numbers help
// nobody, and a Discord message holds 2,000 characters; Result.Dice has all.
const maxShown = 50

// A description writes an evaluated expression with what its dice showed, and
// collects the dice. All dice share one array of rolls.
type description struct {
	run   *run
	text  []byte
	dice  []Die
	rolls []int
}

// term writes term i; dropped says that something around it was dropped.
func (d *description) term(i int, dropped bool) {
	t := &d.run.terms[i]
	dropped = dropped || t.dropped
	switch n := t.node.(type) {
	case *literal:
		d.write(number(n.value, n.point))
	case *dice:
		d.group(n, t, dropped)
	case *paren:
		d.write("(")
		d.term(t.first, dropped)
		d.write(")")
		d.write(operations(n.ops))
	case *set:
		d.write("(")
		for k, m := range t.members {
			if k > 0 {
				d.write(", ")
			}
			d.term(m, dropped)
		}
		if len(t.members) == 1 {
			d.write(",")
		}
		d.write(")")
		d.write(operations(n.ops))
	case *unary:
		if n.minus {
			d.write("-")
		} else {
			d.write("+")
		}
		d.term(t.first, dropped)
	case *binary:
		d.term(t.first, dropped)
		d.write(" ")
		d.write(n.op)
		d.write(" ")
		d.term(t.last, dropped)
	}
	if tag := t.node.label(); tag != "" {
		d.write(" ")
		d.write(tag)
	}
}

func (d *description) write(s string) { d.text = append(d.text, s...) }

func (d *description) number(n int) { d.text = strconv.AppendInt(d.text, int64(n), 10) }

// group writes dice: "4d6kh3 (5, 6, 6, ~~2~~)".
func (d *description) group(n *dice, t *term, dropped bool) {
	d.number(n.count)
	d.write(n.name)
	d.write(operations(n.ops))
	d.write(" (")
	for k := t.first; k < t.last; k++ {
		die := d.die(n, k, dropped)
		d.dice = append(d.dice, die)
		switch shown := k - t.first; {
		case shown == maxShown:
			d.write(", …")
		case shown < maxShown:
			if shown > 0 {
				d.write(", ")
			}
			d.one(die)
		}
	}
	d.write(")")
}

// die is the public account of term k.
func (d *description) die(n *dice, k int, dropped bool) Die {
	t := &d.run.terms[k]
	die := Die{Type: n.name, Faces: n.faces, Value: int(t.value), Kept: !dropped && !t.dropped}
	switch n.faces {
	case tensDie:
		die.Faces = 10
	case fateDie:
		die.Faces = 3
	}
	from := len(d.rolls)
	d.rolls = append(append(d.rolls, t.past...), int(t.shows))
	die.Rolls = d.rolls[from:len(d.rolls):len(d.rolls)]
	if t.marks != 0 || !die.Kept {
		die.Happened = story(t.marks, die.Kept)
	}
	return die
}

// story names the marks of a die.
func story(marks happened, kept bool) []string {
	var told []string
	for _, m := range []struct {
		mark happened
		name string
	}{{added, "added"}, {rerolled, "rerolled"}, {raised, "raised"}, {lowered, "lowered"}, {exploded, "exploded"}} {
		if marks&m.mark != 0 {
			told = append(told, m.name)
		}
	}
	if !kept {
		told = append(told, "dropped")
	}
	return told
}

// one shows a die as "4", "1→5" after a reroll or a bound, "6!" where it
// exploded, and "~~2~~" where it was dropped.
func (d *description) one(die Die) {
	if !die.Kept {
		d.write("~~")
	}
	for i, v := range die.Rolls {
		if i > 0 {
			d.write("→")
		}
		d.number(v)
	}
	if die.Rolls[len(die.Rolls)-1] != die.Value {
		d.write("→")
		d.number(die.Value)
	}
	for _, h := range die.Happened {
		if h == "exploded" {
			d.write("!")
		}
	}
	if !die.Kept {
		d.write("~~")
	}
}
