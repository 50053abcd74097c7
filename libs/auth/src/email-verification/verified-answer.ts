import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { withQuery } from '../kernel/with-query';
import { Realm } from '../realm/realm';
import { prefersJson } from './accept.policy';

/** What follows a link that was opened: for browsers the configured page and no other, for everybody else nothing. */
@Injectable()
export class VerifiedAnswer {
  constructor(
    private readonly realm: Realm,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  write(accept: string | undefined, response: unknown): void {
    const [{ httpAdapter }, { frontendUrl }] = [this.adapterHost, this.realm.options.emailVerification];
    if (frontendUrl === undefined || prefersJson(accept)) httpAdapter.reply(response, undefined, 204);
    else httpAdapter.redirect(response, 302, withQuery(frontendUrl, { verified: '1' }));
  }
}
