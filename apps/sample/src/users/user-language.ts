import { Injectable, type NestMiddleware } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { AuthEvents, Registered } from '@svc/auth';
import { LANGUAGES, type Language } from '@svc/auth/languages';
import type { Request } from 'express';
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Repository } from 'typeorm';
import { User } from './user.entity';

const requested = new AsyncLocalStorage<Language>();

/** The languages of new users, until they are stored. */
const stored = new Map<string, Promise<Language>>();

/** The language of the mails of a customer: `mail.language`. The first mail can be written before the language is stored. */
export const languageOf = async ({ id, language }: User): Promise<string> =>
  (await stored.get(id)) ?? language ?? LANGUAGES[0];

/** Remembers the language that a request prefers. */
@Injectable()
export class RequestedLanguage implements NestMiddleware {
  use(request: Request, _response: unknown, next: () => void): void {
    const language = request.acceptsLanguages([...LANGUAGES]) as Language | false;
    requested.run(language || LANGUAGES[0], next);
  }
}

/** A new user gets the language of the registration. The page changes it later: `PUT /user/language`. */
@Injectable()
export class UserLanguages {
  constructor(
    events: AuthEvents,
    @InjectRepository(User) private readonly users: Repository<User>,
  ) {
    events.on(Registered, ({ user }) => this.keep(user as User));
  }

  private keep({ id }: User): void {
    const language = requested.getStore();
    if (!language) return;
    const storing = this.users.update({ id }, { language }).then(() => language);
    stored.set(id, storing);
    void storing.catch(() => undefined).finally(() => stored.delete(id));
  }
}
