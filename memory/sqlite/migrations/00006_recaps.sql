-- +goose Up
-- What was written about a session after it.
CREATE TABLE recap (
  campaign  INTEGER NOT NULL,
  session   TEXT NOT NULL,
  length    TEXT NOT NULL,
  players   INTEGER NOT NULL, -- 1: what the whole table heard
  author    TEXT NOT NULL,   -- a model's name; '' if it consists of lines
  lines     INTEGER NOT NULL, -- of the session, by then
  at        INTEGER NOT NULL,
  sentences TEXT NOT NULL,   -- JSON: text, and the ids of the lines that prove it
  PRIMARY KEY (campaign, session, length, players)
) WITHOUT ROWID;
