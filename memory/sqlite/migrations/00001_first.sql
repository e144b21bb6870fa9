-- +goose Up
CREATE TABLE campaign (
  id  INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE
);

-- Everybody who can hear or know something, and 'everyone'. Small numbers keep
-- the audience within the full-text index small.
CREATE TABLE actor (
  id       INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  key      TEXT NOT NULL,
  UNIQUE (campaign, key)
);

CREATE TABLE session (
  id       INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  key      TEXT NOT NULL,
  title    TEXT NOT NULL DEFAULT '',
  started  INTEGER NOT NULL,
  ended    INTEGER NOT NULL DEFAULT 0,
  lines    INTEGER NOT NULL DEFAULT 0, -- also the place of the next line
  UNIQUE (campaign, key)
);

-- seq is session << 32 | place in the session: neighbours in a conversation have
-- neighbouring numbers, and a session is a range of them.
CREATE TABLE line (
  seq        INTEGER PRIMARY KEY,
  campaign   INTEGER NOT NULL,
  key        TEXT NOT NULL,
  scene      TEXT NOT NULL DEFAULT '',
  speaker    INTEGER NOT NULL,
  name       TEXT NOT NULL,
  kind       TEXT NOT NULL,
  at         INTEGER NOT NULL,            -- microseconds since 1970
  duration   INTEGER NOT NULL DEFAULT 0,  -- microseconds
  text       TEXT NOT NULL,
  raw        TEXT NOT NULL DEFAULT '',
  confidence REAL NOT NULL DEFAULT 0,
  heard      TEXT NOT NULL DEFAULT '',    -- actors: ' 4 12 '
  meant      TEXT NOT NULL DEFAULT '',    -- actors: ' 4 '
  flags      INTEGER NOT NULL DEFAULT 0,  -- 1 cut, 2 whisper, 4 aside
  cut_at     INTEGER NOT NULL DEFAULT 0,
  UNIQUE (campaign, key)
);
CREATE INDEX line_speaker ON line (campaign, speaker, seq);
CREATE INDEX line_at ON line (campaign, at);

-- Who was told of a line that it did not hear.
CREATE TABLE told (
  line   INTEGER NOT NULL,
  who    INTEGER NOT NULL,
  since  INTEGER NOT NULL,
  teller INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (line, who)
) WITHOUT ROWID;

-- Contentless: terms come analysed from Go, aud holds who may see the row.
CREATE VIRTUAL TABLE line_index USING fts5 (
  text, aud, content='', contentless_delete=1, prefix='3', tokenize='unicode61 remove_diacritics 0'
);

CREATE TABLE entity (
  id       INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL,
  key      TEXT NOT NULL,
  kind     TEXT NOT NULL,
  name     TEXT NOT NULL,
  aliases  TEXT NOT NULL DEFAULT '[]',
  UNIQUE (campaign, key)
);

-- Every name and alias, folded, and as it sounds; also each word of them, whole = 0.
CREATE TABLE called (
  campaign INTEGER NOT NULL,
  fold     TEXT NOT NULL,
  sound    TEXT NOT NULL,
  whole    INTEGER NOT NULL,
  entity   INTEGER NOT NULL,
  PRIMARY KEY (campaign, fold, entity)
) WITHOUT ROWID;
CREATE INDEX called_sound ON called (campaign, sound);
CREATE INDEX called_entity ON called (entity);

-- What is true, or believed: an entity's text ('text'), a fact, an attribute or
-- a relation. A claim ends, it is not overwritten.
CREATE TABLE claim (
  id         INTEGER PRIMARY KEY,
  campaign   INTEGER NOT NULL,
  key        TEXT NOT NULL,
  form       TEXT NOT NULL,               -- text, fact, attribute, relation
  subject    TEXT NOT NULL,
  predicate  TEXT NOT NULL DEFAULT '',
  object     TEXT NOT NULL DEFAULT '',
  text       TEXT NOT NULL DEFAULT '',
  untrue     INTEGER NOT NULL DEFAULT 0,
  confidence REAL NOT NULL DEFAULT 1,
  source     TEXT NOT NULL DEFAULT '',    -- the line it rests on; '' is the campaign
  origin     TEXT NOT NULL DEFAULT '',    -- campaign, stated, inferred, told, confirmed
  status     TEXT NOT NULL DEFAULT 'accepted',
  valid_from INTEGER NOT NULL DEFAULT 0,
  valid_to   INTEGER NOT NULL DEFAULT 9223372036854775807
);
CREATE UNIQUE INDEX claim_open ON claim (campaign, key) WHERE valid_to = 9223372036854775807;
CREATE INDEX claim_key ON claim (campaign, key);
CREATE INDEX claim_subject ON claim (campaign, subject, form);
CREATE INDEX claim_object ON claim (campaign, object) WHERE object <> '';
CREATE INDEX claim_source ON claim (campaign, source) WHERE source <> '';
CREATE INDEX claim_status ON claim (campaign, status) WHERE status <> 'accepted';

CREATE TABLE knows (
  claim  INTEGER NOT NULL,
  who    INTEGER NOT NULL,
  since  INTEGER NOT NULL DEFAULT 0,
  how    TEXT NOT NULL DEFAULT '',
  teller INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (claim, who)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE claim_index USING fts5 (
  text, aud, content='', contentless_delete=1, prefix='3', tokenize='unicode61 remove_diacritics 0'
);

