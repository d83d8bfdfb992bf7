-- Every secret of an endpoint that was replaced signs until its own time is over, however many replaced it since. The two columns of a
-- single one are read by the release before alone.
ALTER TABLE event_deliveries
  ADD COLUMN earlier_secrets bytea[] NOT NULL DEFAULT '{}',
  -- Until when each of them signs, in the same order.
  ADD COLUMN earlier_until timestamptz[] NOT NULL DEFAULT '{}';
UPDATE event_deliveries SET earlier_secrets = ARRAY[previous_secret], earlier_until = ARRAY[previous_until]
WHERE previous_secret IS NOT NULL AND previous_until > now();
