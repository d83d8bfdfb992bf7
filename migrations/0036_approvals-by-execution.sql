-- A reader of an execution whose outcome nobody knows asks who approved it: there is no record yet that names them.
CREATE INDEX approvals_by_execution ON approvals (consumed_by) WHERE consumed_by IS NOT NULL;
