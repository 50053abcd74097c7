import ipaddr from 'ipaddr.js';
import { type LookupAddress, lookup } from 'node:dns';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type LookupFunction, isIP } from 'node:net';
import { Readable } from 'node:stream';
import { http } from '../../../kit';

/** Maximum size of an answer in bytes. The largest documents of public providers have 20 kB. */
const MOST_BYTES = 262_144;

/** An answer that must not be used, or was not given. The text is for the log, and contains nothing of the answer. */
export class UnusableAnswer extends Error {}

/** The addresses that a request may connect to. Link-local ones are in neither: clouds offer secrets there. */
const PUBLIC: readonly string[] = ['unicast'];
const PRIVATE: readonly string[] = [...PUBLIC, 'private', 'loopback', 'uniqueLocal', 'carrierGradeNat'];

/** Whether a request may connect to an address. An IPv4 address in an IPv6 one counts as IPv4. */
export const mayConnect = (address: string, allowPrivate: boolean): boolean =>
  ipaddr.isValid(address) && (allowPrivate ? PRIVATE : PUBLIC).includes(ipaddr.process(address).range());

export const isHttp = ({ protocol }: URL, allowHttp: boolean): boolean =>
  protocol === 'https:' || (allowHttp && protocol === 'http:');

export interface FetchLimits {
  /** Whether plain HTTP may be used. */
  readonly allowHttp: boolean;
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
  /** Is called when there is a connection: from then on, the server may have received the request. */
  readonly connected?: () => void;
}

export interface FetchRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/**
 * Sends a request to an address that a provider has stated, which is not trusted: the address that is connected to is checked, not
 * only the name. Redirects are not followed, and the answer is read up to a limit.
 *
 * @throws UnusableAnswer, or the error of the connection
 */
export async function guardedFetch(href: string, request: FetchRequest, limits: FetchLimits): Promise<Response> {
  const url = new URL(href);
  if (!isHttp(url, limits.allowHttp)) throw new UnusableAnswer(`${url.protocol} is not https:`);
  const { hostname } = url;
  // Node does not look up an address, so the function below would not see it.
  const literal = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  if (isIP(literal) && !mayConnect(literal, limits.allowPrivate)) throw privateAddress(hostname);
  const response = await opened(url, request, limits);
  const { statusCode: status = 0 } = response;
  // Only these are read. Others could have characters that `Headers` refuses.
  const headers = ['content-type', 'www-authenticate'].flatMap((name) => {
    const value = response.headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
  if (status >= 300 && status < 400) throw abandoned(response, `${url.host} redirects`);
  if (status >= 500 || status === 429 || status === 408 || status < 200)
    throw abandoned(response, `${url.host} answered ${status}`);
  const body = new Response(Readable.toWeb(response) as ReadableStream<Uint8Array>);
  const text = await http.responseText(body, MOST_BYTES, url.host);
  // Bytes: a text would get a type that the server has not stated.
  return new Response(status === 204 || status === 205 ? null : Buffer.from(text), { status, headers });
}

const privateAddress = (hostname: string): UnusableAnswer =>
  new UnusableAnswer(`${hostname} has an address in a private network: see the option allowPrivateNetwork`);

function abandoned(response: IncomingMessage, why: string): UnusableAnswer {
  response.destroy();
  return new UnusableAnswer(why);
}

const opened = (
  url: URL,
  { method, headers, body }: FetchRequest,
  { allowPrivate, signal, connected }: FetchLimits,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const isSecure = url.protocol === 'https:';
    const outgoing = (isSecure ? requestHttps : requestHttp)(
      url,
      {
        method,
        headers: { ...headers, 'accept-encoding': 'identity' },
        // A connection of its own: one that is kept could be one to an address that was allowed for another provider.
        agent: false,
        lookup: allowedLookup(allowPrivate),
        signal,
      },
      resolve,
    );
    outgoing.on('error', reject);
    outgoing.once('socket', (socket) => socket.once(isSecure ? 'secureConnect' : 'connect', () => connected?.()));
    outgoing.end(body instanceof URLSearchParams ? String(body) : (body as string | undefined));
  });

/** Looks up a name, and fails if one of its addresses must not be connected to. */
const allowedLookup =
  (allowPrivate: boolean): LookupFunction =>
  (hostname, options, done) =>
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[] = []) => {
      if (error) return done(error, '', 0);
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => mayConnect(address, allowPrivate)))
        return done(privateAddress(hostname), '', 0);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
