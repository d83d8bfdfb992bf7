-- INTENT_CLOSE_QUORUM=2: an execution in doubt is closed when a second human says what the first one said (docs/handbook/operating.md).

-- JSON: resolution, note, by, at. Null: nobody has said anything, or one human is enough.
ALTER TABLE in_doubt_intents ADD COLUMN first_word text;
