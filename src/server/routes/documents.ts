// What a machine reads first (interface §4.1): the OpenAPI document in both notations, and the manifest that names everything else.
import { json, type Handler } from './route.ts'
import { API_VERSION, NAME } from './system.ts'

const DOCUMENT_CACHE = 'public, max-age=3600'
/** After an upgrade the build version is asked for first. */
const MANIFEST_CACHE = 'public, max-age=300'

/** The client packages and their own versions (interface §9.5); a test compares them with the packages. */
const clients = {
  typescript: { package: '@countersign/client', version: '0.2.0' },
  python: { package: 'countersign-client', version: '0.2.0' },
}

export const openapiYaml: Handler = (_request, { openapi }) => ({
  status: 200,
  headers: { 'Content-Type': 'application/yaml' },
  body: openapi.yaml,
  cache: DOCUMENT_CACHE,
})

export const openapiJson: Handler = (_request, { openapi }) => ({
  status: 200,
  body: openapi.json,
  cache: DOCUMENT_CACHE,
})

/** Exactly the shape of decisions §5. */
export const manifest: Handler = (_request, { config }) =>
  json(
    {
      name: NAME,
      apiVersion: API_VERSION,
      buildVersion: config.buildVersion,
      openapi: { yaml: '/openapi.yaml', json: '/openapi.json' },
      documentation: {
        interactive: '/documentation',
        reference: '/reference',
        handbook: '/handbook',
        verifier: '/verifier',
      },
      authentication: { type: 'bearer', header: 'Authorization' },
      clients,
    },
    { cache: MANIFEST_CACHE },
  )
