import { Injectable } from '@nestjs/common';
import { Realm } from '../realm/realm';

/** The host's extra claims of an access token. */
@Injectable()
export class TokenClaims {
  constructor(private readonly realm: Realm) {}

  /** What `hooks.tokenClaims` returns; no claims where it returns no object. @throws whatever it throws */
  async of(userId: string, familyId: string): Promise<object> {
    const { guard, options } = this.realm;
    const claims = await options.hooks.tokenClaims?.(userId, { guard, userId, familyId });
    return typeof claims === 'object' && claims !== null && !Array.isArray(claims) ? claims : {};
  }
}
