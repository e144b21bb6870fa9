-- +goose Up
-- People whose words are not to be remembered.
CREATE TABLE optout (
  campaign INTEGER NOT NULL,
  who      INTEGER NOT NULL,
  PRIMARY KEY (campaign, who)
) WITHOUT ROWID;
