// A profile is a file with the service and the identity that a command uses, so that a person types neither address nor keys (`--profile`).
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Type } from 'typebox'
import { shapeOf } from '../core/json/shape.ts'
import { ApproverName } from '../formats/schemas/approval.ts'
import { closed, NonEmptyText } from '../formats/schemas/primitives.ts'
import type { Given } from './command.ts'
import type { approver } from './commands.ts'
import { jsonIn } from './json.ts'

const Profile = closed({
  /** Base address of the service. */
  url: NonEmptyText,
  /** The raw key: a reader of the file can act as that caller. */
  apiKey: NonEmptyText,
  approver: Type.Optional(
    closed({
      approverId: ApproverName,
      keyId: ApproverName,
      /** A file, relative to the profile. */
      key: NonEmptyText,
    }),
  ),
  /** A file, as `approver.key`. */
  stepUpKey: Type.Optional(NonEmptyText),
})
export type Profile = Type.Static<typeof Profile>

const profile = shapeOf(Profile)

type Signing = Given<typeof approver.signRequest>

/**
 * The address of the service and the caller's key. Each option that is typed takes precedence over the profile's member, and the profile over
 * the environment.
 * @throws Error that names the option that is missing, or what is wrong with the profile
 */
export function serviceOf(given: Pick<Signing, 'profile' | 'url' | 'apiKey'>): { url: string; key: string } {
  const from = readProfile(given.profile)
  const key = given.apiKey ?? from?.apiKey
  if (key === undefined) throw missing('--api-key')
  return { url: given.url ?? from?.url ?? 'http://127.0.0.1:3000', key }
}

/**
 * The key by which an approver signs.
 * @returns `key` is the path of the private key
 * @throws as `serviceOf`
 */
export function signerOf(given: Pick<Signing, 'profile' | 'key' | 'approver' | 'keyId'>): {
  key: string
  approver: string
  keyId: string
} {
  const { approver: from } = readProfile(given.profile) ?? {}
  const key = given.key ?? fileOf(given.profile, from?.key)
  const approver = given.approver ?? from?.approverId
  const keyId = given.keyId ?? from?.keyId
  if (key === undefined) throw missing('--key')
  if (approver === undefined) throw missing('--approver')
  if (keyId === undefined) throw missing('--key-id')
  return { key, approver, keyId }
}

/**
 * The path of the private key by which a human signs for a change.
 * @throws as `serviceOf`
 */
export function stepUpKeyOf(given: Pick<Signing, 'profile' | 'key'>): string {
  const key = given.key ?? fileOf(given.profile, readProfile(given.profile)?.stepUpKey)
  if (key === undefined) throw new Error('Give --key, or a --profile that has a step-up key.')
  return key
}

/** A file that a profile names, relative to the profile. */
function fileOf(profileFile: string | undefined, named: string | undefined): string | undefined {
  return profileFile === undefined || named === undefined ? undefined : resolve(dirname(profileFile), named)
}

function missing(option: string): Error {
  return new Error(`Give ${option}, or a --profile that has it.`)
}

function readProfile(file: string | undefined): Profile | undefined {
  if (file === undefined) return undefined
  const shaped = profile(jsonIn(readFileSync(file), file))
  if ('problem' in shaped) throw new Error(`${file}: ${shaped.problem}`)
  return shaped.value
}
