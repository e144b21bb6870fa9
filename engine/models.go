package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/glyphoxa/glyphoxa/secret"
)

// ListModels asks a server with OpenAI's API which models it has, at most 500 of
// them.
func ListModels(ctx context.Context, client *http.Client, url string, key secret.Text) ([]string, error) {
	const (
		maxBody   = 4 << 20 // OpenRouter's list has 1 MB
		maxModels = 500
	)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(url, "/")+"/models", nil)
	if err != nil {
		return nil, err
	}
	if !key.IsZero() {
		req.Header.Set("Authorization", "Bearer "+key.Reveal())
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, ReadHTTPError(resp)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s/models: %w", url, err)
	}
	var ids []string
	for _, m := range list.Data[:min(len(list.Data), maxModels)] {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}
