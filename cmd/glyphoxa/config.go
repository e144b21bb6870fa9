package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/glyphoxa/glyphoxa/bot"
	"github.com/glyphoxa/glyphoxa/campaigns/strict"
	"github.com/glyphoxa/glyphoxa/engine"
	"github.com/glyphoxa/glyphoxa/mcp"
	"github.com/glyphoxa/glyphoxa/secret"
)

// configFile is read from the working directory if no other is named.
const configFile = "glyphoxa.yaml"

// config is glyphoxa.yaml. The zero configuration plus [defaults] is what runs
// without any file; glyphoxa.yaml.example spells it out.
type config struct {
	// Campaign is the name of a shipped campaign, or a campaign folder's path.
	Campaign string `yaml:"campaign" strict:"max=4096"`
	// Data is the folder for memory, logs and recordings. "" is
	// $XDG_DATA_HOME/glyphoxa, usually ~/.local/share/glyphoxa.
	Data string `yaml:"data" strict:"max=4096"`
	// Listen is the console's address. Anything but loopback is refused.
	Listen string `yaml:"listen" strict:"max=256"`
	// Hosts are the names under which a reverse proxy serves the page.
	Hosts []string `yaml:"hosts" strict:"max=20"`

	LLM provider `yaml:"llm"`
	// LLMFallback are asked when LLM fails or is later than usual, in their order.
	LLMFallback []provider `yaml:"llm_fallback" strict:"max=4"`
	STT         provider   `yaml:"stt"`
	TTS         provider   `yaml:"tts"`
	// S2S plays the NPCs whose campaign says engine: s2s.
	S2S provider `yaml:"s2s"`

	// FastLLM is a quick model that opens answers, as SentenceCascade says: off,
	// auto (where they are expected to be late) or always.
	FastLLM         provider        `yaml:"fast_llm"`
	SentenceCascade bot.CascadeMode `yaml:"sentence_cascade" strict:"oneof=off|auto|always"`

	Hearing hearingConfig `yaml:"hearing"`

	Tools   toolsConfig   `yaml:"tools"`
	Web     webConfig     `yaml:"web"`
	Image   imageConfig   `yaml:"image"`
	Routing routingConfig `yaml:"routing"`
	MCP     mcpConfig     `yaml:"mcp"`
	Memory  memoryConfig  `yaml:"memory"`

	Budget  budgetConfig  `yaml:"budget"`
	Observe observeConfig `yaml:"observe"`

	Discord discordConfig `yaml:"discord"`
}

// discordConfig is the Discord application.
type discordConfig struct {
	// Token is the bot's token, as ${NAME} or file:PATH.
	Token secret.Text `yaml:"token"`
	// Guild is the id of the one server to serve; "" serves every server that
	// the bot is in.
	Guild string `yaml:"guild" strict:"max=20"`
	// DMRoles and DMUsers are ids of who may steer, besides administrators.
	DMRoles []string `yaml:"dm_roles" strict:"max=100"`
	DMUsers []string `yaml:"dm_users" strict:"max=100"`
	// Consent says what is done with the words of players who agreed.
	Consent string `yaml:"consent" strict:"oneof=off|live|transcript|audio"`
}

// provider is one vendor of models, recognition or voices.
type provider struct {
	// Provider is "auto" or a vendor's name.
	Provider string `yaml:"provider" strict:"max=64"`
	// URL is the base of an OpenAI-compatible server: http://localhost:11434/v1.
	URL string `yaml:"url" strict:"max=2048"`
	// Key is the vendor's key, as ${NAME} or file:PATH.
	Key secret.Text `yaml:"key"`
	// Model is the vendor's name of the model; "" takes a good one.
	Model string `yaml:"model" strict:"max=256"`
}

// hearingConfig says when somebody is taken to have finished.
type hearingConfig struct {
	// Patience is how long a pause may be: quick, normal or long. Players sets it for
	// some, by name or Discord id.
	Patience engine.Patience            `yaml:"patience"`
	Players  map[string]engine.Patience `yaml:"players" strict:"max=256"`
}

// toolsConfig says what tools may do to this machine. Dry run is the default.
type toolsConfig struct {
	AllowWrite   bool `yaml:"allow_write"`
	AllowExecute bool `yaml:"allow_execute"`
}

// routingConfig says how tools are chosen for models that cannot call them.
type routingConfig struct {
	// Reviewer is a stronger model that looks at every choice; without a provider
	// the chooser's own word counts.
	Reviewer provider `yaml:"reviewer"`
	// Below is what happens to choices of less than 0.7 confidence: skip, or ask
	// the game master.
	Below string `yaml:"below" strict:"oneof=skip|ask"`
	// Models says native or routed of models by a part of their names.
	Models map[string]string `yaml:"models" strict:"max=64"`
}

type mcpConfig struct {
	Servers []serverConfig `yaml:"servers" strict:"max=64"`
	// Constraints tie tools to what a player must be talking about.
	Constraints []constraintConfig `yaml:"constraints" strict:"max=64"`
	// FindAbove is how many tokens an NPC's tools may cost before those of servers
	// have to be asked for with find_tools. Zero shows all, always.
	FindAbove int `yaml:"find_above" strict:"min=0,max=1000000"`
	// LogArguments keeps the arguments of calls in the log, not only their shape.
	LogArguments bool `yaml:"log_arguments"`
}

// constraintConfig ties tools to words; see mcp.Constraint.
type constraintConfig struct {
	ID       string   `yaml:"id" strict:"required,max=64"`
	Keywords []string `yaml:"keywords" strict:"required,max=256"`
	Tools    []string `yaml:"tools" strict:"required,max=128"`
}

// serverConfig is one external tool server.
type serverConfig struct {
	Name      string `yaml:"name" strict:"required,max=32"`
	Transport string `yaml:"transport" strict:"required,oneof=stdio|streamable-http|sse"`
	// Command is an argument list, or one string that is split like a shell
	// would; it is never run by a shell.
	Command words             `yaml:"command"`
	Env     map[string]string `yaml:"env" strict:"max=64"`
	// PassEnv lists variables of our own environment that the server may see.
	PassEnv []string   `yaml:"pass_env" strict:"max=64"`
	URL     string     `yaml:"url" strict:"max=2048"`
	Auth    authConfig `yaml:"auth"`
	// Read and Write are files and folders that a child process may use besides
	// its own, Network lets it connect, Open lifts both limits.
	Read    []string `yaml:"read" strict:"max=64"`
	Write   []string `yaml:"write" strict:"max=64"`
	Network bool     `yaml:"network"`
	Open    bool     `yaml:"open"`
	// Insecure allows plain http to another machine.
	Insecure bool `yaml:"insecure"`
	// Category groups its tools: system, network or external.
	Category string `yaml:"category" strict:"oneof=system|network|external"`
	// Disabled servers are known and not started.
	Disabled bool `yaml:"disabled"`
	// Trusted servers are believed what they say about their tools.
	Trusted bool `yaml:"trusted"`
	// Calibrate measures tools that are declared harmless when the server
	// connects.
	Calibrate bool `yaml:"calibrate"`
	// Era is the kind of protocol it speaks: auto, legacy or modern.
	Era string `yaml:"era" strict:"oneof=auto|legacy|modern"`
	// Timeout bounds each call, within the tier's time.
	Timeout time.Duration `yaml:"timeout"`
	// Tools overrides single tools, by the server's own names for them.
	Tools map[string]toolOverride `yaml:"tools" strict:"max=128"`
}

// toolOverride is the operator's word on one tool of a server.
type toolOverride struct {
	// Tier is where the tool belongs, whatever is measured.
	Tier *mcp.Tier `yaml:"tier"`
	// Max bounds each call; Cache allows results to be reused for so long.
	Max   time.Duration `yaml:"max"`
	Cache time.Duration `yaml:"cache"`
	// ReadOnly and Idempotent say what the server does not, or denies.
	ReadOnly   *bool `yaml:"read_only"`
	Idempotent *bool `yaml:"idempotent"`
	// Description replaces the server's.
	Description string `yaml:"description" strict:"max=4096"`
	// Probe is a harmless and typical call to measure with, as JSON.
	Probe string `yaml:"probe" strict:"max=4096"`
	// RequiredScopes are OAuth scopes that the tool needs besides the server's.
	RequiredScopes []string `yaml:"required_scopes" strict:"max=64"`
	// Disabled tools are never used.
	Disabled bool `yaml:"disabled"`
}

// authConfig is how we prove to a remote tool server who we are.
type authConfig struct {
	Token secret.Text  `yaml:"token"`
	OAuth *oauthConfig `yaml:"oauth"`
}

// oauthConfig is an OAuth 2.1 client-credentials grant.
type oauthConfig struct {
	ClientID     string      `yaml:"client_id" strict:"required,max=512"`
	ClientSecret secret.Text `yaml:"client_secret"`
	TokenURL     string      `yaml:"token_url" strict:"max=2048"`
	Scopes       []string    `yaml:"scopes" strict:"max=64"`
}

type memoryConfig struct {
	// Store is "sqlite" or "postgres"; DSN is the latter's address.
	Store string      `yaml:"store" strict:"oneof=sqlite|postgres"`
	DSN   secret.Text `yaml:"dsn"`
	// Embeddings lets searches find what was meant besides what was said.
	Embeddings embeddingsConfig `yaml:"embeddings"`
	// Retention is how long things are kept.
	Retention retentionConfig `yaml:"retention"`
}

// embeddingsConfig is a model behind an OpenAI-compatible server. Without a URL
// searches go by words alone.
type embeddingsConfig struct {
	URL   string      `yaml:"url" strict:"max=2048"`
	Key   secret.Text `yaml:"key"`
	Model string      `yaml:"model" strict:"max=256"`
}

// defaults is the configuration without a file.
func defaults() config {
	return config{
		Campaign: "gilded-flagon",
		Listen:   "127.0.0.1:8420",
		Hosts:    []string{},
		LLM:      provider{Provider: "auto"}, LLMFallback: []provider{},
		STT:     provider{Provider: "auto"},
		TTS:     provider{Provider: "auto"},
		S2S:     provider{Provider: "auto"},
		FastLLM: provider{Provider: "none"}, SentenceCascade: bot.CascadeAuto,
		Hearing: hearingConfig{Players: map[string]engine.Patience{}},
		Routing: routingConfig{Below: "skip", Models: map[string]string{}},
		Memory:  memoryConfig{Store: "sqlite"},
		Budget:  budgetConfig{Prices: []priceConfig{}},
		Discord: discordConfig{Token: secret.Env("DISCORD_TOKEN"), Consent: "transcript"},
	}
}

// loadConfig reads the named file, or glyphoxa.yaml here if there is one, or
// nothing. The error lists everything that is wrong with it.
func loadConfig(path string) (config, error) {
	c := defaults()
	named := path != ""
	if !named {
		path = configFile
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, strict.MaxBytes+1))
	if err != nil {
		return c, fmt.Errorf("read the configuration: %w", err)
	}
	return c, strict.Decode(path, data, &c).Err()
}

// dataDir is the folder for everything that is kept; it is made if need be.
func (c config) dataDir() (string, error) {
	dir := c.Data
	if dir == "" {
		base := os.Getenv("XDG_DATA_HOME")
		if base == "" {
			home, err := os.UserHomeDir()
			if err != nil {
				return "", fmt.Errorf("find a folder for memory: %w; set data: in %s", err, configFile)
			}
			base = filepath.Join(home, ".local", "share")
		}
		dir = filepath.Join(base, "glyphoxa")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for memory: %w; set data: in %s to one that can be written", err, configFile)
	}
	return dir, nil
}
