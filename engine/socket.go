package engine

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// maxMessage bounds one message of a vendor's socket: a second of sound with its
// words' times in base64 is the longest.
const maxMessage = 4 << 20

// dialing is how long a vendor may take to open a socket. It takes 100 to 300 ms; one
// that takes longer than this would keep a table waiting at every turn.
const dialing = 2 * time.Second

// Dial opens a vendor's socket. A refusal is an [HTTPError] with the vendor's words.
// Compression stays off: sound does not compress, and 20 ms of it is not worth the
// time.
func Dial(ctx context.Context, client *http.Client, url string, header http.Header) (*websocket.Conn, error) {
	ctx, stop := context.WithTimeoutCause(ctx, dialing, fmt.Errorf("no connection within %v", dialing))
	defer stop()
	c, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client, HTTPHeader: header})
	if err != nil {
		if resp != nil && resp.StatusCode >= 400 {
			return nil, ReadHTTPError(resp)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	c.SetReadLimit(maxMessage)
	return c, nil
}
