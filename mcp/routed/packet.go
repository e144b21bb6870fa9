package routed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
)

const (
	// Threshold is the confidence from which a choice is carried out.
	Threshold = 0.7
	// Unapproved is the most confidence that a choice keeps which the reviewer
	// did not approve.
	Unapproved = 0.5
	// MaxReinjections is how often a packet may go round.
	MaxReinjections = 3
	// maxAnswer is the most of a model's choice that is read: it is one small
	// object.
	maxAnswer = 16 << 10
	// maxTrail bounds the audit trail: three rounds of five steps, and slack.
	maxTrail = 32
)

// A Status is how far a packet's tool has come.
type Status string

// The states of a packet.
const (
	Pending            Status = "pending"             // chosen, or not yet
	AwaitingConfidence Status = "awaiting_confidence" // before the reviewer, or a person
	Approved           Status = "approved"            // about to run
	Executed           Status = "executed"
	Failed             Status = "failed"
	Skipped            Status = "skipped"     // no tool, or too little confidence
	UserDenied         Status = "user_denied" // a person said no
)

// A Choice is a tool that a model would use.
type Choice struct {
	Tool       string          `json:"tool"`
	Params     json.RawMessage `json:"params,omitempty"`
	Reasoning  string          `json:"reasoning,omitempty"`
	Confidence float64         `json:"confidence"`
}

// A Result is what a tool gave.
type Result struct {
	Success bool          `json:"success"`
	Output  string        `json:"output,omitempty"`
	Error   string        `json:"error,omitempty"`
	Took    time.Duration `json:"took"`
}

// An Entry is one step of a packet's audit trail.
type Entry struct {
	Step       string  `json:"step"`
	Summary    string  `json:"summary"`
	Confidence float64 `json:"confidence"`
}

// A Packet is one request on its way to a tool and back.
type Packet struct {
	ID      string `json:"id"`
	Request string `json:"request"`
	// NeedsTool is set while a tool may still help.
	NeedsTool        bool     `json:"needs_tool"`
	Selected         *Choice  `json:"selected_tool,omitempty"`
	Alternatives     []Choice `json:"alternatives,omitempty"`
	ReviewConfidence float64  `json:"review_confidence"`
	ReviewReasoning  string   `json:"review_reasoning,omitempty"`
	Status           Status   `json:"status"`
	Result           *Result  `json:"result,omitempty"`
	Reinjections     int      `json:"reinjection_count"`
	Trail            []Entry  `json:"trail,omitempty"`

	tools    []mcp.Tool
	reviewed bool // there is a reviewer
	asked    bool // there is somebody to ask
	rounds   int  // calls that may be made
	made     []string
	found    []string
}

// Options say who takes part in routing.
type Options struct {
	// Review is set if a stronger model looks at every choice.
	Review bool
	// Ask is set if a person can be asked about a choice of low confidence.
	Ask bool
	// Rounds is how many calls may be made, at most [MaxReinjections]. Zero is 1.
	Rounds int
}

// New is a packet for a request, before anything has happened.
func New(id, request string, tools []mcp.Tool, o Options) *Packet {
	return &Packet{
		ID: id, Request: request, Status: Pending, tools: tools, reviewed: o.Review, asked: o.Ask,
		rounds: min(max(o.Rounds, 1), MaxReinjections),
	}
}

// What a packet is told.
type (
	// Begin starts it.
	Begin struct{}
	// Chosen is the model's answer to [Choose], or why there is none.
	Chosen struct {
		Text string
		Err  error
	}
	// Reviewed is the reviewer's answer to [Review].
	Reviewed struct {
		Text string
		Err  error
	}
	// Answered is a person's answer to [Ask].
	Answered struct{ Yes bool }
	// Undecided says that the person of [Ask] has not answered in time. The packet
	// ends and stays awaiting.
	Undecided struct{}
	// Called is what the tool of [Call] gave.
	Called struct{ Result mcp.Result }
)

// What a packet asks for.
type (
	// Choose asks a model for one JSON object.
	Choose struct{ Prompt Prompt }
	// Review asks the stronger model for one.
	Review struct{ Prompt Prompt }
	// Ask asks a person whether the choice may be carried out.
	Ask struct{ Choice Choice }
	// Call runs the tool.
	Call struct{ Choice Choice }
	// Done ends the packet.
	Done struct{}
)

// Step takes the packet further: it is told what happened and says what to do.
// Anything that does not fit the packet's state ends it.
func (p *Packet) Step(event any) (action any) {
	switch e := event.(type) {
	case Begin:
		p.NeedsTool = Needed(p.Request, p.tools)
		if !p.NeedsTool {
			return p.skip("intent", "nothing in the request asks for a tool", 1)
		}
		p.note("intent", "a tool may help", 1)
		return p.choose()
	case Chosen:
		if p.Status != Pending {
			break
		}
		return p.chosen(e)
	case Reviewed:
		if p.Status != AwaitingConfidence {
			break
		}
		return p.judge(e)
	case Answered:
		if p.Status != AwaitingConfidence || p.Selected == nil {
			break
		}
		if !e.Yes {
			p.Status = UserDenied
			p.note("ask", p.Selected.Tool+" was refused", 0)
			return Done{}
		}
		return p.approve("a person allowed it")
	case Undecided:
		if p.Status != AwaitingConfidence || p.Selected == nil {
			break
		}
		p.note("ask", "nobody has decided on "+p.Selected.Tool+" yet", p.ReviewConfidence)
		return Done{}
	case Called:
		if p.Status != Approved || p.Selected == nil {
			break
		}
		return p.called(e.Result)
	}
	return p.skip("order", fmt.Sprintf("%T does not belong into state %s", event, p.Status), 0)
}

func (p *Packet) choose() any {
	p.Status, p.Selected, p.Alternatives = Pending, nil, nil
	return Choose{selection(p.Request, p.tools, p.found)}
}

// chosen reads the model's choice.
func (p *Packet) chosen(e Chosen) any {
	if e.Err != nil {
		return p.skip("selection", "no choice: "+e.Err.Error(), 0)
	}
	c, alternatives, err := parseChoice(e.Text)
	switch {
	case err != nil:
		return p.skip("selection", "the choice cannot be read: "+err.Error(), 0)
	case c.Tool == "":
		p.NeedsTool = false
		return p.skip("selection", "no tool: "+c.Reasoning, c.Confidence)
	case !slices.ContainsFunc(p.tools, func(t mcp.Tool) bool { return t.Name == c.Tool }):
		return p.skip("selection", fmt.Sprintf("there is no tool %q", clip(c.Tool, 64)), 0)
	}
	if slices.Contains(p.made, key(c)) {
		return p.skip("selection", c.Tool+" was already called so", c.Confidence)
	}
	p.Selected, p.Alternatives = &c, alternatives
	p.note("selection", c.Tool+": "+c.Reasoning, c.Confidence)
	p.Status = AwaitingConfidence
	if p.reviewed {
		return Review{review(p.Request, c)}
	}
	return p.weigh(c.Confidence, "no reviewer; the chooser's own confidence")
}

// judge reads the reviewer's verdict.
func (p *Packet) judge(e Reviewed) any {
	var v struct {
		Approved   bool     `json:"approved"`
		Confidence *float64 `json:"confidence"`
		Reasoning  string   `json:"reasoning"`
	}
	if e.Err == nil {
		e.Err = decode(e.Text, &v)
	}
	switch {
	case e.Err != nil:
		return p.weigh(0, "no review: "+e.Err.Error())
	case v.Confidence == nil:
		return p.weigh(0, "the review names no confidence")
	}
	confidence := unit(*v.Confidence)
	if !v.Approved {
		confidence = min(confidence, Unapproved)
	}
	return p.weigh(confidence, clip(v.Reasoning, 300))
}

// weigh decides by confidence: run, ask or skip.
func (p *Packet) weigh(confidence float64, reasoning string) any {
	p.ReviewConfidence, p.ReviewReasoning = confidence, reasoning
	p.note("review", reasoning, confidence)
	switch {
	case confidence >= Threshold:
		return p.approve("confident enough")
	case p.asked:
		return Ask{*p.Selected}
	}
	return p.skip("confidence", fmt.Sprintf("%s: %.2f is less than %.1f", p.Selected.Tool, confidence, Threshold), confidence)
}

func (p *Packet) approve(why string) any {
	p.Status = Approved
	p.note("approval", why, p.ReviewConfidence)
	p.made = append(p.made, key(*p.Selected))
	return Call{*p.Selected}
}

// called takes the tool's result and decides whether to go round again.
func (p *Packet) called(r mcp.Result) any {
	p.Result = &Result{Success: r.Err == nil, Output: r.Text, Took: r.Took}
	p.Status = Executed
	summary := p.Selected.Tool + " answered"
	if r.Err != nil {
		p.Status, p.Result.Error = Failed, r.Err.Error()
		summary = p.Selected.Tool + " failed"
	}
	p.note("execution", summary, p.ReviewConfidence)
	p.found = append(p.found, p.Selected.Tool+": "+r.Text)
	p.Reinjections++
	if p.Reinjections >= p.rounds || r.Approval != nil {
		return Done{}
	}
	return p.choose()
}

// skip ends the packet. What was found before stays.
func (p *Packet) skip(step, why string, confidence float64) any {
	if len(p.found) == 0 {
		p.Status = Skipped
	} else if p.Result != nil && p.Result.Success {
		p.Status = Executed
	} else {
		p.Status = Failed
	}
	p.note(step, why, confidence)
	return Done{}
}

func (p *Packet) note(step, summary string, confidence float64) {
	if len(p.Trail) < maxTrail {
		p.Trail = append(p.Trail, Entry{step, clip(summary, 300), confidence})
	}
}

// Found is what tools found, for the brief: one entry for each call.
func (p *Packet) Found() []string { return p.found }

// key tells whether two calls are the same.
func key(c Choice) string {
	var b bytes.Buffer
	if json.Compact(&b, c.Params) != nil {
		return c.Tool + string(c.Params)
	}
	return c.Tool + b.String()
}

// parseChoice reads a model's choice: one JSON object, whatever stands around.
func parseChoice(text string) (c Choice, alternatives []Choice, err error) {
	var v struct {
		Tool         *string           `json:"selected_tool"`
		Params       json.RawMessage   `json:"params"`
		Reasoning    string            `json:"reasoning"`
		Confidence   *float64          `json:"confidence"`
		Alternatives []json.RawMessage `json:"alternatives"`
	}
	if err := decode(text, &v); err != nil {
		return c, nil, err
	}
	c.Reasoning, c.Confidence = clip(v.Reasoning, 300), 0.5
	if v.Confidence != nil {
		c.Confidence = unit(*v.Confidence)
	}
	if v.Tool == nil || *v.Tool == "" || strings.EqualFold(*v.Tool, "null") || strings.EqualFold(*v.Tool, "none") {
		return c, nil, nil
	}
	c.Tool = *v.Tool
	if c.Params = v.Params; len(c.Params) == 0 || string(c.Params) == "null" {
		c.Params = json.RawMessage("{}")
	}
	for _, a := range v.Alternatives[:min(len(v.Alternatives), 5)] {
		var one struct {
			Tool   string          `json:"tool"`
			Params json.RawMessage `json:"params"`
			Reason string          `json:"reason"`
		}
		if json.Unmarshal(a, &one) != nil && json.Unmarshal(a, &one.Tool) != nil {
			continue
		}
		alternatives = append(alternatives, Choice{Tool: clip(one.Tool, 64), Params: one.Params, Reasoning: clip(one.Reason, 200)})
	}
	return c, alternatives, nil
}

var errNoObject = errors.New("there is no JSON object")

// decode reads the first JSON object in text.
func decode(text string, v any) error {
	if len(text) > maxAnswer {
		return fmt.Errorf("longer than %d bytes", maxAnswer)
	}
	i := strings.IndexByte(text, '{')
	if i < 0 {
		return errNoObject
	}
	return json.NewDecoder(strings.NewReader(text[i:])).Decode(v)
}

// unit is f within 0 and 1; what is no number is no confidence.
func unit(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return min(max(f, 0), 1)
}

func clip(s string, n int) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
