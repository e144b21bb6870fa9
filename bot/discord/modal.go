package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/glyphoxa/glyphoxa/bot"
)

// discordgo v0.29.0 knows neither labels (18) nor file uploads (19) in modals. Both
// are written and read here as plain JSON, as Discord's "Component Reference" has
// them.
const (
	labelType  = discordgo.ComponentType(18)
	uploadType = discordgo.ComponentType(19)
)

// maxUpload is the largest file that is taken: campaigns with portraits have a few
// megabytes, and Discord lets most people send ten.
const maxUpload = 10 << 20

// uploadTime bounds a download from Discord.
const uploadTime = 30 * time.Second

// A modal asks for something in a window.
type modal struct {
	id, title string
	fields    []field
}

// A field is one question in a modal.
type field struct {
	name, label string
	long        bool
	most        int // characters
	// files are the endings of files that may be uploaded; none makes it a text.
	files []string
}

// raw is a component that discordgo has no type for.
type raw map[string]any

// Type is what Discord calls it.
func (r raw) Type() discordgo.ComponentType { return r["type"].(discordgo.ComponentType) }

// MarshalJSON writes it as it is.
func (r raw) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]any(r)) }

// response shows the modal.
func (m *modal) response() *discordgo.InteractionResponse {
	d := &discordgo.InteractionResponseData{CustomID: m.id, Title: short(m.title, 45)}
	for _, f := range m.fields {
		inner := raw{"type": discordgo.TextInputComponent, "custom_id": f.name, "style": discordgo.TextInputShort, "required": true, "max_length": f.most}
		if f.long {
			inner["style"] = discordgo.TextInputParagraph
		}
		if f.files != nil {
			inner = raw{"type": uploadType, "custom_id": f.name, "min_values": 1, "max_values": 1, "required": true, "file_types": f.files}
		}
		d.Components = append(d.Components, raw{"type": labelType, "label": short(f.label, 45), "component": inner})
	}
	return &discordgo.InteractionResponse{Type: discordgo.InteractionResponseModal, Data: d}
}

// An upload is a file that somebody sent.
type upload struct {
	Filename string
	Size     int64
	URL      string
}

// submission is a filled modal as Discord sends it.
type submission struct {
	discordgo.Interaction

	modal struct {
		CustomID   string `json:"custom_id"`
		Components []struct {
			Component struct {
				CustomID string   `json:"custom_id"`
				Value    string   `json:"value"`
				Values   []string `json:"values"`
			} `json:"component"`
		} `json:"components"`
		Resolved struct {
			Attachments map[string]upload `json:"attachments"`
		} `json:"resolved"`
	}
}

// UnmarshalJSON reads what discordgo would refuse, without the data that it would
// refuse it for.
func (s *submission) UnmarshalJSON(b []byte) error {
	var v struct {
		ID        string            `json:"id"`
		AppID     string            `json:"application_id"`
		Type      int               `json:"type"`
		Data      json.RawMessage   `json:"data"`
		GuildID   string            `json:"guild_id"`
		ChannelID string            `json:"channel_id"`
		Member    *discordgo.Member `json:"member"`
		Locale    discordgo.Locale  `json:"locale"`
		Token     string            `json:"token"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	s.Interaction = discordgo.Interaction{
		ID: v.ID, AppID: v.AppID, Type: discordgo.InteractionType(v.Type), GuildID: v.GuildID, ChannelID: v.ChannelID,
		Member: v.Member, Locale: v.Locale, Token: v.Token,
	}
	if s.Type != discordgo.InteractionModalSubmit {
		return nil
	}
	return json.Unmarshal(v.Data, &s.modal)
}

// raw takes events that discordgo cannot read: submitted modals with labels.
func (a *App) raw(e *discordgo.Event) {
	if e.Type != "INTERACTION_CREATE" {
		return
	}
	var s submission
	if err := json.Unmarshal(e.RawData, &s); err != nil || s.Type != discordgo.InteractionModalSubmit {
		return
	}
	a.post(func() { a.submitted(&s) })
}

// submitted takes a filled modal.
func (a *App) submitted(s *submission) {
	c, ok := a.callOf(&s.Interaction)
	if !ok {
		return
	}
	for _, f := range s.modal.Components {
		c.args[f.Component.CustomID] = f.Component.Value
		for _, id := range f.Component.Values {
			if u, ok := s.modal.Resolved.Attachments[id]; ok {
				c.file = &u
			}
		}
	}
	a.press(c, s.modal.CustomID)
}

// hosts are where Discord keeps uploads. Nothing else is fetched, whatever an
// interaction says.
var hosts = []string{"cdn.discordapp.com", "media.discordapp.net"}

// fetch downloads an uploaded file.
func (a *App) fetch(ctx context.Context, u *upload) ([]byte, error) {
	switch at, err := parseURL(u); {
	case u == nil:
		return nil, bot.Refuse("no file was sent: choose one in the window")
	case u.Size > maxUpload:
		return nil, bot.Refuse("%s has %d bytes; at most %d are read", u.Filename, u.Size, maxUpload)
	case err != nil || at.Scheme != "https" || !slices.Contains(hosts, at.Hostname()):
		return nil, bot.Refuse("Discord says that the file is somewhere it does not keep files")
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.URL, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if a.o.HTTP != nil {
		client.Transport = a.o.HTTP.Transport
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch the file from Discord: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the file from Discord: %s", strings.ToLower(resp.Status))
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxUpload+1))
	if err == nil && len(b) > maxUpload {
		err = bot.Refuse("%s has more than %d bytes, which are the most that are read", u.Filename, maxUpload)
	}
	return b, err
}

func parseURL(u *upload) (*url.URL, error) {
	if u == nil {
		return nil, nil
	}
	return url.Parse(u.URL)
}
