/**
 * Represents the request of a message on an open socket, with the headers and the address of the handshake. Each
 * message has its own object, so that the result of a check is never reused for a later message.
 *
 * @publicApi
 */
export class CarriedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ip: string | undefined;
  /** Names and values of the headers as received, alternating; undefined where the source has none. */
  readonly rawHeaders: readonly string[] | undefined;

  /**
   * @param source the handshake, the upgrade request, or what the option `requestOf` returned
   * @param headers by default those of `source`
   * @param rawHeaders by default those of `source`
   * @param connection the same object for all messages of one handshake; by default that of `source`
   */
  constructor(
    readonly source: Handshake,
    headers: Handshake['headers'] = source.headers,
    rawHeaders: Handshake['rawHeaders'] = source.rawHeaders ?? source.raw?.rawHeaders,
    readonly connection: object = connectionOf(source),
  ) {
    this.headers = headers ?? {};
    this.rawHeaders = rawHeaders;
    this.ip = source.ip ?? source.address ?? source.socket?.remoteAddress;
  }
}

/** The parts of a request or a handshake that the gates read. */
export interface Handshake {
  readonly headers?: CarriedRequest['headers'];
  /** Of the request that opened the connection, for which a proof of a key was made. Without a method, it is `GET`. */
  readonly method?: string;
  readonly url?: string;
  /** The headers as received, in Node's request. They show whether a header was repeated. */
  readonly rawHeaders?: readonly string[];
  /** Node's request, in Fastify. */
  readonly raw?: { readonly rawHeaders?: readonly string[]; readonly headers?: CarriedRequest['headers'] };
  /** The address of the client in Express and Fastify. */
  readonly ip?: string;
  /** The address of the client in socket.io. */
  readonly address?: string;
  readonly socket?: { readonly remoteAddress?: string };
}

/** The same object for all calls about one request, and for all messages of one handshake: the headers as Node has read them. */
export const connectionOf = (request: Handshake): object =>
  request instanceof CarriedRequest ? request.connection : (request.raw?.headers ?? request.headers ?? request);
