-- When approvers are told of an open request once more, and when a further group is asked, as its policy says (docs/handbook/policy-language.md
-- "Reminder and escalation"). Null: never. A release that does not know them asks everybody at once and reminds nobody.
ALTER TABLE approval_requests
  ADD COLUMN remind_at timestamptz, ADD COLUMN escalate_at timestamptz, ADD COLUMN escalate_to text,
  -- The first of both times at which nobody was told yet; null once there is none.
  ADD COLUMN ask_next_at timestamptz;
CREATE INDEX approval_requests_to_ask_again ON approval_requests (ask_next_at) WHERE status = 'OPEN' AND ask_next_at IS NOT NULL;
