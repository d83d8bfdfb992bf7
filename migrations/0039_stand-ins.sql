-- An approver who counts as a member of a group in place of another one, for a time (docs/handbook/governing.md). As groups, it is in `authority` alone.
ALTER TABLE pending_changes DROP CONSTRAINT pending_changes_kind_check,
  ADD CONSTRAINT pending_changes_kind_check CHECK (kind IN ('policy', 'approver', 'external-connector', 'webhook-rules', 'event-endpoint',
    'caller-key', 'approver-group', 'stand-in'));
