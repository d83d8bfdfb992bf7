// `page` and `pageSize` (decisions §5).
import { failures, type Failure } from '../errors.ts'

const PAGE_MAX = 1_000_000
const PAGE_SIZE_MAX = 100
const PAGE_SIZE_DEFAULT = 25

/** out  the rows to read, or the 400 of the first of the two that is no whole number in its range */
export function readPage(query: URLSearchParams): { limit: number; offset: number } | Failure {
  const page = wholeNumber(query.get('page') ?? '1', PAGE_MAX)
  if (page === undefined) return failures.invalidPage()
  const pageSize = wholeNumber(query.get('pageSize') ?? String(PAGE_SIZE_DEFAULT), PAGE_SIZE_MAX)
  if (pageSize === undefined) return failures.invalidPageSize()
  return { limit: pageSize, offset: (page - 1) * pageSize }
}

function wholeNumber(text: string, max: number): number | undefined {
  const value = /^[0-9]{1,7}$/.test(text) ? Number(text) : 0
  return value >= 1 && value <= max ? value : undefined
}
