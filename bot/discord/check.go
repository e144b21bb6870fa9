package discord

import (
	"context"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Check asks Discord whether a session could begin: it tries the token, counts the
// logins that are left today and looks for the server. It does not log in.
func Check(ctx context.Context, o Options) (string, error) {
	a, err := New(o)
	if err != nil {
		return "", err
	}
	with := discordgo.WithContext(ctx)
	me, err := a.session.User("@me", with)
	if err != nil {
		return "", explain(err)
	}
	gate, err := a.session.GatewayBot(with)
	if err != nil {
		return "", explain(err)
	}
	left := gate.SessionStartLimit
	if left.Remaining == 0 {
		return "", fmt.Errorf("discord: no logins are left today; wait %v", time.Duration(left.ResetAfter)*time.Millisecond)
	}
	where := "every server it is in"
	if o.Guild != "" {
		g, err := a.session.Guild(o.Guild, with)
		if err != nil {
			return "", explain(err)
		}
		where = g.Name
	}
	return fmt.Sprintf("logged in as %s for %s, %d of %d logins left today", me.Username, where, left.Remaining, left.Total), nil
}
