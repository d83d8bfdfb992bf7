-- Whether approvals would have lifted a refusal, so that a payment that waits for a human is told from one that a policy forbids. Null: it was not
-- refused, or a release before wrote the entry; the service fills those in behind the executions (docs/design-notes.md "The catalogue").
ALTER TABLE catalogue_entries ADD COLUMN approvable boolean;
-- What is still to be filled in. A release that does not write the column goes on writing such entries in a rolling restart; else it is empty.
CREATE INDEX catalogue_entries_unfilled ON catalogue_entries (business_transaction_id) WHERE status = 'refused' AND approvable IS NULL;
