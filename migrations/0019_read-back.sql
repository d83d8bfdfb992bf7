-- External connectors that can be asked what became of a release, and which intents in doubt are asked about (docs/handbook/executions.md).

-- No one is asked who did not promise to answer: those that were registered before are not.
ALTER TABLE external_connectors ADD COLUMN read_back boolean NOT NULL DEFAULT false;

ALTER TABLE in_doubt_intents
  -- The registration (change_id) that it was released to, where that can be asked; null: nobody is.
  ADD COLUMN ask_connector uuid,
  -- When it is asked next; null: never again, a human has to look.
  ADD COLUMN ask_at timestamptz,
  -- How often it was asked, or was about to be when an instance ended.
  ADD COLUMN asked smallint NOT NULL DEFAULT 0;
CREATE INDEX in_doubt_intents_to_ask ON in_doubt_intents (ask_connector, ask_at) WHERE ask_at IS NOT NULL;
