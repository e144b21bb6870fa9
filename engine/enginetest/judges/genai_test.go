package judges

import (
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/genai"

	"github.com/glyphoxa/glyphoxa/engine/enginetest"
)

// Google's own client holds a conversation with our server.
func TestGooglesClientTalksToOurLive(t *testing.T) {
	fake := &enginetest.Live{Key: "hunter2", Answer: func(q enginetest.Turn) enginetest.Answer {
		if len(q.Tools) > 0 && len(q.Results) == 0 {
			return enginetest.Answer{Calls: []enginetest.ToolCall{{Name: q.Tools[0], Args: `{"dice":"1d20"}`}}}
		}
		return enginetest.Answer{Text: "It shows " + strings.Join(q.Results, "") + "."}
	}}
	server := httptest.NewServer(fake)
	defer server.Close()
	client, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "hunter2", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: strings.Replace(server.URL, "http", "ws", 1), APIVersion: "v1beta"},
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := func(name string) []*genai.Tool {
		return []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: name, Description: "Rolls."}}}}
	}
	s, err := client.Live.Connect(t.Context(), "gemini-3.8-live", &genai.LiveConnectConfig{
		ResponseModalities: []genai.Modality{genai.ModalityAudio}, Tools: tools("roll"),
		SystemInstruction:        &genai.Content{Parts: []*genai.Part{{Text: "Play."}}},
		OutputAudioTranscription: &genai.AudioTranscriptionConfig{},
		SessionResumption:        &genai.SessionResumptionConfig{},
		RealtimeInputConfig:      &genai.RealtimeInputConfig{AutomaticActivityDetection: &genai.AutomaticActivityDetection{Disabled: true}},
	})
	if err != nil {
		t.Fatalf("%v; our server closed for %q", err, fake.Closings())
	}
	defer s.Close()
	handle, text, calls, sound := "", "", []string(nil), 0
	until := func(ended func(*genai.LiveServerMessage) bool) {
		t.Helper()
		for {
			m, err := s.Receive()
			if err != nil {
				t.Fatalf("%v; our server closed for %q", err, fake.Closings())
			}
			if u := m.SessionResumptionUpdate; u != nil && u.Resumable {
				handle = u.NewHandle
			}
			if c := m.ServerContent; c != nil {
				if c.OutputTranscription != nil {
					text += c.OutputTranscription.Text
				}
				if c.ModelTurn != nil {
					sound += len(c.ModelTurn.Parts[0].InlineData.Data)
				}
			}
			if m.ToolCall != nil {
				for _, c := range m.ToolCall.FunctionCalls {
					calls = append(calls, c.Name)
					if err := s.SendToolResponse(genai.LiveToolResponseInput{FunctionResponses: []*genai.FunctionResponse{{ID: c.ID, Name: c.Name, Response: map[string]any{"output": "17"}}}}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if ended(m) {
				return
			}
		}
	}
	speak := func() {
		t.Helper()
		for _, in := range []genai.LiveRealtimeInput{
			{ActivityStart: &genai.ActivityStart{}},
			{Audio: &genai.Blob{MIMEType: "audio/pcm;rate=16000", Data: make([]byte, 32000)}},
			{ActivityEnd: &genai.ActivityEnd{}},
		} {
			if err := s.SendRealtimeInput(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	complete := func(m *genai.LiveServerMessage) bool { return m.ServerContent != nil && m.ServerContent.TurnComplete }
	speak()
	until(complete)
	if text != " It shows 17." || sound == 0 || strings.Join(calls, " ") != "roll" {
		t.Errorf("Google's client heard %q with %d bytes of sound and was asked for %v", text, sound, calls)
	}
	if err := s.SendContextUpdate(genai.LiveClientContextUpdate{Tools: &genai.LiveClientContextUpdateTools{Tools: tools("flip")}}); err != nil {
		t.Fatal(err)
	}
	speak()
	until(complete)
	if strings.Join(calls, " ") != "roll flip" {
		t.Errorf("after the update the calls are %v, want roll and flip", calls)
	}
	until(func(*genai.LiveServerMessage) bool { return handle != "" })
	s.Close()
	again, err := client.Live.Connect(t.Context(), "gemini-3.8-live", &genai.LiveConnectConfig{
		SessionResumption:   &genai.SessionResumptionConfig{Handle: handle},
		RealtimeInputConfig: &genai.RealtimeInputConfig{AutomaticActivityDetection: &genai.AutomaticActivityDetection{Disabled: true}},
	})
	if err != nil {
		t.Fatalf("resume: %v; our server closed for %q", err, fake.Closings())
	}
	again.Close()
	if _, resumed := fake.Sessions(); resumed != 1 || len(fake.Closings()) > 0 {
		t.Errorf("%d sessions were resumed, want 1; our server closed for %q", resumed, fake.Closings())
	}
}
