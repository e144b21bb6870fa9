-- +goose Up
-- The campaign comes first in every key, so that an operator with Citus may spread
-- the tables by it and every statement stays on one machine.
ALTER TABLE told ADD COLUMN campaign BIGINT;
UPDATE told SET campaign = l.campaign FROM line l WHERE l.seq = told.line;
DELETE FROM told WHERE campaign IS NULL;
ALTER TABLE knows ADD COLUMN campaign BIGINT;
UPDATE knows SET campaign = c.campaign FROM claim c WHERE c.id = knows.claim;
DELETE FROM knows WHERE campaign IS NULL;
ALTER TABLE line_index ADD COLUMN campaign BIGINT;
UPDATE line_index SET campaign = l.campaign FROM line l WHERE l.seq = line_index.id;
DELETE FROM line_index WHERE campaign IS NULL;
ALTER TABLE claim_index ADD COLUMN campaign BIGINT;
UPDATE claim_index SET campaign = c.campaign FROM claim c WHERE c.id = claim_index.id;
DELETE FROM claim_index WHERE campaign IS NULL;

ALTER TABLE actor DROP CONSTRAINT actor_pkey, ADD PRIMARY KEY (campaign, id);
ALTER TABLE session DROP CONSTRAINT session_pkey, ADD PRIMARY KEY (campaign, id);
ALTER TABLE line DROP CONSTRAINT line_pkey, ADD PRIMARY KEY (campaign, seq);
ALTER TABLE told DROP CONSTRAINT told_pkey, ADD PRIMARY KEY (campaign, line, who);
ALTER TABLE line_index DROP CONSTRAINT line_index_pkey, ADD PRIMARY KEY (campaign, id);
ALTER TABLE entity DROP CONSTRAINT entity_pkey, ADD PRIMARY KEY (campaign, id);
ALTER TABLE claim DROP CONSTRAINT claim_pkey, ADD PRIMARY KEY (campaign, id);
ALTER TABLE knows DROP CONSTRAINT knows_pkey, ADD PRIMARY KEY (campaign, claim, who);
ALTER TABLE claim_index DROP CONSTRAINT claim_index_pkey, ADD PRIMARY KEY (campaign, id);
ALTER TABLE vector DROP CONSTRAINT vector_pkey, ADD PRIMARY KEY (campaign, model, seq);
DROP INDEX called_entity;
CREATE INDEX called_entity ON called (campaign, entity);
-- Passages are read by their numbers, which are unique over all campaigns.
CREATE INDEX line_seq ON line (seq);
