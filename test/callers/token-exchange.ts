// Token exchange (RFC 8693), which oidc-provider leaves to its users: registered as its README says, for this provider's own tokens alone.
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet, type JWTPayload } from 'jose'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

const PARAMETERS = ['resource', 'subject_token', 'subject_token_type', 'actor_token', 'actor_token_type']

/** The part of a request to oidc-provider that is used here. */
export interface ProviderContext {
  readonly oidc: { readonly client: object; readonly params: Readonly<Record<string, string>> }
  readonly state: { act?: object }
  body: object
}

interface AccessToken {
  resourceServer: object
  readonly expiration: number
  readonly save: () => Promise<string>
}

/** The part of oidc-provider that is used here. */
export interface ExchangingProvider {
  readonly issuer: string
  readonly AccessToken: new (members: object) => AccessToken
  readonly Client: { readonly find: (clientId: string) => Promise<object> }
  readonly ResourceServer: new (resource: string, members: object) => object
  readonly registerGrantType: (
    name: string,
    handler: (context: ProviderContext) => Promise<void>,
    parameters: readonly string[],
  ) => void
}

/** For `extraTokenClaims`: what the handler has found. */
export const actOf = (context: ProviderContext | undefined) => {
  const act = context?.state.act
  return act === undefined ? undefined : { act }
}

/**
 * @param options.keys by which the provider's tokens verify
 * @param options.serverOf the resource server of a resource
 */
export function exchangeTokens(
  provider: ExchangingProvider,
  { keys, serverOf }: { readonly keys: JSONWebKeySet; readonly serverOf: (resource: string) => object },
): void {
  const keySet = createLocalJWKSet(keys)
  const verified = async (token = ''): Promise<JWTPayload> =>
    (await jwtVerify(token, keySet, { issuer: provider.issuer, typ: 'at+jwt' })).payload
  async function exchange(context: ProviderContext): Promise<void> {
    const { client, params } = context.oidc
    const { resource = '' } = params
    const subject = await verified(params['subject_token'])
    const actor = await verified(params['actor_token'])
    // Earlier actors of the subject's token are nested within (RFC 8693 §4.1).
    context.state.act = { sub: actor.sub, ...('act' in subject ? { act: subject['act'] } : {}) }
    const token = await minted(provider, { client, accountId: subject.sub, resource, serverOf })
    context.body = { ...token, issued_token_type: ACCESS_TOKEN, token_type: 'Bearer' }
  }
  provider.registerGrantType(TOKEN_EXCHANGE, exchange, PARAMETERS)
}

/** An access token for a person, as the provider makes one when the person has signed in to the client. */
export async function minted(
  { AccessToken, ResourceServer }: ExchangingProvider,
  {
    resource,
    serverOf,
    ...members
  }: {
    readonly client: object
    readonly accountId: string | undefined
    readonly resource: string
    readonly serverOf: (resource: string) => object
  },
): Promise<{ readonly access_token: string; readonly expires_in: number }> {
  const server = serverOf(resource)
  const token = new AccessToken({ ...members, ...('scope' in server ? { scope: server.scope } : {}) })
  token.resourceServer = new ResourceServer(resource, server)
  return { access_token: await token.save(), expires_in: token.expiration }
}
