// An MCP server with one tool that only reads, for the program `mcp`.
import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const look = {
  name: 'look',
  description: 'Looks something up.',
  inputSchema: { type: 'object' as const },
  annotations: { readOnlyHint: true },
}

serveStdio(() => {
  const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [look] }))
  server.setRequestHandler('tools/call', () => ({
    content: [{ type: 'text' as const, text: 'It is there.' }],
  }))
  return server
})
