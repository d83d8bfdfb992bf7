// The sandbox (decisions §9): what would be decided, without deciding it. Nothing here changes anything.
import { submitted } from './evidence.ts'
import type { Handler } from './route.ts'

export const evaluate: Handler = submitted('evaluate')
export const simulate: Handler = submitted('simulate')
