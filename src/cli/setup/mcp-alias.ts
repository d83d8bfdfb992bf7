// The name of a gateway of a trial, where none was given.
import { basename } from 'node:path'

/** Words that only start a program, and names of files that say nothing about it. */
const STARTERS =
  /^(?:npx|npm|pnpm|yarn|bunx?|deno|node|uvx?|pipx|python[\d.]*|docker|podman|sudo|env|exec|run|dlx|x|tool)$/
const ANY_SERVER = /^(?:index|main|cli|server|dist|build|src|lib|bin)$/

/** @returns a name from the command that starts a server, such as `server-everything`, or from the host of its address */
export function aliasOf(upstream: readonly string[]): string {
  const [first = ''] = upstream
  const words = isAddress(first) ? [new URL(first).hostname.replace(/^(?:www|mcp)\./, '')] : upstream
  const program = words.find((word) => !/^-|=/.test(word) && !STARTERS.test(basename(word))) ?? ''
  const parts = program.split('/').map(nameOf).filter(Boolean)
  return parts.findLast((part) => !ANY_SERVER.test(part)) ?? parts.at(-1) ?? 'tools'
}

/** Whether a server is reached by HTTP. */
export const isAddress = (word: string) => /^https?:\/\//.test(word)

const nameOf = (word: string) =>
  word
    .toLowerCase()
    .replace(/(?<=.)@.*$/, '')
    .replace(/(?<=.)\.\w+$/, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 40)
