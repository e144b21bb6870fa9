package voice

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/glyphoxa/glyphoxa/voice/dave"
	"github.com/glyphoxa/glyphoxa/voice/rtp"
)

// session is the voice handshake without its socket: step is told what happened
// and says what to do. It never blocks, reads a clock or sends. One session lasts
// from an identification to the next, over any number of resumed sockets.
type session struct {
	server   Server
	keys     *dave.Session
	seqAck   int // number of the last message, -1 before the first
	interval time.Duration
	missed   int // heartbeats without an answer
	ssrc     uint32
	mode     string
	// live is set from the session description on: a socket that closes after
	// it can be resumed.
	live bool
	// resuming is set while a new socket has not yet resumed the session.
	resuming bool
	// catchingUp is set from a resumption until the server has said everything
	// that we missed: what it says first afterwards is the answer to a heartbeat.
	catchingUp bool
}

func newSession(s Server, allowPlain bool) (*session, error) {
	k, err := dave.NewSession(dave.Config{User: s.User, Channel: s.Channel, AllowPlain: allowPlain})
	if err != nil {
		return nil, err
	}
	return &session{server: s, keys: k, seqAck: -1}, nil
}

// Besides messages of the server, these can happen to a session.
type (
	// beatDue says that a heartbeat interval is over.
	beatDue struct{ now time.Time }
	// discovered is our address as the voice server sees it.
	discovered struct {
		address string
		port    uint16
	}
	// deaf says that frame after frame of sound could not be opened.
	deaf struct{ now time.Time }
	// overdue says that new keys have waited too long for their execution.
	overdue struct{ now time.Time }
	// present are users in the channel, by the main gateway.
	present struct{ users []uint64 }
)

// An action is what the runner shall do.
type action any

type (
	// send a message.
	send struct{ message }
	// beatEvery starts the heartbeat.
	beatEvery struct{ interval time.Duration }
	// discover our address through the voice server's UDP port.
	discover struct {
		ip   string
		port uint16
		ssrc uint32
	}
	// open the line for sound.
	openLine struct {
		mode string
		key  [32]byte
		ssrc uint32
	}
	// announce that the line is good as it was, but that the new socket does not
	// know that we speak.
	lineResumed struct{}
	// speaker says whose sound an SSRC is.
	speaker struct {
		ssrc uint32
		user uint64
	}
	// gone says that a user has left.
	gone struct{ user uint64 }
	// reopen the socket and resume.
	reopen struct{ why string }
	// fail ends the session.
	fail struct{ err error }
	// note is for the log.
	note struct {
		level slog.Level
		err   error
	}
)

// opened is told when a new socket is open: it resumes what was live.
func (s *session) opened() { s.missed, s.resuming, s.catchingUp = 0, s.live, false }

// step handles one event.
func (s *session) step(ev any, now time.Time) []action {
	switch ev := ev.(type) {
	case hello:
		s.interval = ev.beatInterval()
		first := send{message{op: opIdentify, data: identify{
			Server: snowflake(s.server.Guild), User: snowflake(s.server.User),
			Session: s.server.Session, Token: s.server.Token, DAVE: dave.Version,
		}}}
		if s.resuming {
			first = send{message{op: opResume, data: resumption{
				Server: snowflake(s.server.Guild), Session: s.server.Session, Token: s.server.Token, SeqAck: s.seqAck,
			}}}
		}
		return []action{beatEvery{s.interval}, first}
	case ackBeat:
		s.missed = 0
		if s.catchingUp {
			s.catchingUp = false
			return fromDAVE(s.keys.Unanswered())
		}
	case beatDue:
		return s.beat(ev.now)
	case ready:
		return s.choose(ev)
	case discovered:
		return []action{send{message{op: opSelect, data: selection{"udp", selectionData{ev.address, ev.port, s.mode}}}}}
	case description:
		return s.begin(ev)
	case resumed:
		s.resuming, s.catchingUp = false, true
		return append([]action{lineResumed{}}, s.beat(now)...)
	case speaking:
		return []action{speaker{ev.SSRC, uint64(ev.User)}}
	case left:
		s.keys.Left(uint64(ev.User))
		return []action{gone{uint64(ev.User)}}
	default:
		return s.stepKeys(ev, now)
	}
	return nil
}

// beat sends a heartbeat, unless the server has not answered two.
func (s *session) beat(now time.Time) []action {
	if s.missed++; s.missed > 2 {
		return []action{reopen{"two heartbeats unanswered"}}
	}
	return []action{send{message{op: opHeartbeat, data: heartbeat{now.UnixMilli(), s.seqAck}}}}
}

// stepKeys handles what concerns the encryption between the members.
func (s *session) stepKeys(ev any, now time.Time) []action {
	var out []dave.Message
	var err error
	switch ev := ev.(type) {
	case joined:
		for _, u := range ev.Users {
			err = errors.Join(err, s.keys.Joined(uint64(u)))
		}
	case present:
		err = s.keys.Joined(ev.users...)
	case prepareTransition:
		out, err = s.keys.PrepareTransition(ev.ID, ev.Version)
	case executeTransition:
		s.keys.ExecuteTransition(ev.ID)
	case prepareEpoch:
		out, err = s.keys.PrepareEpoch(ev.Version, ev.Epoch)
	case binaryMessage:
		out, err = s.keys.Receive(ev.op, ev.payload, now)
	case overdue:
		if s.keys.ExecuteOverdue(ev.now) {
			err = errors.New("the server announced new keys and did not say when to use them: using them")
		}
	case deaf:
		out, err = s.keys.Deaf(ev.now)
	}
	return append(fromDAVE(out), trouble(err)...)
}

// trouble sorts the errors of package dave: most are for the log.
func trouble(err error) []action {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, dave.ErrUnencrypted), errors.Is(err, dave.ErrHopeless):
		return []action{fail{fmt.Errorf("%w: %w", errRefused, err)}}
	}
	return []action{note{slog.LevelWarn, err}}
}

// choose takes the best mode that the server has.
func (s *session) choose(r ready) []action {
	for _, mode := range rtp.Modes {
		if slices.Contains(r.Modes, mode) {
			s.ssrc, s.mode = r.SSRC, mode
			return []action{discover{r.IP, r.Port, r.SSRC}}
		}
	}
	return []action{fail{fmt.Errorf("%w: the server has none of our encryption modes %v: update the bot", errRefused, rtp.Modes)}}
}

// begin opens the line, with a request for the keys to it.
func (s *session) begin(d description) []action {
	if s.mode == "" || d.Mode != s.mode {
		return []action{fail{fmt.Errorf("%w: the server chose mode %q, we asked for %q", errStuck, d.Mode, s.mode)}}
	}
	out, err := s.keys.Begin(d.DAVE)
	if errors.Is(err, dave.ErrUnencrypted) {
		return trouble(err)
	}
	s.live = true
	list := []action{openLine{d.Mode, d.Key, s.ssrc}}
	return append(append(list, fromDAVE(out)...), trouble(err)...)
}

// numbered remembers the number of a message, to be resumed after. It says false
// for one that was here before: a resume may repeat it.
func (s *session) numbered(seq int) bool {
	if seq < 0 {
		return true
	}
	// 16 bits that wrap: what is up to half of them behind is old.
	if s.seqAck >= 0 && int16(uint16(seq)-uint16(s.seqAck)) <= 0 {
		return false
	}
	s.seqAck = seq
	return true
}
