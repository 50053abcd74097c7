import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable, Optional, UseFilters } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { AuthException } from '../../foundation/platform/errors';
import { Realm, Realms } from '../../foundation/realm/realm';
import { isForeign, refusalOf } from '../gates/transport-errors';

interface Answer {
  status: number;
  headers: AuthException['headers'];
  body: object;
}

/**
 * Answers every failure of the library's routes as JSON, whatever `Accept` says: the outcome's body and
 * headers, and nothing of what is behind a fault.
 */
@Catch()
@Injectable()
export class AuthExceptionFilter implements ExceptionFilter {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly realms: Realms,
    @Optional() private readonly own?: Realm,
  ) {}

  /** A host's own route has no realm of its own; the default one speaks for it. */
  private get realm(): Realm {
    return this.own ?? this.realms.default.realm;
  }

  catch(error: unknown, host: ArgumentsHost): void {
    // What answers elsewhere is made by the guard.
    if (host.getType() !== 'http') throw error;
    const { httpAdapter } = this.adapterHost;
    const http = host.switchToHttp();
    const { status, headers, body } = this.answer(error, http.getRequest());
    for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(http.getResponse(), name, value);
    httpAdapter.reply(http.getResponse(), body, status);
  }

  private answer(error: unknown, request: object): Answer {
    if (isForeign(error)) return { status: error.getStatus(), headers: {}, body: { message: error.message } };
    const refusal = refusalOf(error).translatedBy(this.realm.translatorFor(request));
    return { status: refusal.getStatus(), headers: refusal.headers, body: refusal.getResponse() };
  }
}

/**
 * Gives a host's own controller or route the library's error bodies: JSON, whatever `Accept` says.
 *
 * @publicApi
 */
export const ForceJson = (): ClassDecorator & MethodDecorator => UseFilters(AuthExceptionFilter);
