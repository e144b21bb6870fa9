package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// ClientCredentials is how we prove who we are to an authorization server. Secrets
// are functions, so that printing the struct shows none and a rotated secret is
// used at the next token.
type ClientCredentials struct {
	// ClientID names us.
	ClientID string
	// Secret is the shared secret, for basic and post. Key is a PEM private key,
	// for private_key_jwt, and comes first. Nil means that there is none.
	Secret, Key func() string
	// TokenURL and Scopes are used as they are where given; else they are
	// discovered from the server.
	TokenURL string
	Scopes   []string
	// Issuer, if set, is the only authorization server that these credentials are
	// ever sent to.
	Issuer string
}

// Fingerprint tells configurations apart without giving their secrets away.
func (c *ClientCredentials) Fingerprint() string {
	open := func(f func() string) string {
		if f == nil {
			return ""
		}
		return f()
	}
	b, err := json.Marshal([]any{c.ClientID, open(c.Secret), open(c.Key), c.TokenURL, c.Scopes, c.Issuer})
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
