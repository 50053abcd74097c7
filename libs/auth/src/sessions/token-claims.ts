import { Injectable } from '@nestjs/common';
import { Realm } from '../realm/realm';

/** The host's extra claims of an access token. */
@Injectable()
export class TokenClaims {
  constructor(private readonly realm: Realm) {}

  /** What `hooks.tokenClaims` returns; no claims where it returns no object. @throws whatever it throws */
  async of(userId: string): Promise<object> {
    const claims = await this.realm.options.hooks.tokenClaims?.(userId);
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? claims : {};
  }
}
