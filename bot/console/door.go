package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
)

// A Role is what somebody at the page may do.
type Role uint8

// The roles, from the least to the most.
const (
	Spectator Role = iota // watches and listens
	Player                // talks
	DM                    // steers
)

// String is the role's name on the page.
func (r Role) String() string {
	return [...]string{"spectator", "player", "dm"}[min(r, DM)]
}

// parseRole reads what String writes.
func parseRole(s string) (Role, error) {
	for _, r := range []Role{Spectator, Player, DM} {
		if strings.EqualFold(s, r.String()) {
			return r, nil
		}
	}
	return Spectator, fmt.Errorf("role %q: choose dm, player or spectator", s)
}

const (
	// maxSessions is a table of six, with a second device for some of them.
	maxSessions = 10
	// maxLinks bounds links that were made and never opened; the oldest goes.
	maxLinks = 32
	// linkLife is an evening: the link in the terminal may wait for the guests.
	linkLife = 12 * time.Hour
	// sessionLife is how long a browser may be away before it needs a new link.
	sessionLife = 24 * time.Hour
)

// door lets people in. It knows tokens only by their hash, so that nothing that
// shows its memory shows a key.
type door struct {
	mu       sync.Mutex // guards the two below
	links    []link
	sessions []*session // the one that came first, first
}

type link struct {
	hash  [sha256.Size]byte
	role  Role
	name  string
	until time.Time
}

// A session is one browser that was let in.
type session struct {
	hash [sha256.Size]byte
	role Role
	// person is who speaks unless the DM chose another name.
	person bot.Person
	// csrf has to come back with every action; it never leaves the page.
	csrf string
	pace bucket

	mu   sync.Mutex // guards the two below
	seen time.Time
	open map[string]int // by kind of stream
}

// Link makes a login link for one person, to be opened once in a browser that
// reaches the console at base, such as "http://127.0.0.1:7733". name is what the
// person is called at the table; "" is allowed for the DM and for spectators.
func (c *Console) Link(base string, role Role, name string) string {
	token := rand.Text()
	c.door.mu.Lock()
	defer c.door.mu.Unlock()
	c.door.links = append(c.door.links, link{sha256.Sum256([]byte(token)), role, name, time.Now().Add(linkLife)})
	if n := len(c.door.links); n > maxLinks {
		c.door.links = slices.Delete(c.door.links, 0, n-maxLinks)
	}
	return strings.TrimSuffix(base, "/") + "/login?token=" + token
}

// admit turns a link's token into a session; each works once. Comparing hashes
// tells nothing about the token, however long the comparison takes.
func (d *door) admit(token string, now time.Time, dm bot.Person) (string, *session, bool) {
	hash := sha256.Sum256([]byte(token))
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.links, func(l link) bool { return l.hash == hash })
	if i < 0 || now.After(d.links[i].until) {
		return "", nil, false
	}
	l := d.links[i]
	d.links = slices.Delete(d.links, i, i+1)
	key := rand.Text()
	s := &session{
		hash: sha256.Sum256([]byte(key)), role: l.role, person: named(l.name, l.role, dm),
		csrf: rand.Text(), seen: now, open: map[string]int{},
	}
	d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return now.Sub(s.lastSeen()) > sessionLife })
	if len(d.sessions) >= maxSessions {
		away := slices.MinFunc(d.sessions, func(a, b *session) int { return a.lastSeen().Compare(b.lastSeen()) })
		d.sessions = slices.DeleteFunc(d.sessions, func(s *session) bool { return s == away })
	}
	d.sessions = append(d.sessions, s)
	return key, s, true
}

// find is the session of a cookie's value, or nil.
func (d *door) find(key string, now time.Time) *session {
	hash := sha256.Sum256([]byte(key))
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.sessions, func(s *session) bool { return s.hash == hash })
	if i < 0 || now.Sub(d.sessions[i].lastSeen()) > sessionLife {
		return nil
	}
	d.sessions[i].touch(now)
	return d.sessions[i]
}

func (s *session) lastSeen() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

func (s *session) touch(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = now
}

// hold counts one more open stream of that kind, up to limit.
func (s *session) hold(kind string, limit int) (release func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[kind] >= limit {
		return nil, false
	}
	s.open[kind]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open[kind]--
		s.seen = time.Now()
	}, true
}

// named is the person that a name at the page stands for. The same name is the
// same person on every device, so that NPCs go on knowing them.
func named(name string, role Role, dm bot.Person) bot.Person {
	name = oneLine(name)
	if role == DM && (name == "" || strings.EqualFold(name, dm.Name)) {
		return dm
	}
	if name == "" {
		name = "Guest"
	}
	return bot.Person{ID: "player-" + slug(name), Name: name, DM: role == DM}
}

// slug makes an id of a name: letters and digits in lower case, dashes between.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return strings.ContainsRune(" -_.,;:'\"/\\<>&", r)
	})
	return strings.Join(words, "-")
}

// cookieName differs by port, because browsers share cookies between the ports
// of a host and two tables may run side by side.
func cookieName(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		return "glyphoxa"
	}
	return "glyphoxa-" + port
}

// login turns a one-time link into a cookie. It answers with a page that leads
// on instead of a redirect: after a redirect from another site the browser would
// hold the strict cookie back.
func (c *Console) login(w http.ResponseWriter, r *http.Request) {
	key, s, ok := c.door.admit(r.URL.Query().Get("token"), time.Now(), c.dm)
	if !ok {
		if c.session(r) != nil { // the same link again, from history
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		c.log.Warn("login refused", "from", r.RemoteAddr)
		c.refuse(w, r, http.StatusForbidden, errUsedLink)
		return
	}
	c.log.Info("login", "role", s.role.String(), "name", s.person.Name, "from", r.RemoteAddr)
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: key, Path: "/",
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil,
	})
	c.render(w, r, http.StatusOK, welcome(s.person.Name))
}

var (
	errUsedLink = errors.New("this login link was used already, is too old or is incomplete: copy the newest one from the terminal, or ask the game master for another")
	errNoLogin  = errors.New("this browser is not logged in: open the link that glyphoxa prints in the terminal, or ask the game master for one")
)

// session is who asks, or nil.
func (c *Console) session(r *http.Request) *session {
	k, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil
	}
	return c.door.find(k.Value, time.Now())
}

type sessionKey struct{}

// only lets a request through to next if its browser has at least that role.
func (c *Console) only(least Role, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := c.session(r)
		switch {
		case s == nil:
			c.refuse(w, r, http.StatusUnauthorized, errNoLogin)
		case s.role < least:
			c.refuse(w, r, http.StatusForbidden, fmt.Errorf("this needs the role %q and yours is %q: ask the game master for another link", least, s.role))
		default:
			next(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
		}
	})
}

// who is the session that [Console.only] found.
func who(r *http.Request) *session { return r.Context().Value(sessionKey{}).(*session) }
