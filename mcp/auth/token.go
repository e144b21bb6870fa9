package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/oauth2"
)

// The ways to prove who we are (RFC 6749, 2.3.1, and OpenID Connect Core, 9).
const (
	basic = "client_secret_basic"
	post  = "client_secret_post"
	keyed = "private_key_jwt"
)

// method chooses the way both sides know.
func (c *Client) method(p place) (string, error) {
	offered := p.Methods
	if len(offered) == 0 {
		offered = []string{basic} // RFC 8414: what a missing list means
		if c.creds.Key != nil {
			return keyed, nil // whoever gave us a key means it to be used
		}
	}
	var ours []string
	if c.creds.Key != nil {
		ours = append(ours, keyed)
	}
	if c.creds.Secret != nil {
		ours = append(ours, basic, post)
	}
	for _, m := range ours {
		if slices.Contains(offered, m) {
			return m, nil
		}
	}
	return "", fmt.Errorf("oauth: the authorization server wants %s, and we can do %s", strings.Join(offered, " or "), strings.Join(ours, " or "))
}

// errScope means that the authorization server does not grant what was asked for.
var errScope = errors.New("oauth: a scope is refused")

// fetch asks for a token with the scopes and the extra ones, and says which it has.
func (c *Client) fetch(ctx context.Context, p place, scopes, extra []string) (t *oauth2.Token, granted []string, err error) {
	m, err := c.method(p)
	if err != nil {
		return nil, nil, err
	}
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {p.Resource}}
	if len(scopes) == 0 {
		scopes = p.Scopes
	}
	scopes = union(scopes, extra)
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	switch m {
	case post:
		form.Set("client_id", c.creds.ClientID)
		form.Set("client_secret", c.creds.Secret())
	case keyed:
		a, err := c.assertion(p, time.Now())
		if err != nil {
			return nil, nil, err
		}
		form.Set("client_id", c.creds.ClientID)
		form.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		form.Set("client_assertion", a)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if m == basic {
		// RFC 6749, 2.3.1: both are form-encoded first.
		req.SetBasicAuth(url.QueryEscape(c.creds.ClientID), url.QueryEscape(c.creds.Secret()))
	}
	now := time.Now()
	resp, err := c.http.Do(req)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, nil, fmt.Errorf("oauth: token: %w", err)
	}
	defer resp.Body.Close()
	t, granted, err = readToken(resp, now)
	if err == nil && granted == nil {
		granted = scopes // RFC 6749, 5.1: not said means as asked for
	}
	return t, granted, err
}

// readToken reads the answer of a token endpoint (RFC 6749, 5). granted is nil where
// it does not say which scopes the token has.
func readToken(resp *http.Response, now time.Time) (tok *oauth2.Token, granted []string, err error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata))
	if err != nil {
		return nil, nil, fmt.Errorf("oauth: token: %w", err)
	}
	var t struct {
		AccessToken string      `json:"access_token"`
		TokenType   string      `json:"token_type"`
		ExpiresIn   json.Number `json:"expires_in"`
		Scope       *string     `json:"scope"`
		Error       string      `json:"error"`
		Description string      `json:"error_description"`
	}
	err = json.Unmarshal(body, &t)
	switch {
	case t.Error == "invalid_scope":
		return nil, nil, fmt.Errorf("%w: %s", errScope, short(t.Description))
	case t.Error != "":
		return nil, nil, fmt.Errorf("oauth: token refused: %s", short(t.Error+" "+t.Description))
	case resp.StatusCode != http.StatusOK:
		return nil, nil, fmt.Errorf("oauth: token refused: status %s", resp.Status)
	case err != nil:
		return nil, nil, errors.New("oauth: token: the answer is not JSON") // its text may hold a token
	case t.AccessToken == "" || strings.ContainsFunc(t.AccessToken, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, nil, errors.New("oauth: token: the answer holds no usable token")
	case !strings.EqualFold(t.TokenType, "bearer"):
		return nil, nil, fmt.Errorf("oauth: token of type %q, want Bearer", short(t.TokenType))
	}
	tok = &oauth2.Token{AccessToken: t.AccessToken, TokenType: "Bearer"}
	if s, err := t.ExpiresIn.Float64(); err == nil && s > 0 {
		tok.Expiry = now.Add(time.Duration(min(s, 365*24*3600) * float64(time.Second)))
	}
	if t.Scope != nil {
		granted = append([]string{}, strings.Fields(*t.Scope)...)
	}
	return tok, granted, nil
}

// short is the printable start of somebody's words.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s[:min(len(s), 200)])
}

// assertion signs who we are (RFC 7523). Each is used once.
func (c *Client) assertion(p place, now time.Time) (string, error) {
	key, method, err := parseKey(c.creds.Key())
	if err != nil {
		return "", err
	}
	// The issuer itself, so that the assertion is worth nothing elsewhere. Where
	// only a token URL is known, it has to do.
	audience := p.Issuer
	if audience == "" {
		audience = p.TokenURL
	}
	a, err := jwt.NewWithClaims(method, jwt.RegisteredClaims{
		Issuer: c.creds.ClientID, Subject: c.creds.ClientID, Audience: jwt.ClaimStrings{audience},
		IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(time.Minute)), ID: rand.Text(),
	}).SignedString(key)
	if err != nil {
		return "", errors.New("oauth: the private key cannot sign")
	}
	return a, nil
}

// parseKey reads a PEM key. Its errors say nothing about what is in it.
func parseKey(text string) (crypto.Signer, jwt.SigningMethod, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil, nil, errors.New("oauth: the private key is not PEM")
	}
	var key any
	var err error
	switch block.Type {
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, nil, errors.New("oauth: the private key cannot be read; want PKCS #8, or an EC or RSA key, without a password")
	}
	switch k := key.(type) {
	case *ecdsa.PrivateKey:
		switch k.Curve {
		case elliptic.P256():
			return k, jwt.SigningMethodES256, nil
		case elliptic.P384():
			return k, jwt.SigningMethodES384, nil
		}
	case *rsa.PrivateKey:
		if k.N.BitLen() >= 2048 {
			return k, jwt.SigningMethodRS256, nil
		}
	case ed25519.PrivateKey:
		return k, jwt.SigningMethodEdDSA, nil
	}
	return nil, nil, errors.New("oauth: the private key is of a kind that is not used: want P-256, P-384, RSA of 2048 bits or more, or Ed25519")
}
