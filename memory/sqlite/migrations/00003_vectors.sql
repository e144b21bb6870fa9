-- +goose Up
-- What models made of passages: seq is a passage's first line.
CREATE TABLE vector (
  campaign INTEGER NOT NULL,
  model    TEXT NOT NULL,
  seq      INTEGER NOT NULL,
  scale    REAL NOT NULL,
  v        BLOB NOT NULL, -- a signed byte a dimension
  PRIMARY KEY (model, seq)
) WITHOUT ROWID;
