-- What is used of a limit, and how often the rules of a policy decided, is counted over the entries of that policy. Without this index it was counted
-- over all others in its window, too: 200 ms of each sum with 300,000 entries (docs/design-notes.md "The catalogue").
CREATE INDEX catalogue_entries_by_policy ON catalogue_entries (lower(policy_name), decided_at, business_transaction_id);
-- Callers are looked for whatever the case of their names, which the index of before did not help.
DROP INDEX catalogue_entries_by_caller;
CREATE INDEX catalogue_entries_by_caller ON catalogue_entries (lower(caller_id), decided_at, business_transaction_id);
