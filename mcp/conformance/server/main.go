// Command server is what the conformance suite of the Model Context Protocol
// judges a server by: it has every tool, prompt and resource that a scenario asks
// for, and serves them with the code that 'glyphoxa tools serve' uses.
//
// A server of tools cannot be asked for prompts, or to ask its client something.
// Here it can, so that nothing of how we serve is left unjudged. See ../run.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"

	"github.com/glyphoxa/glyphoxa/mcp/serve"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

// run serves at a free port, which it writes to standard output.
func run(ctx context.Context) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return serve.Listen(ctx, fixture(), l, serve.Options{})
}

// fixture is a server with everything that the scenarios ask for.
func fixture() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "glyphoxa-conformance", Version: "1"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{
			Logging:   &sdk.LoggingCapabilities{},
			Tools:     &sdk.ToolCapabilities{ListChanged: true},
			Prompts:   &sdk.PromptCapabilities{ListChanged: true},
			Resources: &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
		},
		CompletionHandler: func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
			return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{"paris", "park", "party"}, Total: 3}}, nil
		},
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	addContent(s)
	addPrompts(s)
	addResources(s)
	addQuestions(s)
	addRounds(s)
	addBehaviour(s)
	return s
}
