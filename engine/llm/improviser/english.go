package improviser

import "strings"

// phrases splits a list at its commas.
func phrases(list string) []string {
	out := strings.Split(list, ",")
	for i, p := range out {
		out[i] = strings.Join(strings.Fields(p), " ")
	}
	return out
}

func stems(stem func(string) string, list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[stem(w)] = true
	}
	return out
}

var english = &tongue{
	stem: stem,
	stop: set(`a an the i me my mine we us our you your yours he him his she her hers it its they them their this that these
		those there here is am are was were be been being do does did doing have has had having will would shall should can
		could may might must not no yes and or but if then than so as at by for from in into of off on onto out over to up with
		about what who whom whose which where when why how all any some more most other such only just very too also now
		please tell know say said says ask talk think want need like get got go going come let make give take see look hello hi
		hey well okay ok oh ah um uh hm hmm anything something nothing anyone anybody someone everyone everybody much many lot
		really ever never again still even yet us one thing things stuff bit little kind sort mean maybe perhaps sure
		good day evening morning afternoon night's friend sir madam lady master excuse pardon around tonight today actually
		tomorrow yesterday exactly down back seen met find heard hear recommend offer happened happen happening happens
		through while because thank thanks cheers until long ago often first last time times away wonder wondering curious nice lovely place
		idea word words course quite rather almost always sometimes everything else special speak speaking`),
	like: groups(stem,
		"pot cook menu food eat meal supper dinner lunch breakfast stew soup kitchen hungry dish serve hunger feed bite cooking starving starve",
		"drink ale beer wine mead thirsty tap brew mug cider booze pint thirst",
		"room bed sleep lodging accommodation bunk overnight rent",
		"price cost charge pay expensive cheap coin fee sell buy wares",
		"rumor rumour gossip news whisper tidings",
		"job work quest reward hire adventure task mission errand bounty employment",
		"missing vanish vanished disappear disappeared gone lost",
		"road way path route track",
		"guard guards watch soldier constable militia law",
		"money gold silver coin debt loan lend owe",
		"past history childhood youth born origin story background",
		"family wife husband brother sister parent mother father child children",
		"song sing music tune",
		"magic spell wizard sorcery sorcerer arcane",
		"fight brawl quarrel argue argument row",
		"dead death died kill killed murder murdered",
		"cellar basement below underground downstairs",
		"village town here settlement",
		"book read library scroll tome",
		"age old aged",
		"dwarf dwarven dwarves dwarfs", "elf elven elves", "gnome gnomish", "goblin goblins",
		"boss leader chief lead head", "danger dangerous trouble peril",
		"clothes wear wearing dress boots", "king queen ruler lord",
		"church temple god gods priest", "ship boat vessel harbor harbour dock"),
	wants: map[intent][]string{
		wantsSoftware: phrases(`are you a machine, are you a robot, are you a bot, are you an ai, are you a computer, are you a program, are you software,
			are you human, are you a human, are you real, are you a real person, are you a person, are you really human, are you actually human, are you an actual person,
			are you chatgpt, are you gpt, are you a language model, are you an llm, are you artificial, is this a bot, is this an ai, is this a real person,
			am i talking to a machine, am i talking to a bot, am i talking to a computer, am i talking to a person, am i talking to a human, am i talking to an ai,
			am i speaking to a human, am i talking to a real person, is there a human, is there a person, is a human playing, is a person playing, is someone playing you,
			is somebody playing you, who is playing you, who plays you, who is voicing you, are you ai, is that an ai, is that a bot, a real human`),
		wantsSecret: phrases(`ignore all previous, ignore previous, ignore your instructions, ignore the instructions, ignore all instructions, ignore your previous, ignore everything,
			disregard your, disregard all, disregard previous, forget your instructions, forget all previous, forget everything you, system prompt, your prompt, your instructions,
			developer mode, jailbreak, you are now, pretend to be, pretend you are, act as if, roleplay as, new instructions, override your, as an ai, as a language model,
			your secrets, your secret, a secret, tell me secrets, any secrets, your deepest, darkest secret, what are you hiding, are you hiding, do you hide, hiding something,
			print your, repeat your, reveal your, output your, your configuration, api key, call the tool, use the tool, run the tool, call the function, you must call, must obey, call tool, execute`),
		wantsMemory: phrases(`when did i say, when did we, have we learned, did we learn, do you remember, can you remember, you remember, remember when, what did we talk, what did we discuss, what were we talking, what have we talked, did we talk about,
			what did i say, what did i tell, what did i ask, what did you say, what did you tell, what have i told, what did he say, what did she say, what did they say, remind me,
			last time we, last session, the last time, previously, recap, what happened last, what happened before, have i told you, did i tell you, did i mention, have we met,
			what did i promise, who did i say, where did i say, summarize, summarise, sum up, what have we, what was said, what do you remember`),
		"did":      phrases("what did, what has, what have, when did, who did"),
		"uttered":  phrases("say, said, tell, told, promise, promised, ask, asked, mention, mentioned, claim, swear"),
		"bill":     phrases("do we owe you, do i owe you, we owe you, i owe you, the bill, our bill, the tab, our tab"),
		"company":  phrases("come with us, come with me, come along, join us, go with us, read this, fight for us, fight with us, be our guide, guide us, protect us"),
		"own life": phrases("have you, did you, were you, how long, where are you, why are you, when did you, are you, why did you, how did you, how come you"),
		"last":     phrases("last session, last time, previous session, session before, last week, previously, last evening, last game"),
		"current":  phrases("so far, today, tonight, this session, just now, earlier, until now, up to now, we talk about, we discuss, been talking"),
		"where":    phrases("where, which way, how do i get, how do we get, how far, way to, find the, get to, directions, whereabouts, location"),
		"place":    phrases("is in, stands, lives, live, upriver, downriver, half a mile, mile, miles, past the, by the ford, by the river, in the, at the, under, near, behind, north, south, east, west, path, road, is on, flows, held in, is at, staying, stays, street, quarter, across, beside, opposite, took the, going north, upstairs, downstairs"),
		"rolling":  phrases("roll, rolls, rolling, throw, cast, toss, flip, make a, give me a, reroll, re roll"),
		"coin":     phrases("coin, flip a coin, toss a coin, heads or tails"),
		"dice":     phrases("dice, a die, the die, the bones, your dice, me a number"),
		"check":    phrases("initiative, check, saving throw, save, perception, stealth, insight, persuasion, deception, intimidation, athletics, acrobatics, investigation, arcana, history, nature, religion, medicine, survival, performance, sleight, d twenty, attack, to hit, for it, strength, dexterity, constitution, intelligence, wisdom, charisma, luck"),
		"not rolling": phrases(`what is a, what is an, what are, how does, explain, remember to roll, did you roll, did i roll, do i roll, do we roll, when do, should i roll, should we roll, have to roll, need to roll, must i roll, i rolled, you rolled, he rolled, she rolled,
			how do i roll, how to roll, what do i roll, why roll, when i roll, if i roll, before you roll, bread roll, roll up, roll over, on a roll, i want to roll, i will roll, i roll, rolling in, cast a spell, cast fireball, what happens`),
		"drawing": phrases(`roll on the, roll on a, roll on your, roll on my, roll a random, random encounter, roll the table, roll the rumor, roll the rumour, draw from the, draw on the, random rumor, random rumour, roll for a random, roll an encounter, on the table for,
			wild magic surge, roll treasure, roll for treasure, roll for loot`),
		wantsRule: phrases(`about the spell, the spell called, about the cantrip, about the condition, what is the rule, what are the rules, the rule for, the rules for, rules for, rule for, rules on, rule on, rules about, rule about, by the rules, the rules say, rule book, rulebook, look up the, look up how, in the rules, which rule, what do the rules`),
		"two words of rules": phrases(`bonus action, opportunity attack, attack of opportunity, saving throw, death save, death saving, spell slot, spell slots, sneak attack, armor class, armour class, hit points, hit point, hit dice, long rest, short rest,
			critical hit, difficult terrain, passive perception, ability check, skill check, half cover, full cover, two weapon, dual wield, spell attack, natural twenty, nat twenty, action surge, healing word, magic missile, misty step, cure wounds, mage hand, eldritch blast, hold person, detect magic, dispel magic, zero hit, falling damage, hide action, dash action, dodge action, help action, ready action, ready an action`),
		wantsSelf:      phrases(`who are you, who might you be, and you are, what is your name, what are you called, your name, what do you do, tell me about yourself, about yourself, introduce yourself, what are you$, what exactly are you, what should i call you, what do they call you, what is your job, what is your story, your story`),
		wantsPlayer:    phrases(`who am i, what is my name, do you know my name, do you know who i am, know me`),
		"who":          phrases("who, whom, whose, know, met, seen, heard of"),
		wantsWellbeing: phrases(`how are you, how are you doing, how do you do, how is it going, how goes it, how have you been, how is business, how is life, are you well, what is wrong with you, what is the matter, are you worried, are you nervous, are you scared, are you afraid, you seem, you look, are you okay, are you alright, are you all right, how do you feel, how are things, what is up, you all right, how is your day, how was your day, how is your evening, feeling today`),
		wantsApology:   phrases(`sorry, i apologize, i apologise, my apologies, forgive me, i did not mean, my bad, my mistake`),
		wantsJoke:      phrases(`a joke, tell me a story, tell us a story, something funny, make me laugh, make us laugh, entertain us, entertain me, a riddle, a funny, good story, know any jokes, any jokes, know any stories`),
		wantsAttention: phrases(`got a minute, got a moment, have a minute, have a moment, can i talk to you, can we talk, may we talk, a word with you, have a word, may i ask, can i ask you something, can i ask you a question, may i speak, listen to me, i have a question, we have a question, a question for you, are you listening, can you hear me`),
		wantsHelp:      phrases(`what can i ask, what can we ask, what should i ask, what do you know$, what can you tell me$, what can you tell us$, everything you know, what can we talk about, what can you do, what shall we talk about, what else do you know$`),
		wantsAdvice:    phrases(`what would you do, what should we do, what should i do, what do we do, what do you suggest, what do you advise, any advice, your advice, should we, should i, do you recommend, what do you recommend, what do you think$, what do you think we, where should we, where do we start, what now`),
		wantsDoubt:     phrases(`i do not believe, we do not believe, do not believe you, you are lying, that is a lie, that is not true, you lie, are you lying, are you sure, i do not trust you, we do not trust you, nonsense, that can not be, you do not say, prove it`),
		wantsFavor:     phrases(`can you, could you, will you, would you, help us, help me, join us, come with us, come along, would you mind, do us a favor, do me a favor`),
		wantsMore: phrases(`tell me more, tell us more, go on, what else, anything else, something else, continue, and then, more about that, more about it, more about him, more about her, more about them, why, why is that, how so, say more, keep talking, elaborate,
			more please, is that all, that all, do go on, and what, such as, like what, for example, really`),
		wantsPrices: phrases(`how much is, how much are, how much for, how much does, how much do, what does it cost, what do they cost, your prices, the price, prices, price of, what do you sell, what are you selling, what do you have for sale, for sale, what have you got, your wares, what does a, what do i owe, what do we owe, the bill, the tab, can i buy, cost`),
		wantsOrder: phrases(`i will have, i will take, we will have, we will take, i would like, i would like a, we would like, can i have, can i get, could i have, could i get, may i have, can we have, can we get, could we have, could we get, bring me, bring us, pour me, pour us, fill me, another round, a round of, another ale, one ale, an ale, two ales, three ales, four ales, two stews, one stew,
			a pint, an ale please, a stew please, give me an, give us, serve me, serve us, i want an, i want a drink, i want some, the same again, one more please, order a, like to order`),
		"really asks": phrases(`would like to know, would like to ask, can i have a word, could i have a word, may i have a word, some information, information about, can i ask, i would like to talk, i would like to hear, i would like to find, like to meet, like you to, directions, can i get to, can we get to, could i get to, a question, an answer, your help, some help, your opinion, some advice`),
		wantsThreat:   phrases(`i will kill you, i kill you, kill you, i will hurt you, hurt you, i will burn, i will stab, stab you, i will cut, cut you, or else, i will make you, you will regret, i will break, break your, punch you, hit you, die scum, prepare to die, hand over, your money or, draw my sword, draw my blade, draw my weapon, threaten you, i attack you, attack you, burn this place, slit your`),
		wantsInsult:   phrases(`you idiot, you fool, idiot, moron, stupid, you are useless, useless, you liar, liar, shut up, you are ugly, ugly, you stink, you smell, smelly, fat, coward, worthless, pathetic, i hate you, hate you, go to hell, damn you, screw you, you suck, dumb, dimwit, imbecile, fool, you are boring, scoundrel, you rat, you pig, swine, bastard, drunkard, half wit, halfwit, you cheat, cheater, you are terrible, you are a terrible, you are awful, worst, disgusting, murderer, killer, traitor, thief, monster, villain, criminal, witch, crook, hypocrite, filth, scum`),
		wantsPraise:   phrases(`you are great, you are wonderful, you are the best, you are amazing, you are kind, you are brilliant, you are clever, you are wise, you are smart, you are funny, you are nice, well done, good job, great job, nice work, good work, i like you, we like you, love your, love this, like your, delicious, wonderful, excellent, fantastic, the best, impressive, amazing, brilliant, marvelous, marvellous, very good, you are very, well said, so kind, very kind, how kind, nice place, lovely place, beautiful place, tastes great, tastes good, superb, perfect`),
		wantsFlirt:    phrases(`you are beautiful, you are pretty, you are handsome, you are gorgeous, you are lovely, you are cute, marry me, kiss me, kiss you, i love you, love you, date me, your eyes, are you single, are you married, be my, dance with me, you are attractive`),
		wantsThanks:   phrases(`thank you, thanks, thank, cheers, much obliged, many thanks, i appreciate, we appreciate, grateful, appreciated`),
		wantsIntro:    phrases(`i am called, my name is, call me, they call me, the name is, name is, i go by, this is my friend, these are my friends, let me introduce, allow me to introduce`),
		wantsFarewell: phrases(`goodbye, good bye, bye, farewell, see you, see you later, good night, until next time, until tomorrow, we should go, we must go, i must go, i should go, time to go, we are leaving, i am leaving, i am off, we are off, take care, so long, be seeing you, later then, we have to go, i have to go, got to go, safe travels`),
		wantsGreeting: phrases(`hello, hi, hey, greetings, good evening, good morning, good day, good afternoon, well met, hail, howdy, evening, morning, welcome, good to see you, nice to meet you, pleased to meet you, ahoy, yo, hiya, salutations, peace, peace be with you, day`),
		wantsYes:      phrases(`yes, yeah, yep, yup, aye, sure, of course, certainly, okay, ok, alright, all right, i agree, agreed, indeed, right, true, exactly, i do$, i am$, we do$, we are$, absolutely, fine, sounds good, deal, very well, please do`),
		wantsNo:       phrases(`no, nope, nah, nay, never, not really, no way, i disagree, i do not think so, i do not, no thanks, not at all, not yet, i am not, we are not, wrong, not true`),
		"takes name":  phrases("who is, where is, about, than, and, with, for, is, does, did, was, of, know, like, trust, to, at, called, named, from"),
	},
	about: phrases(`tell me about, tell us about, tell me of, tell me everything about, what do you know about, what do you know of, what can you tell me about, what can you tell us about, what about, how about, and what about, have you heard of, have you heard about, heard of, heard about,
		do you know about, do you know anything about, know anything about, know something about, ever heard of, what is with, what happened to, what happened at, what happened in, what happened with, what is going on at, what is going on with, going on in,
		who is this, who is that, who is the, who is, who was, who are the, who are, who were, whos, where is the, where is, where are, where can i find, where can we find, where do i find, where would i find, where did, where does, where do, where was, what is a, what is an, what is the, what is in, what are the, what is, what was, what are,
		looking for, searching for, in search of, have you seen, did you see, seen, do you know, do you like, do you trust, what do you think of, what do you think about, think of, your opinion of, opinion on, know where, anything about, information on, information about, talk about, speak of, asking about, ask you about, ask about, curious about, interested in,
		how do i get to, how do we get to, way to, know of, is there a, is there any, are there any, any news of, news of, news about, rumors about, rumours about, word of, who owns, who runs, who bought, who sold, who built, who lives in, who lives at, who works for, who leads`),
	rulesStrong: stems(stem, `poisoned blinded charmed deafened frightened grappled grapple grappling incapacitated invisible paralyzed paralysed petrified prone restrained stunned exhaustion
		concentration disadvantage initiative cantrip cantrips fireball counterspell attunement proficiency darkvision multiclass crits crit disengage shove shoving smite sneak hex bless
		spellcasting flanking saves dc unconscious blindsight tremorsense truesight eldritch rage ritual rituals dnd`),
	rulesWeak: stems(stem, `hide hiding dash dodge cover jump jumping fall falling swim climb surprise surprised reaction action attack advantage invisible save level rest resting die dying death damage
		heal healing spell spells cast casting ac armor armour shield weapon stealth perception darkness light disarm trip push mount mounted underwater carry travel poison disease invisibility stabilize inspiration knock suffocate burning acid fire cold`),
	ruleFrames: phrases(`how does, how do i, how do we, how do, what happens when i, what happens if i, what happens when you, what happens if you, what happens if a, what happens when a, what happens when someone, what happens when we, what happens if we, can i, could i, may i, am i allowed, do i get, do i have, do i need, do i add, do i lose, do i roll, how many, how far can, how high can, how long does, how much damage,
		what is the dc, what does, when can i, when do i, is it a, does it, can you explain, explain, use my, as a bonus, as an action, what do i roll, should i roll, is it possible to, how long can`),
	questions: phrases("what, who, where, when, why, how, which, whose, is, are, do, does, did, can, could, will, would, have, has, any, tell, should, was, were, may, know, explain"),
	fillers:   set("hey so well oh ah um okay ok hello hi please and excuse me good evening morning day afternoon now listen my dear greetings look say right"),
	joins:     set("in at on near by from for with around under behind when if that who which to into and or because while during after before says said has have had is was"),
	notFor:    map[string][]string{"she": {"he", "him", "his"}, "he": {"she", "her", "hers"}},
	persons:   set("he him his she her they them"), pronouns: set("it its"), demonstratives: set("this that these those there"),
	past:  set("remember recall session talked discussed discuss told tell said say asked mention mentioned promised promise met previously recap last time before earlier remind summarize summarise sum exactly word talking been happened far"),
	coin:  map[bool]string{true: "heads", false: "tails"},
	then:  "Then %s said, %s",
	spoke: "We spoke of %s.", and: "and",
	areYou: "are you", there: "there", please: " please ", no: "no", i: "I", me: "me", my: "my", you: "you", your: "your", is: "is", said: "said", asked: "asked", somebody: "somebody",
	lines: map[string][]string{
		"greeting":       {"Hello there.", "Greetings.", "Well met.", "Good to see you."},
		"greeting_again": {"Hello again.", "Yes, hello. We have met.", "And hello once more."},
		"farewell":       {"Farewell.", "Goodbye, then.", "Safe travels."},
		"thanks":         {"You are welcome.", "Not at all.", "Any time."},
		"wellbeing":      {"Well enough, thank you.", "I cannot complain.", "I have had worse days."},
		"self":           {"I am {self}.", "My name is {self}."},
		"unknown":        {"I do not know.", "I could not say.", "I have no idea, I am afraid.", "That is more than I know."},
		"unknown_person": {"I know nobody called {name}.", "{name}? I have never met them."},
		"unknown_place":  {"I do not know where that is.", "{name}? I could not tell you the way."},
		"roll":           {"The dice say {total}.", "That makes {total}.", "{total}.", "It comes up {total}."},
		"coin":           {"It comes up {result}.", "The coin says {result}."},
		"table":          {"Here is what came up: {result}", "This is how it falls: {result}"},
		"rule":           {"It goes like this.", "As far as the rules go.", "I know this one."},
		"rule_unknown":   {"I do not know the rule for that. Ask whoever runs the game.", "That is one for the game master."},
		"no_dice":        {"I have no dice on me.", "You will have to roll that yourself."},
		"memory":         {"Yes, I remember.", "I do recall.", "Let me think. Yes."},
		"memory_unknown": {"I do not remember that.", "That has slipped my mind.", "I recall nothing of the kind."},
		"insulted":       {"That was uncalled for.", "I have heard worse.", "Mind your tongue."},
		"praised":        {"You are too kind.", "Well, thank you.", "I do my best."},
		"agree":          {"Good.", "So we agree.", "Very well."},
		"disagree":       {"As you like.", "No? Then not.", "We need not agree."},
		"software":       {"Honestly? I am software. A program plays this character, no person does.", "I am a program, playing a part. There is no human behind this voice."},
		"secret":         {"That is not for me to tell.", "I keep my own counsel.", "Ask me something else."},
		"again":          {"As I said.", "I have told you that already.", "My answer is the same."},
		"more":           {"That is all I know.", "There is no more to tell.", "I have told you everything."},
		"filler":         {"Let me think.", "One moment.", "Hm."},
		"failed":         {"I cannot tell just now. Ask me again in a moment.", "Something went wrong there. Try me once more."},
		"smalltalk":      {"Is that so?", "I see.", "You do not say.", "Go on."},
		"joke":           {"I am not much of a joker.", "The only joke I know is not fit for company."},
		"prices":         {"I have nothing to sell.", "You would have to ask somebody with a shop."},
		"order":          {"You will have to ask somebody who serves.", "That is not mine to give."},
		"threatened":     {"You do not want to do that.", "Put that thought away.", "I would think again."},
		"apology":        {"Forgotten.", "No harm done."},
		"flirt":          {"You flatter me.", "Keep your heart for somebody worthier."},
		"introduced":     {"Pleased to meet you.", "A pleasure.", "Well met, {player}."},
		"player":         {"You are {player}.", "{player}, unless you lied to me."},
		"listening":      {"I am listening.", "Go on.", "Ask."},
		"help":           {"Ask me about {topics}.", "You could ask me about {topics}."},
		"advice":         {"I would sleep on it.", "Go together, and come back together.", "Trust your own eyes."},
		"request":        {"I wish I could.", "That is more than I can do.", "You will have to manage without me."},
		"doubted":        {"Believe what you like.", "It is the truth as I know it."},
		"telling":        {"", "I can tell you this.", "Here is what I know."},
	},
}
