-- +goose Up
-- What models made of passages: seq is a passage's first line.
CREATE TABLE vector (
  campaign BIGINT NOT NULL,
  model    TEXT NOT NULL,
  seq      BIGINT NOT NULL,
  scale    DOUBLE PRECISION NOT NULL,
  v        BYTEA NOT NULL, -- a signed byte a dimension
  PRIMARY KEY (model, seq)
);
