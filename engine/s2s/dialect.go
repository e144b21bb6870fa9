package s2s

import (
	"net/http"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
)

// A dialect is one vendor's protocol without its socket or clock: it says what to
// send and what a message means. It never blocks; whoever calls it takes turns.
type dialect interface {
	// address is where a session is opened.
	address() (url string, header http.Header)
	// begin sets up a new session; evReady says that it is.
	begin(s setup) [][]byte
	// ready is sent once it is.
	ready(s setup) [][]byte
	// lasts is how long a session may be used; warned of by an evExpiring or not.
	lasts() time.Duration
	// declare replaces the tools. ok is false where only a new session can do that.
	declare(tools []mcp.Tool) (messages [][]byte, ok bool)
	// ask tells what was said since, then what is said now, and asks for an answer.
	ask(q question) [][]byte
	// result answers a tool call. absorb is set when the talk has moved on: the model
	// is to know, and to say nothing.
	result(c engine.Call, text string, absorb bool) [][]byte
	// resume asks for the answer to go on after all results are in, where the vendor
	// wants to be asked: then parted must be set, the part before has to have ended.
	// Without tools the model may not call any more. ok is false if it is too early.
	resume(parted, tools bool) (messages [][]byte, ok bool)
	// stop ends the answer under way and takes back what was not played.
	stop(played time.Duration, heard string) [][]byte
	// read says what a message means, and what is to be sent at once because of it.
	read(message []byte) (events []any, answer [][]byte)
}

// setup is what a session begins with.
type setup struct {
	system string
	voice  string
	// language is a BCP 47 tag, or "".
	language string
	tools    []mcp.Tool
	// handle resumes the vendor's own memory of a session that has ended; "" begins
	// with the talk instead.
	handle string
	talk   []engine.Message
}

// question is one turn's input.
type question struct {
	// missed is what was said since the session was last told.
	missed []engine.Message
	// now is what holds only for this turn.
	now string
	// sound is what is said, 16 kHz mono; text if there is none.
	sound []int16
	text  string
}

// What a message of a vendor's may mean.
type (
	// evReady is a session that is set up.
	evReady struct{}
	// evSound is some of the answer's sound, 24 kHz mono. Sounds of one item belong
	// together.
	evSound struct {
		item    string
		samples []int16
	}
	// evWords is some of its transcript.
	evWords struct{ text string }
	// evCall is a tool call, complete.
	evCall struct{ call engine.Call }
	// evCancelled are calls whose results the vendor does not want any more.
	evCancelled struct{ ids []string }
	// evUsage is what was used up since the last one.
	evUsage struct{ usage engine.Usage }
	// evPart is the end of the part of an answer before tools.
	evPart struct{}
	// evDone is the end of an answer.
	evDone struct{ err error }
	// evLate says that words may still come for a little while, and then are done.
	evLate struct{}
	// evExpiring is a session that ends soon.
	evExpiring struct{ left time.Duration }
	// evHandle is the newest handle to resume with; "" takes the old one away.
	evHandle struct{ handle string }
	// evTrouble is a complaint. A fatal one means that the session is of no more use.
	evTrouble struct {
		err   error
		fatal bool
	}
)
