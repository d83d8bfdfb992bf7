-- One redelivery of an endpoint at a time: when the last one was asked for, and the end of the feed at that moment. It goes on until delivery is there.
ALTER TABLE event_deliveries
  ADD COLUMN redelivered_at timestamptz,
  ADD COLUMN redelivered_until text;
