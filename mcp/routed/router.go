package routed

import (
	"context"
	"errors"

	"github.com/glyphoxa/glyphoxa/mcp"
)

// A Router runs packets.
type Router struct {
	// Choose asks the quick model. It must return soon after ctx ends.
	Choose func(ctx context.Context, p Prompt) (string, error)
	// Review asks the stronger model. Nil takes the chooser's word.
	Review func(ctx context.Context, p Prompt) (string, error)
	// Ask asks a person about a choice of low confidence and waits for the
	// answer or for ctx; [ErrUndecided] is what it returns in the latter case. Nil
	// skips such choices.
	Ask func(ctx context.Context, c Choice) (bool, error)
	// Call runs a tool; it is the Call of a belt, or passes on to one.
	Call func(ctx context.Context, c Choice) mcp.Result
}

// Route takes a packet to its end. Whatever goes wrong on the way ends up in the
// packet: an NPC without a tool can still say that it does not know.
func (r Router) Route(ctx context.Context, p *Packet) {
	action := p.Step(Begin{})
	for {
		switch a := action.(type) {
		case Choose:
			text, err := r.Choose(ctx, a.Prompt)
			action = p.Step(Chosen{text, err})
		case Review:
			text, err := r.Review(ctx, a.Prompt)
			action = p.Step(Reviewed{text, err})
		case Ask:
			yes, err := r.Ask(ctx, a.Choice)
			if errors.Is(err, ErrUndecided) {
				action = p.Step(Undecided{})
				continue
			}
			action = p.Step(Answered{yes && err == nil})
		case Call:
			if err := context.Cause(ctx); err != nil {
				action = p.Step(Called{mcp.Result{Err: errors.Join(errLate, err), Text: "There was no time left for it."}})
				continue
			}
			action = p.Step(Called{r.Call(ctx, a.Choice)})
		default:
			return
		}
	}
}

// ErrUndecided means that the person who was asked has not answered in time.
var ErrUndecided = errors.New("not decided yet")

var errLate = errors.New("the turn was over before the tool could run")

// Packet makes a packet that fits what the router can do.
func (r Router) Packet(id, request string, tools []mcp.Tool, rounds int) *Packet {
	return New(id, request, tools, Options{Review: r.Review != nil, Ask: r.Ask != nil, Rounds: rounds})
}
