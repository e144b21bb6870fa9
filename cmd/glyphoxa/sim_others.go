package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"

	"github.com/glyphoxa/glyphoxa/bot/discord/discordtest"
)

// admit prints how another program can join the call: what Discord's gateway would
// have told it.
func (s *simulation) admit(name string) error {
	s.discord.Enter(s.id(name))
	at := s.calls.Admit(simNumber(discordtest.Guild), simNumber(discordtest.Channel), simNumber(s.id(name)))
	return s.ticket(name, map[string]string{"session": at.Session, "token": at.Token, "endpoint": at.Endpoint})
}

// login prints how another program can log in, to join the call by the gateway or
// to see what the bot does.
func (s *simulation) login(name string) error {
	return s.ticket(name, map[string]string{"token": s.discord.Token(s.id(name)), "api": s.discord.API()})
}

// ticket prints what another program needs, with the certificate that it has to
// trust.
func (s *simulation) ticket(name string, more map[string]string) error {
	path := filepath.Join(s.data, "certificate.pem")
	if err := os.WriteFile(path, s.calls.Certificate(), 0o600); err != nil {
		return err
	}
	maps.Copy(more, map[string]string{
		"guild": discordtest.Guild, "channel": discordtest.Channel, "user": s.id(name), "bot": discordtest.Bot, "certificate": path,
	})
	return json.NewEncoder(s.io.out).Encode(more)
}
