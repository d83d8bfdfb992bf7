-- Rows of the tail live until their bundle is full, but each goes through PostgreSQL's own log (WAL): a third of it at the pace of a tick for each
-- commit. What is not a hash in an entry compresses; rows that are there stay as they are, and both are read the same.
ALTER TABLE log_tail ALTER COLUMN entries SET STORAGE EXTENDED;
