-- ML-DSA signatures of batch heads (docs/design-notes.md "Batch signatures"): 3,309 bytes that all artifacts of a batch share. Records and
-- receipts are stored with an empty value in their place, and get it back when they are read.
CREATE TABLE batch_signatures (
  -- The UUID of the head's origin, `<name>/batch/<uuid>`.
  batch uuid PRIMARY KEY,
  value bytea NOT NULL
);
-- Signatures do not compress, and two fit on a page as they are.
ALTER TABLE batch_signatures ALTER COLUMN value SET STORAGE PLAIN;

-- A record that carries its places in two batches has 4.4 KB, and one of those filled a page: 8.3 KB for each. Where two do not fit on a
-- page, the body is stored apart: 5.1 KB, and an insert takes as long (20 and 22 µs in statements of many rows).
ALTER TABLE trust_records SET (toast_tuple_target = 4080);
