package enginetest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
)

func (s *rtSession) append(b []byte) {
	var q struct {
		Audio string `json:"audio"`
	}
	_ = json.Unmarshal(b, &q) // checked before
	raw, err := base64.StdEncoding.DecodeString(q.Audio)
	if err != nil || len(raw) > 15<<20 {
		s.complain("invalid_value", "audio", "Invalid 'audio'. Expected base64-encoded audio bytes of at most 15 MiB.")
		return
	}
	for ; len(raw) >= 2; raw = raw[2:] {
		s.buffer = append(s.buffer, int16(binary.LittleEndian.Uint16(raw)))
	}
}

func (s *rtSession) commit() {
	if ms := float64(len(s.buffer)) * 1000 / talkRate; ms < 100 {
		s.complain("input_audio_buffer_commit_empty", "", fmt.Sprintf("Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, but buffer only has %.2fms of audio.", ms))
		return
	}
	i := &rtItem{ID: s.id(), Type: "message", Role: "user", sound: s.buffer}
	s.buffer = nil
	s.send("input_audio_buffer.committed", m{"item_id": i.ID, "previous_item_id": s.lastID()})
	s.add(i)
}

func (s *rtSession) id() string { s.events++; return fmt.Sprintf("item_%d", s.events) }

func (s *rtSession) lastID() any {
	if n := len(s.items); n > 0 {
		return s.items[n-1].ID
	}
	return nil
}

// add puts an item at the conversation's end and says so.
func (s *rtSession) add(i *rtItem) {
	before := s.lastID()
	s.items = append(s.items, i)
	s.send("conversation.item.added", m{"item": i.wire("completed"), "previous_item_id": before})
	s.send("conversation.item.done", m{"item": i.wire("completed"), "previous_item_id": before})
}

// wire is an item as events show it.
func (i *rtItem) wire(status string) m {
	out := m{"id": i.ID, "type": i.Type, "object": "realtime.item", "status": status}
	switch i.Type {
	case "message":
		out["role"] = i.Role
		kind := m{"type": "input_text", "text": i.text}
		switch {
		case i.Role == "assistant" && i.remote:
			kind = m{"type": "output_audio", "transcript": i.text}
		case i.Role == "assistant":
			kind = m{"type": "output_text", "text": i.text}
		case i.sound != nil:
			kind = m{"type": "input_audio"}
		}
		out["content"] = []any{kind}
	case "function_call":
		out["call_id"], out["name"], out["arguments"] = i.callID, i.name, i.args
	case "function_call_output":
		out["call_id"], out["output"] = i.callID, i.output
	}
	return out
}

func (s *rtSession) create(b []byte) {
	var q struct {
		Item struct {
			ID      string `json:"id"`
			Type    string `json:"type"`
			Role    string `json:"role"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"content"`
			CallID string `json:"call_id"`
			Output string `json:"output"`
		} `json:"item"`
	}
	_ = json.Unmarshal(b, &q) // checked before
	i := &rtItem{ID: q.Item.ID, Type: q.Item.Type, Role: q.Item.Role, callID: q.Item.CallID, output: q.Item.Output}
	if i.ID == "" {
		i.ID = s.id()
	}
	switch n, _ := s.find(i.ID); {
	case n >= 0:
		s.complain("item_create_invalid_id", "item.id", fmt.Sprintf("Error adding item: an item with ID '%s' already exists in the conversation.", i.ID))
		return
	case len(i.ID) > 32:
		s.complain("string_above_max_length", "item.id", "Invalid 'item.id': string too long. Expected a string with maximum length 32.")
		return
	}
	switch i.Type {
	case "message":
		want := map[string]string{"user": "input_text", "system": "input_text", "assistant": "output_text"}[i.Role]
		for _, c := range q.Item.Content {
			if c.Type != want {
				s.complain("invalid_value", "item.content", fmt.Sprintf("Invalid value: '%s'. Supported values are: '%s'.", c.Type, want))
				return
			}
			i.text += c.Text
		}
	case "function_call_output":
		call := s.call(i.callID)
		if call == nil || call.answered {
			s.complain("invalid_tool_call_id", "item.call_id", fmt.Sprintf("Tool call ID '%s' not found in conversation.", i.callID))
			return
		}
		call.answered = true
	default:
		s.complain("invalid_value", "item.type", "this server takes messages and function call outputs")
		return
	}
	s.add(i)
}

func (s *rtSession) call(id string) *rtItem {
	for _, i := range s.items {
		if i.Type == "function_call" && i.callID == id {
			return i
		}
	}
	return nil
}

func (s *rtSession) truncate(b []byte) {
	var q struct {
		ItemID string `json:"item_id"`
		Index  int    `json:"content_index"`
		End    int    `json:"audio_end_ms"`
	}
	_ = json.Unmarshal(b, &q) // checked before
	_, i := s.find(q.ItemID)
	switch {
	case i == nil:
		s.complain("item_truncate_invalid_item_id", "item_id", fmt.Sprintf("Error truncating item: item with ID '%s' not found in conversation.", q.ItemID))
		return
	case !i.remote:
		s.complain("item_truncate_invalid_item_type", "item_id", "Only model output audio messages can be truncated.")
		return
	case q.End > len(i.sound)*1000/talkRate:
		s.complain("invalid_value", "audio_end_ms", fmt.Sprintf("Audio content of %dms is already shorter than %dms", len(i.sound)*1000/talkRate, q.End))
		return
	}
	at := q.End * talkRate / 1000
	i.sound = i.sound[:at]
	var kept []string
	for _, w := range i.words {
		if (w.from+w.to)/2 < at {
			kept = append(kept, w.text)
		}
	}
	i.text = strings.Join(kept, " ")
	s.send("conversation.item.truncated", m{"item_id": i.ID, "content_index": q.Index, "audio_end_ms": q.End})
}

func (s *rtSession) delete(b []byte) {
	var q struct {
		ItemID string `json:"item_id"`
	}
	_ = json.Unmarshal(b, &q) // checked before
	n, i := s.find(q.ItemID)
	if i == nil {
		s.complain("item_delete_invalid_item_id", "item_id", fmt.Sprintf("Error deleting item: the item with id '%s' does not exist.", q.ItemID))
		return
	}
	s.items = append(s.items[:n], s.items[n+1:]...)
	s.send("conversation.item.deleted", m{"item_id": i.ID})
}
