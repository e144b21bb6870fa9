-- +goose Up
-- People whose words are not to be remembered.
CREATE TABLE optout (
  campaign BIGINT NOT NULL,
  who      BIGINT NOT NULL,
  PRIMARY KEY (campaign, who)
);
