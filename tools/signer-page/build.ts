// Makes the offline signer that the service hands out at GET /signer (docs/handbook/approving.md "Sign with the network off"): one file that
// a person saves.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pageHeader } from '../../src/server/pages/header.ts'
import { buildOneFilePage } from '../one-file-page.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** @returns the text of the page */
export function buildSigner(): Promise<string> {
  return buildOneFilePage({
    page: readFileSync(join(import.meta.dirname, 'page.html'), 'utf8'),
    header: pageHeader('/signer', '', ' data-served'),
    style: [
      'src/server/pages/colors.css',
      'src/server/pages/header.css',
      'src/console/console.css',
      'tools/signer-page/style.css',
    ]
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .join(''),
    entry: 'tools/signer-page/page.tsx',
  })
}
