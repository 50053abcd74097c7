import { Injectable, Logger } from '@nestjs/common';
import { Realm } from '../realm/realm';
import { clientAddress } from './client-address';

/** Who a request comes from, as the rate limits count it. */
@Injectable()
export class Clients {
  private readonly logger = new Logger(Clients.name);

  constructor(private readonly realm: Realm) {}

  /** What the host's callback names the client, or its address. Never empty: one counter would stand for everybody. */
  of(request: { ip?: unknown }): string {
    return this.named(request) || clientAddress(request.ip, this.realm.options.rateLimits.ipv6Prefix);
  }

  private named(request: object): string {
    try {
      const key: unknown = this.realm.options.hooks.rateLimitKey?.(request);
      return typeof key === 'string' ? key.trim() : '';
    } catch (error) {
      // It runs before validation, on whatever a client sends: its failure must not be an answer.
      this.logger.error('hooks.rateLimitKey failed; the address counts instead', (error as Error)?.stack);
      return '';
    }
  }
}
