-- GET /refusals reads them newest first, as GET /trust-records reads records.
CREATE INDEX refusal_records_by_caller ON refusal_records (caller_id, created_at, business_transaction_id);
CREATE INDEX refusal_records_by_time ON refusal_records (created_at, business_transaction_id);
