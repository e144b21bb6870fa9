package s2s

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/engine"
)

// lvServer is any message of the vendor's; several fields may be set in one.
type lvServer struct {
	SetupComplete *struct{} `json:"setupComplete"`
	Content       *struct {
		ModelTurn struct {
			Parts []struct {
				InlineData *lvBlob `json:"inlineData"`
			} `json:"parts"`
		} `json:"modelTurn"`
		Transcription *struct {
			Text     string `json:"text"`
			Finished bool   `json:"finished"`
		} `json:"outputTranscription"`
		Generated   bool   `json:"generationComplete"`
		Complete    bool   `json:"turnComplete"`
		Reason      string `json:"turnCompleteReason"`
		Interrupted bool   `json:"interrupted"`
	} `json:"serverContent"`
	ToolCall *struct {
		Calls []struct {
			ID   string          `json:"id"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"functionCalls"`
	} `json:"toolCall"`
	Cancellation *struct {
		IDs []string `json:"ids"`
	} `json:"toolCallCancellation"`
	Usage  *lvUsage `json:"usageMetadata"`
	GoAway *struct {
		Left string `json:"timeLeft"`
	} `json:"goAway"`
	Resumption *struct {
		Handle    string `json:"newHandle"`
		Resumable bool   `json:"resumable"`
	} `json:"sessionResumptionUpdate"`
}

type lvUsage struct {
	Prompt   int `json:"promptTokenCount"`
	Response int `json:"responseTokenCount"`
	Cached   int `json:"cachedContentTokenCount"`
	Thoughts int `json:"thoughtsTokenCount"`
	// In and Out say of which kind the tokens are.
	In  []lvTokens `json:"promptTokensDetails"`
	Out []lvTokens `json:"responseTokensDetails"`
}

type lvTokens struct {
	Modality string `json:"modality"`
	Count    int    `json:"tokenCount"`
}

func (u *lvUsage) usage() engine.Usage {
	out := engine.Usage{In: u.Prompt, CachedIn: u.Cached, Out: u.Response + u.Thoughts}
	for _, t := range u.In {
		if t.Modality == "AUDIO" {
			out.AudioIn += t.Count
		}
	}
	for _, t := range u.Out {
		if t.Modality == "AUDIO" {
			out.AudioOut += t.Count
		}
	}
	return out
}

func (d *live) read(message []byte) (events []any, _ [][]byte) {
	var m lvServer
	if err := json.Unmarshal(message, &m); err != nil {
		return []any{evTrouble{fmt.Errorf("message: %w", err), false}}, nil
	}
	if m.SetupComplete != nil {
		events = append(events, evReady{})
	}
	if m.Usage != nil {
		events = append(events, evUsage{m.Usage.usage()})
	}
	if m.Cancellation != nil {
		events = append(events, evCancelled{m.Cancellation.IDs})
	}
	if m.ToolCall != nil && d.stale == 0 {
		for _, c := range m.ToolCall.Calls {
			events = append(events, evCall{engine.Call{ID: c.ID, Name: c.Name, Args: arguments(string(c.Args))}})
		}
	}
	if m.Content != nil {
		events = append(events, d.piece(&m)...)
	}
	if m.Resumption != nil {
		handle := ""
		if m.Resumption.Resumable {
			handle = m.Resumption.Handle
		}
		events = append(events, evHandle{handle})
	}
	if m.GoAway != nil {
		left, err := time.ParseDuration(m.GoAway.Left)
		if err != nil {
			left = 30 * time.Second // half of what is usual
		}
		events = append(events, evExpiring{left})
	}
	return events, nil
}

// piece reads a piece of an answer. Until the end of one that was interrupted has
// come, pieces are that one's.
func (d *live) piece(m *lvServer) (events []any) {
	c := m.Content
	if d.stale == 0 {
		for _, p := range c.ModelTurn.Parts {
			if p.InlineData != nil && strings.HasPrefix(p.InlineData.MIME, "audio/pcm") {
				events = append(events, evSound{"", d.odd.samples(p.InlineData.Data)})
			}
		}
		if c.Transcription != nil && c.Transcription.Text != "" {
			events = append(events, evWords{c.Transcription.Text})
		}
		switch {
		case c.Interrupted:
			events = append(events, evDone{fmt.Errorf("the vendor broke the answer off")})
		case c.Generated && c.Transcription != nil && c.Transcription.Finished, c.Complete:
			events = append(events, evDone{blocked(c.Reason)})
		case c.Generated:
			events = append(events, evLate{})
		}
	}
	if c.Complete {
		if d.stale > 0 {
			d.stale--
		} else {
			d.pending = false
		}
	}
	return events
}

// blocked is why an answer ended, if that was not its own end.
func blocked(reason string) error {
	switch reason {
	case "", "TURN_COMPLETE_REASON_UNSPECIFIED", "NEED_MORE_INPUT":
		return nil
	}
	return fmt.Errorf("the vendor ended the answer: %s", reason)
}
