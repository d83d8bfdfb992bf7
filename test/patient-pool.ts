import type { Pool } from 'pg'
import { openPool } from '../src/store/postgres/sql.ts'

/**
 * Connections for what works within a test's own process, which also computes what is expected: on a busy machine it comes back to a
 * transaction after seconds, and PostgreSQL is not to end that one as idle (`openPool`), and starts a connection after seconds.
 */
export const patientPool = (url: string, connectionsMax: number): Pool =>
  openPool(url, connectionsMax, { statementMs: 60_000, lockMs: 60_000, connectMs: 60_000 })
