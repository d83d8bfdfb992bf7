// The tools that the conformance suite of MCP calls, as a server on standard input and output. Those that only read are approved by a policy without a
// human; the others are a task for a client that takes tasks, because they wait for one.
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'

/** One transparent pixel, and a file without sound. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='

const text = (said: string) => ({ type: 'text' as const, text: said })
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' }
const resource = (uri: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: 'A resource for the test.' },
})

const results: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: { content: [text('This is a simple text response for testing.')] },
  test_image_content: { content: [image] },
  test_audio_content: { content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] },
  test_embedded_resource: { content: [resource('test://embedded-resource')] },
  test_multiple_content_types: {
    content: [text('Multiple content types test:'), image, resource('test://mixed-content-resource')],
  },
  test_error_handling: {
    content: [text('This tool intentionally returns an error for testing')],
    isError: true,
  },
  json_schema_2020_12_tool: { content: [text('JSON Schema 2020-12 tool called')] },
}

type Arguments = Readonly<Record<string, unknown>> | undefined

/** Tools of the scenarios of tasks. */
const ofTasks: Readonly<Record<string, (args: Arguments) => CallToolResult | Promise<CallToolResult>>> = {
  greet: (args) => ({ content: [text(`Hello, ${String(args?.['name'])}!`)] }),
  async slow_compute(args) {
    await new Promise((resolve) => setTimeout(resolve, Number(args?.['seconds']) * 1_000))
    return { content: [text('Computed')] }
  },
  failing_job: () => ({ content: [text('The job failed')], isError: true }),
}

const address = {
  $anchor: 'addressDef',
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' } },
}
const contact = {
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
}
const inputSchema = (name: string): Tool['inputSchema'] =>
  name === 'json_schema_2020_12_tool'
    ? {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: { address },
        properties: {
          name: { type: 'string' },
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: { type: 'string' },
          email: { type: 'string' },
        },
        ...contact,
        additionalProperties: false,
      }
    : { type: 'object' }

serveStdio(() => {
  const server = new Server({ name: 'suite', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({
    tools: Object.keys({ ...results, ...ofTasks }).map((name) => ({
      name,
      description: `A tool of the conformance suite: ${name}.`,
      inputSchema: inputSchema(name),
      annotations: { readOnlyHint: name in results || name === 'greet' },
    })),
  }))
  server.setRequestHandler(
    'tools/call',
    ({ params }) => results[params.name] ?? ofTasks[params.name]!(params.arguments),
  )
  return server
})
