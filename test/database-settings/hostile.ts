// The settings of hostile.conf, for a role or a database.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Setting {
  readonly name: string
  /** As SQL takes it after `=`. */
  readonly value: string
}

export function hostileSettings(): Setting[] {
  const lines = readFileSync(join(import.meta.dirname, 'hostile.conf'), 'utf8').matchAll(
    /^([\w.]+) = (.*)$/gm,
  )
  return Array.from(lines, ([, name = '', value = '']) => ({ name, value: value.replaceAll("', '", ', ') }))
}

/** Time limits no statement can keep to. A server whose every connection has them can hardly be tested. */
export const TIME_LIMITS: readonly Setting[] = [
  { name: 'statement_timeout', value: "'1ms'" },
  { name: 'lock_timeout', value: "'1ms'" },
  { name: 'idle_in_transaction_session_timeout', value: "'1ms'" },
  { name: 'idle_session_timeout', value: "'1ms'" },
]
