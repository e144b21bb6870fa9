-- +goose Up
-- Every row says whose it is, as in PostgreSQL, where tables may be spread over
-- several machines by campaign.
ALTER TABLE told ADD COLUMN campaign INTEGER NOT NULL DEFAULT 0;
UPDATE told SET campaign = (SELECT l.campaign FROM line l WHERE l.seq = told.line);
ALTER TABLE knows ADD COLUMN campaign INTEGER NOT NULL DEFAULT 0;
UPDATE knows SET campaign = (SELECT c.campaign FROM claim c WHERE c.id = knows.claim);
