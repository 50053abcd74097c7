/**
 * What stands for the request where a message came over an open socket: what the handshake said. One of its own for
 * each message, so that no verdict outlives one.
 *
 * @publicApi
 */
export class CarriedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ip: string | undefined;

  /** @param source the handshake, the upgrade request, or what the option `requestOf` returned */
  constructor(readonly source: Handshake) {
    this.headers = source.headers ?? {};
    this.ip = source.ip ?? source.address ?? source.socket?.remoteAddress;
  }
}

/** A request or a handshake, as far as gates read it. */
export interface Handshake {
  readonly headers?: CarriedRequest['headers'];
  /** As Express and Fastify name the client's address. */
  readonly ip?: string;
  /** As socket.io names it. */
  readonly address?: string;
  readonly socket?: { readonly remoteAddress?: string };
}
