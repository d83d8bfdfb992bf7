// Names in a trial of the MCP gateway: the gateway's, after its server, and the address of the console.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { aliasOf } from '../../src/cli/setup/mcp-alias.ts'
import { consoleOf } from '../../src/mcp/console.ts'

test.each([
  ['npx -y @modelcontextprotocol/server-filesystem /home/me/files', 'server-filesystem'],
  ['npx -y @modelcontextprotocol/server-filesystem@2026.8.31 /tmp', 'server-filesystem'],
  ['node node_modules/server-everything/dist/index.js', 'server-everything'],
  ['node /home/me/files-server/server.js', 'files-server'],
  ['node server.js', 'server'],
  ['uvx mcp-server-git --repository /home/me/project', 'mcp-server-git'],
  ['python3 -m mcp_server_git', 'mcp-server-git'],
  ['docker run -i --rm mcp/fetch', 'fetch'],
  ['env TOKEN=x npx some-mcp-server', 'some-mcp-server'],
  ['https://tools.example/mcp', 'tools'],
  ['https://mcp.linear.app/sse', 'linear'],
  ['http://127.0.0.1:8000/mcp', 'tools'],
  ['node', 'tools'],
])('a gateway to `%s` is named %s', (command, alias) => {
  expect(aliasOf(command.split(' '))).toBe(alias)
})

async function aService(handle: RequestListener) {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('requests are opened where the console is, since a passkey works under that name alone', async () => {
  const paths: (string | undefined)[] = []
  const url = await aService(({ url: path, headers }, response) => {
    paths.push(path)
    response
      .writeHead(307, { location: `http://${headers.host?.replace('127.0.0.1', 'localhost')}${path}` })
      .end()
  })
  expect(await consoleOf(url)).toBe(url.replace('127.0.0.1', 'localhost'))
  expect(paths).toEqual(['/console'])
})

test('without a console of its own, a service has one at its address or none', async () => {
  const without = await aService((_request, response) => response.writeHead(404).end())
  expect(await consoleOf(without)).toBe(without)
  expect(await consoleOf('http://127.0.0.1:1')).toBe('http://127.0.0.1:1')
  const wrong = await aService((_request, response) =>
    response.writeHead(307, { location: 'http://[' }).end(),
  )
  expect(await consoleOf(wrong)).toBe(wrong)
})
