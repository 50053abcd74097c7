import { Injectable } from '@nestjs/common';
import { Applicants } from '../http/applicants';
import { FIELD_MAX } from '../http/fields';
import { ownField } from '../http/own-field';
import { sha256 } from '../kernel/secrets';
import { Realm } from '../realm/realm';
import { normalizedIdentifier } from '../users/normalized-identifier';
import { Clients } from './clients';

/** Names applicants as the rate limits do, whether or not there is such an account. */
@Injectable()
export class ApplicantsOfRequests extends Applicants {
  constructor(
    private readonly realm: Realm,
    private readonly clients: Clients,
  ) {
    super();
  }

  of(request: { ip?: unknown; body?: unknown }): readonly string[] {
    const { guard, options } = this.realm;
    const identifier = ownField(request.body, options.username);
    const account = typeof identifier === 'string' ? normalizedIdentifier(identifier.slice(0, FIELD_MAX)) : '';
    return [`client|${this.clients.of(request)}`, `account|${guard}|${account}`].map(sha256);
  }
}
