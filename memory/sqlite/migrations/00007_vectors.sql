-- +goose Up
-- Vectors are counted to see whether there are new ones, without reading them.
CREATE INDEX vector_campaign ON vector (campaign, model);
