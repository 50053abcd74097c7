import { Injectable } from '@nestjs/common';
import { parseCookie, stringifySetCookie } from 'cookie';
import { Realm } from '../realm/realm';

/** The realm's refresh cookie: where it is set, cleared and read, name and attributes agree. */
@Injectable()
export class RefreshCookie {
  readonly name: string;
  private readonly secure: boolean;

  constructor({ options: { cookie } }: Realm) {
    this.secure = cookie.secure;
    this.name = cookie.refreshName;
  }

  /** A `Set-Cookie` value. `maxAge` is what is left of the session, so the cookie dies with it. */
  set(refreshToken: string, maxAge: number): string {
    return this.serialize(refreshToken, maxAge);
  }

  /** A `Set-Cookie` value that removes the cookie. */
  clear(): string {
    return this.serialize('', 0, new Date(0));
  }

  /** The token a `Cookie` header carries, or the empty string. */
  read(header: unknown): string {
    return typeof header === 'string' ? (parseCookie(header)[this.name] ?? '') : '';
  }

  private serialize(value: string, maxAge: number, expires?: Date): string {
    const { name, secure } = this;
    return stringifySetCookie({ name, value, maxAge, expires, secure, httpOnly: true, path: '/', sameSite: 'strict' });
  }
}
