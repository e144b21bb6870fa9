// Package registry keeps tool servers in a database table, mcp_server, so that they
// can be added and switched off while the program runs. The configuration file may
// name servers too, and wins where both do.
//
// The table holds no secrets: environment values and tokens are stored as the
// references the configuration uses, ${NAME} or file:PATH, and opened by whoever
// starts the server.
package registry

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/mcp/auth"
)

// A Server is one row.
type Server struct {
	Name      string            `json:"name"`
	Transport string            `json:"transport"`
	Command   string            `json:"command,omitempty"`
	Args      []string          `json:"args,omitempty"`
	Env       map[string]string `json:"env,omitempty"` // values may be references
	URL       string            `json:"url,omitempty"`
	Category  mcp.Category      `json:"category,omitempty"`
	Enabled   bool              `json:"enabled"`
	Added     time.Time         `json:"added"`
	Options
}

// Options are the rest of a server's configuration, in one JSON column.
type Options struct {
	Trusted   bool     `json:"trusted,omitempty"`
	Calibrate bool     `json:"calibrate,omitempty"`
	Read      []string `json:"read,omitempty"`
	Write     []string `json:"write,omitempty"`
	Network   bool     `json:"network,omitempty"`
	Open      bool     `json:"open,omitempty"`
	Insecure  bool     `json:"insecure,omitempty"`
	// Token, ClientSecret and PrivateKey are references.
	Token        string   `json:"token,omitempty"`
	ClientID     string   `json:"client_id,omitempty"`
	ClientSecret string   `json:"client_secret,omitempty"`
	PrivateKey   string   `json:"private_key,omitempty"`
	TokenURL     string   `json:"token_url,omitempty"`
	Scopes       []string `json:"scopes,omitempty"`
}

// A Book is the table. It is safe for concurrent use, also by several programs.
type Book struct {
	db *sql.DB
	// dollar says that placeholders are $1, as PostgreSQL has them.
	dollar bool
}

// maxServers bounds the table: people write it, and each row is a process.
const maxServers = 64

// Open makes the table if it is not there. postgres chooses the dialect; SQLite is
// the other.
func Open(ctx context.Context, db *sql.DB, postgres bool) (*Book, error) {
	b := &Book{db, postgres}
	_, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS mcp_server (
		name TEXT PRIMARY KEY,
		transport TEXT NOT NULL,
		command TEXT NOT NULL,
		args TEXT NOT NULL,
		env TEXT NOT NULL,
		url TEXT NOT NULL,
		category TEXT NOT NULL,
		enabled BOOLEAN NOT NULL,
		added TEXT NOT NULL,
		options TEXT NOT NULL)`)
	if err != nil {
		return nil, fmt.Errorf("table mcp_server: %w", err)
	}
	return b, nil
}

// bind writes the placeholders of a query as the database wants them.
func (b *Book) bind(query string) string {
	if !b.dollar {
		return query
	}
	var out strings.Builder
	n := 0
	for _, r := range query {
		if r == '?' {
			n++
			fmt.Fprintf(&out, "$%d", n)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// List returns all servers by name.
func (b *Book) List(ctx context.Context) ([]Server, error) {
	rows, err := b.db.QueryContext(ctx, `SELECT name, transport, command, args, env, url, category, enabled, added, options
		FROM mcp_server ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var list []Server
	for rows.Next() {
		var s Server
		var args, env, options, added string
		if err := rows.Scan(&s.Name, &s.Transport, &s.Command, &args, &env, &s.URL, &s.Category, &s.Enabled, &added, &options); err != nil {
			return nil, err
		}
		err := errors.Join(json.Unmarshal([]byte(args), &s.Args), json.Unmarshal([]byte(env), &s.Env), json.Unmarshal([]byte(options), &s.Options))
		if err != nil {
			return nil, fmt.Errorf("server %q in table mcp_server: %w", s.Name, err)
		}
		if s.Added, err = time.Parse(time.RFC3339, added); err != nil {
			return nil, fmt.Errorf("server %q in table mcp_server: %w", s.Name, err)
		}
		list = append(list, s)
	}
	return list, rows.Err()
}

// ErrExists means that there is a server of that name already.
var ErrExists = errors.New("there is a server of that name already")

// ErrUnknown means that there is no server of that name in the table.
var ErrUnknown = errors.New("no such server in the registry")

// Add stores a new server, after checking that it could be started. Where a value
// that is not a reference stands in place of a secret it is refused.
func (b *Book) Add(ctx context.Context, s Server) error {
	for what, ref := range map[string]string{"token": s.Token, "client_secret": s.ClientSecret, "private_key": s.PrivateKey} {
		if ref != "" && !isReference(ref) {
			return fmt.Errorf("%s: write ${NAME} for an environment variable or file:PATH, not the secret itself", what)
		}
	}
	c, err := s.config(func(string) (string, error) { return "", nil })
	if err != nil {
		return err
	}
	if err := c.Check(); err != nil {
		return err
	}
	list, err := b.List(ctx)
	if err != nil {
		return err
	}
	if len(list) >= maxServers {
		return fmt.Errorf("the registry holds %d servers at most; remove one", maxServers)
	}
	if slices.ContainsFunc(list, func(x Server) bool { return x.Name == s.Name }) {
		return fmt.Errorf("%s: %w", s.Name, ErrExists)
	}
	args, err1 := json.Marshal(s.Args)
	env, err2 := json.Marshal(s.Env)
	options, err3 := json.Marshal(s.Options)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	_, err = b.db.ExecContext(ctx, b.bind(`INSERT INTO mcp_server
		(name, transport, command, args, env, url, category, enabled, added, options) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
		s.Name, s.Transport, s.Command, string(args), string(env), s.URL, string(s.Category), s.Enabled, time.Now().UTC().Format(time.RFC3339), string(options))
	return err
}

// Enable switches a server on or off.
func (b *Book) Enable(ctx context.Context, name string, on bool) error {
	return b.one(b.db.ExecContext(ctx, b.bind(`UPDATE mcp_server SET enabled = ? WHERE name = ?`), on, name))
}

// Remove deletes a server.
func (b *Book) Remove(ctx context.Context, name string) error {
	return b.one(b.db.ExecContext(ctx, b.bind(`DELETE FROM mcp_server WHERE name = ?`), name))
}

// one reports an update that met no row.
func (b *Book) one(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := r.RowsAffected()
	if err == nil && n == 0 {
		return ErrUnknown
	}
	return err
}

func isReference(s string) bool {
	return strings.HasPrefix(s, "${") && strings.HasSuffix(s, "}") || strings.HasPrefix(s, "file:")
}

// Merge adds the registered servers to the configured ones. Where both name a
// server the configuration wins. open opens references to secrets; a server with
// one that cannot be opened is left out, and named in the error.
func Merge(configured []mcp.ServerConfig, registered []Server, open func(ref string) (string, error)) ([]mcp.ServerConfig, error) {
	all := slices.Clone(configured)
	var errs []error
	for _, s := range registered {
		if slices.ContainsFunc(configured, func(c mcp.ServerConfig) bool { return c.Name == s.Name }) {
			continue
		}
		c, err := s.config(open)
		if err != nil {
			errs = append(errs, fmt.Errorf("server %q: %w", s.Name, err))
			continue
		}
		all = append(all, c)
	}
	return all, errors.Join(errs...)
}

// config is the host's form of a row.
func (s Server) config(open func(ref string) (string, error)) (mcp.ServerConfig, error) {
	c := mcp.ServerConfig{
		Name: s.Name, Transport: s.Transport, URL: s.URL, Category: s.Category, Disabled: !s.Enabled,
		Trusted: s.Trusted, Calibrate: s.Calibrate, Read: s.Read, Write: s.Write, Network: s.Network,
		Open: s.Open, Insecure: s.Insecure, Env: map[string]string{},
	}
	if s.Command != "" {
		c.Command = append([]string{s.Command}, s.Args...)
	}
	for _, k := range slices.Sorted(maps.Keys(s.Env)) {
		v := s.Env[k]
		if isReference(v) {
			var err error
			if v, err = open(v); err != nil {
				return c, fmt.Errorf("env %s: %w", k, err)
			}
		}
		c.Env[k] = v
	}
	opened := func(ref string) (func() string, error) {
		if ref == "" {
			return nil, nil
		}
		v, err := open(ref)
		return func() string { return v }, err
	}
	var err error
	if c.Token, err = opened(s.Token); err != nil {
		return c, fmt.Errorf("token: %w", err)
	}
	if s.ClientID == "" {
		return c, nil
	}
	o := &auth.ClientCredentials{ClientID: s.ClientID, TokenURL: s.TokenURL, Scopes: s.Scopes}
	var errs [2]error
	o.Secret, errs[0] = opened(s.ClientSecret)
	o.Key, errs[1] = opened(s.PrivateKey)
	c.OAuth = o
	return c, errors.Join(errs[:]...)
}
