// The clock of the demo's own PostgreSQL database: `now()`, `clock_timestamp()` and `statement_timestamp()` run beside the real time until the demo puts them back.
import type { Client } from 'pg'

const FUNCTIONS = [
  { name: 'now', volatility: 'STABLE' },
  { name: 'clock_timestamp', volatility: 'VOLATILE' },
  // Deadlines of releases begin here: with the real one an execution of last week would be overdue since the demo's start.
  { name: 'statement_timestamp', volatility: 'STABLE' },
] as const

/** Needs a superuser, which only an embedded database gives. The tables must be there already: their defaults keep the real clock. */
export async function moveClock(database: Client, aheadMs: number): Promise<void> {
  const replaced = FUNCTIONS.map(
    ({ name, volatility }) => `
    ALTER FUNCTION pg_catalog.${name}() RENAME TO real_${name};
    CREATE FUNCTION pg_catalog.${name}() RETURNS timestamptz LANGUAGE sql ${volatility} PARALLEL SAFE
      AS 'SELECT pg_catalog.real_${name}() + (SELECT ahead FROM demo_clock.ahead)';`,
  )
  await database.query(`
    CREATE SCHEMA demo_clock;
    CREATE TABLE demo_clock.ahead (ahead interval NOT NULL);
    INSERT INTO demo_clock.ahead VALUES ('0');
    ${replaced.join('')}`)
  await setClock(database, aheadMs)
}

export async function setClock(database: Client, aheadMs: number): Promise<void> {
  await database.query(`UPDATE demo_clock.ahead SET ahead = $1::float8 * interval '1 millisecond'`, [aheadMs])
}

/** Nothing of the moved clock stays. */
export async function putClockBack(database: Client): Promise<void> {
  const back = FUNCTIONS.map(
    ({ name }) => `
    DROP FUNCTION pg_catalog.${name}();
    ALTER FUNCTION pg_catalog.real_${name}() RENAME TO ${name};`,
  )
  await database.query(`${back.join('')} DROP SCHEMA demo_clock CASCADE;`)
}
