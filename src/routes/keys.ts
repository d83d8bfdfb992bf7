// The published signing keys (interface §2.7, §4.1): what anyone needs to check our evidence.
import { failures } from '../errors.ts'
import { publicKeyJson } from '../signing/published.ts'
import { json, type Handler } from './route.ts'

// A key never changes under its id; a new one must be found within minutes of a rotation.
const KEY_CACHE = 'public, max-age=3600'
const KEY_SET_CACHE = 'public, max-age=300'

export const key: Handler = ({ params }, { keys }) => {
  const keyId = params['keyId'] ?? ''
  const found = keys.get(keyId)
  return found === undefined ? failures.keyNotFound(keyId) : json(publicKeyJson(found), { cache: KEY_CACHE })
}

export const keySet: Handler = (_request, { keys }) => json(keys.jwks(), { cache: KEY_SET_CACHE })
